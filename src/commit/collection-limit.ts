/**
 * Guards collection against a wrong World: an API server that lost its data, or another cluster. It counts rows whose owner does not exist
 * and was not observed to be deleted. Above the limit none of them is deleted until the grace period is over and a second full list has
 * confirmed that the owners are gone.
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
  /** Whether the object `<kind>/<namespace>/<name>` exists, or its deletion was observed since this process started. */
  readonly ownerExplained: (owner: string) => boolean;
  /** Whether the list of the owner's kind is empty, for kinds that no cluster lacks. */
  readonly kindIsEmpty?: (owner: string) => boolean;
  /** Called once for each pause. The caller calls `end` after the grace period, when a second full list confirms. */
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

  /** Rows without an explained owner: their deletion waits during a pause. */
  get held(): ReadonlySet<RowId> {
    return this.#unexplained;
  }

  /**
   * Counts the rows that would be collected. Call it when all kinds are listed, and again when a list lacks known objects, each time before
   * any write. A pause lasts until `end`, even if fewer rows would be collected now: a half-restored World proves nothing.
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

  /** A second full list confirmed the World: collection continues. */
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
