/**
 * Fields that the API server prunes from objects of a kind: its CustomResourceDefinition is of an older Kube-OVN and lacks them. Learned
 * from answers to writes, or read from the definitions. No rule reads it: what the rules emit does not depend on it, only what is written.
 */
import type { ResourceName } from './resources.ts';

const NONE: ReadonlySet<string> = new Set();

export class PrunedFields {
  readonly #fields = new Map<ResourceName, ReadonlySet<string>>();

  /** Paths like `status.conditions`; elements of a list have their own: `status.items[].name`. */
  of(resource: ResourceName): ReadonlySet<string> {
    return this.#fields.get(resource) ?? NONE;
  }

  get entries(): readonly (readonly [ResourceName, ReadonlySet<string>])[] {
    return [...this.#fields];
  }

  /** @returns whether one is new */
  add(resource: ResourceName, paths: Iterable<string>): boolean {
    const before = this.of(resource);
    const after = new Set([...before, ...paths]);
    if (after.size === before.size) return false;
    this.#fields.set(resource, after);
    return true;
  }

  /** The definition changed. @returns whether there were any */
  forget(resource: ResourceName): boolean {
    return this.#fields.delete(resource);
  }
}
