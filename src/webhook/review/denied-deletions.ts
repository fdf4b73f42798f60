/**
 * Remembers denied deletions and their users for a short while. `kubectl delete -f` deletes all objects of a tenant in the order of its
 * file. When the user repeats the command, an object is not denied again if its only blockers are objects that the same command deletes.
 */
import type { ResourceName } from '../../world/resources.ts';

/** Long enough for kubectl to wait for the deletions that were allowed. */
const REMEMBERED_MS = 5 * 60_000;
/** Above this number the oldest are dropped. */
const MOST = 10_000;
/** Any client that reaches the port can name any user. Deletions of users with longer names are not remembered. */
const LONGEST_USER = 1_000;

export interface DeletionRequest {
  readonly resource: ResourceName;
  /** `namespace/name` or `name`. */
  readonly key: string;
  readonly user: string;
}

export class DeniedDeletions {
  readonly #at = new Map<string, number>();
  readonly #now: () => number;

  /** @param now monotonic milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  note(request: DeletionRequest): void {
    if (request.user.length > LONGEST_USER) return;
    const id = idOf(request);
    // Insert again, so that the latest is last.
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
