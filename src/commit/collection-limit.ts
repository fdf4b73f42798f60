/**
 * Guards collection against a wrong World: an API server that lost its data, or another cluster. It counts rows whose owner does not exist
 * and was not observed to be deleted. Above a limit none of them is deleted: the hold ends when a person approves, or when a second full
 * list brings owners back and the rest is below the limits.
 */
import type { Ownership } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';

export interface CollectionLimitOptions {
  /** False in the lab and the simulator: never hold. */
  readonly enabled: boolean;
  readonly maxRows: number;
  /** Of the owned rows, from 0 to 1; from `shareFrom` rows on. */
  readonly maxShare: number;
  readonly shareFrom: number;
  /** Number of rows that are ours. */
  readonly ownedRows: () => number;
  /** Whether the object `<kind>/<namespace>/<name>` exists, or its deletion was observed since this process started. */
  readonly ownerExplained: (owner: string) => boolean;
  /** Whether the list of the owner's kind is empty, for kinds that no cluster lacks. */
  readonly kindIsEmpty?: (owner: string) => boolean;
  /** Number of rows that a person approved; undefined: none. */
  readonly approved?: () => number | undefined;
  /** Called once for each hold. */
  readonly held: (hold: Hold) => void;
}

export interface Hold {
  readonly rows: number;
  /** Number of rows above which it holds. */
  readonly limit: number;
  /** The sentence that says which limit it is. */
  readonly why: string;
}

/** How long until a second full list is compared at the earliest. */
export const COLLECTION_GRACE_MS = 10 * 60_000;

export class CollectionLimit {
  readonly #options: CollectionLimitOptions;
  readonly #unexplained = new Set<RowId>();
  #hold: Hold | undefined;

  constructor(options: CollectionLimitOptions) {
    this.#options = options;
  }

  /** As it began; undefined: rows are collected. */
  get hold(): Hold | undefined {
    return this.#hold;
  }

  /** Number of rows without an explained owner: their deletion waits during a hold. */
  get heldRows(): number {
    return this.#hold === undefined ? 0 : this.#unexplained.size;
  }

  /**
   * Counts the rows that would be collected. Call it when all kinds are listed, and again when a list lacks known objects, each time before
   * any write. A hold lasts also if fewer rows would be collected now: a half-restored World proves nothing. Only a person ends it, or a
   * count that a second full list has confirmed.
   * @param confirmed a second full list was compared
   */
  survey(ids: Iterable<readonly [RowId, Ownership]>, confirmed = false): void {
    const { enabled, ownerExplained, kindIsEmpty } = this.#options;
    this.#unexplained.clear();
    let emptied = false;
    for (const [id, ownership] of ids) {
      if (ownership.kind !== 'ours' || ownerExplained(ownership.owner)) continue;
      this.#unexplained.add(id);
      emptied ||= kindIsEmpty?.(ownership.owner) === true;
    }
    if (!enabled || (this.#hold !== undefined && !confirmed)) return void this.approve();
    const hold = this.#holdFor(this.#unexplained.size, emptied);
    if (hold === undefined || this.#isApproved()) this.#hold = undefined;
    else if (this.#hold === undefined) {
      this.#hold = hold;
      this.#options.held(hold);
    }
  }

  /** A person may have approved. @returns whether that ended a hold */
  approve(): boolean {
    if (this.#hold === undefined || !this.#isApproved()) return false;
    this.#hold = undefined;
    return true;
  }

  allows(id: RowId, ownership: Ownership | undefined): boolean {
    if (this.#hold === undefined || ownership?.kind !== 'ours' || this.#options.ownerExplained(ownership.owner)) return true;
    this.#unexplained.add(id);
    return false;
  }

  /** So many rows more would have been collected without a question. */
  #isApproved(): boolean {
    const approved = this.#options.approved?.();
    return approved !== undefined && this.#unexplained.size <= approved + this.#slack;
  }

  get #slack(): number {
    const { maxRows, maxShare, shareFrom, ownedRows } = this.#options;
    return Math.floor(Math.min(maxRows, Math.max(shareFrom, ownedRows() * maxShare)));
  }

  #holdFor(rows: number, emptied: boolean): Hold | undefined {
    const { maxRows, maxShare, shareFrom, ownedRows } = this.#options;
    const owned = ownedRows();
    const share = Math.floor(owned * maxShare);
    if (rows > maxRows) return { rows, limit: maxRows, why: `more than ${maxRows} rows (--gc-max-rows)` };
    if (rows >= shareFrom && rows > share)
      return { rows, limit: share, why: `more than ${Math.round(maxShare * 100)} % of ${owned} rows (--gc-max-share)` };
    if (emptied) return { rows, limit: 0, why: 'the API server has no object of a kind that no cluster lacks' };
    return undefined;
  }
}
