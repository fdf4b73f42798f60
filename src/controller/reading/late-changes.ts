/**
 * Changes of objects that come while rules are behind: they wait until rules have come to rest and what follows was handed to the writers, the newest
 * of each object alone. Otherwise whoever edits faster than rules run would keep them from ever coming to rest, and nothing would be written
 * for anybody. For the rules it is as if the watch were a moment late.
 */
import type { ResourceName } from '../../world/resources.ts';

interface Late {
  readonly resource: ResourceName;
  readonly key: string;
  readonly apply: () => void;
}

export class LateChanges {
  #holds = false;
  /** In the order in which the objects changed first. */
  readonly #waiting = new Map<string, Late>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Changes wait from now on. */
  hold(): void {
    this.#holds = true;
  }

  /** @returns whether the change waits; one of an object of which another one waits does, too, and takes its place */
  take(resource: ResourceName, key: string, apply: () => void): boolean {
    if (!this.#holds) return false;
    this.#waiting.set(`${resource}/${key}`, { resource, key, apply });
    return true;
  }

  /** Whether the rules do not know the newest state of the object: nothing is written to it meanwhile. */
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
