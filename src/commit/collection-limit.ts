/**
 * Guards collection against a World that lies: an API server that lost its data, a wrong cluster. Only rows count whose owner is
 * not there and was not seen to be deleted. Above the limit nothing of them is deleted until the grace is over and a second full
 * list has agreed.
 */
import type { Ownership } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';

export interface CollectionLimitOptions {
  /** False in the lab and the simulator: never pause. */
  readonly enabled: boolean;
  readonly maxRows: number;
  readonly maxShare: number;
  /** Number of rows that are ours. */
  readonly ownedRows: () => number;
  /** Whether an object `<kind>/<namespace>/<name>` exists, or was seen to be deleted, since this process started. */
  readonly ownerExplained: (owner: string) => boolean;
  /** Whether the API server has not one object of the owner's kind: of a kind that no cluster is without. */
  readonly kindIsEmpty?: (owner: string) => boolean;
  /** Told once a pause: whoever is told calls `end` after the grace, when a second full list agrees. */
  readonly paused: (rows: number, limit: number) => void;
}

export const DEFAULT_LIMIT = { maxRows: 1_000, maxShare: 0.3 } as const;
/** How long collection pauses at least. */
export const COLLECTION_GRACE_MS = 10 * 60_000;

export class CollectionLimit {
  readonly #options: CollectionLimitOptions;
  readonly #unexplained = new Set<RowId>();
  #pausing = false;

  constructor(options: CollectionLimitOptions) {
    this.#options = options;
  }

  get pausing(): boolean {
    return this.#pausing;
  }

  /** Rows whose deletion waits, or would if there were more of them. */
  get held(): ReadonlySet<RowId> {
    return this.#unexplained;
  }

  /**
   * Counts what would go: call when all is listed, and again when a list shows less than was known, each time before anything is
   * written. A pause under way goes on until `end`, also where fewer rows would go now: half of a World that comes back is no proof.
   */
  survey(ids: Iterable<readonly [RowId, Ownership]>): void {
    const { enabled, maxRows, maxShare, ownedRows, ownerExplained, kindIsEmpty } = this.#options;
    this.#unexplained.clear();
    let emptied = false;
    for (const [id, ownership] of ids) {
      if (ownership.kind !== 'ours' || ownerExplained(ownership.owner)) continue;
      this.#unexplained.add(id);
      emptied ||= kindIsEmpty?.(ownership.owner) === true;
    }
    const limit = Math.max(maxRows, ownedRows() * maxShare);
    if (this.#pausing || !enabled || (this.#unexplained.size <= limit && !emptied)) return;
    this.#pausing = true;
    this.#options.paused(this.#unexplained.size, limit);
  }

  /** The World was confirmed: collection goes on. */
  end(): void {
    this.#pausing = false;
    this.#unexplained.clear();
  }

  allows(id: RowId, ownership: Ownership | undefined): boolean {
    if (!this.#pausing || ownership?.kind !== 'ours' || this.#options.ownerExplained(ownership.owner)) return true;
    this.#unexplained.add(id);
    return false;
  }
}
