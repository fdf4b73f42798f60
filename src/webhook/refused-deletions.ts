/**
 * Deletions that were refused a short while ago, and for whom. `kubectl delete -f` asks for all of a tenant at once, in the order of its file:
 * when it is typed again, what of it nothing holds any more but objects that it names as well need not be refused a second time.
 */
import type { ResourceName } from '../world/resources.ts';

/** Long enough for kubectl to wait for what was not refused. */
const REMEMBERED_MS = 5 * 60_000;
/** The oldest are forgotten. */
const MOST = 10_000;
/** Whoever reaches the port may name any user: one with a longer name is asked again. */
const LONGEST_USER = 1_000;

export interface DeletionRequest {
  readonly resource: ResourceName;
  /** `namespace/name` or `name`. */
  readonly key: string;
  readonly user: string;
}

export class RefusedDeletions {
  readonly #at = new Map<string, number>();
  readonly #now: () => number;

  /** @param now monotonic milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  note(request: DeletionRequest): void {
    if (request.user.length > LONGEST_USER) return;
    const id = idOf(request);
    // The latest is last.
    this.#at.delete(id);
    this.#at.set(id, this.#now());
    for (const [oldest, at] of this.#at) {
      if (this.#at.size <= MOST && this.#now() - at < REMEMBERED_MS) return;
      this.#at.delete(oldest);
    }
  }

  has(request: DeletionRequest): boolean {
    const at = this.#at.get(idOf(request));
    return at !== undefined && this.#now() - at < REMEMBERED_MS;
  }
}

function idOf({ resource, key, user }: DeletionRequest): string {
  return `${user}\n${resource}/${key}`;
}
