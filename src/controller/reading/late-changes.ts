/**
 * Changes of objects that arrive while rules are behind wait until no rule is due and the outputs were handed to the writers; only the
 * newest change of each object is kept. Otherwise a tenant that edits faster than rules run would keep rules due for ever, and nothing
 * would be written for any tenant. To the rules it looks like a watch that is a moment late.
 */
import type { ResourceName } from '../../world/resources.ts';

interface Late {
  readonly resource: ResourceName;
  readonly key: string;
  readonly apply: () => void;
}

export class LateChanges {
  #holds = false;
  /** In the order of the first change of each object. */
  readonly #waiting = new Map<string, Late>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Changes wait from now on. */
  hold(): void {
    this.#holds = true;
  }

  /** @returns whether the change waits. It replaces a waiting change of the same object */
  take(resource: ResourceName, key: string, apply: () => void): boolean {
    if (!this.#holds) return false;
    this.#waiting.set(`${resource}/${key}`, { resource, key, apply });
    return true;
  }

  /** Whether a change of the object waits: nothing is written to it meanwhile. */
  has(resource: ResourceName, key: string): boolean {
    return this.#waiting.size > 0 && this.#waiting.has(`${resource}/${key}`);
  }

  /** Applies what waited, and lets all others through. @returns the objects that changed, by their resource */
  release(): ReadonlyMap<ResourceName, readonly string[]> {
    this.#holds = false;
    const changed = new Map<ResourceName, string[]>();
    for (const { resource, key, apply } of this.#waiting.values()) {
      apply();
      const keys = changed.get(resource);
      if (keys === undefined) changed.set(resource, [key]);
      else keys.push(key);
    }
    this.#waiting.clear();
    return changed;
  }
}
