/**
 * Guards collection against a wrong World: an API server that lost its data, or another cluster. It counts rows, and what is left in
 * Kubernetes, whose owner does not exist and was not observed to be deleted. Above a limit none of them is deleted: the hold ends when a person approves, or when a second full
 * list brings owners back and the rest is below the limits. An approval covers the rows that were counted when it was asked for, by their
 * digest: rows that come later count anew. Another process does not know of which rows a digest was, once some are gone: it asks again.
 */
import { createHash } from 'node:crypto';

/** What would be collected: a row, or what is left in Kubernetes of an object that is gone. */
export interface Unexplained {
  readonly id: string;
  readonly owner: string;
  readonly uid: string;
  /** It is in Kubernetes. */
  readonly isLeftover?: true;
}

export interface CollectionLimitOptions {
  /** False in the lab and the simulator: never hold. */
  readonly enabled: boolean;
  readonly maxRows: number;
  /** Of all that is owned, from 0 to 1; from `shareFrom` on. */
  readonly maxShare: number;
  readonly shareFrom: number;
  /** Number of rows that are ours, and of objects that may be left. */
  readonly owned: () => number;
  /** Whether the object `<kind>/<namespace>/<name>` exists, or its deletion was observed since this process started. */
  readonly ownerExplained: (owner: string) => boolean;
  /** Whether the list of the owner's kind is empty, for kinds that no cluster lacks. */
  readonly kindIsEmpty?: (owner: string) => boolean;
  /** The digest that a person approved; undefined: none. */
  readonly approved?: () => string | undefined;
  /** Called once for each hold. */
  readonly held: (hold: Hold) => void;
}

export interface Hold {
  /** Those in Kubernetes too. */
  readonly rows: number;
  readonly leftovers: number;
  /** Of these rows: what a person approves. */
  readonly digest: string;
  /** Number of rows above which it holds. */
  readonly limit: number;
  /** The sentence that says which limit it is. */
  readonly why: string;
}

/** Sets of rows whose digests a person may still approve: the message with the digest may be some surveys old. */
const MOST_OFFERED = 4;

/** How long until a second full list is compared at the earliest. */
export const COLLECTION_GRACE_MS = 10 * 60_000;

export class CollectionLimit {
  readonly #options: CollectionLimitOptions;
  readonly #unexplained = new Map<string, Unexplained>();
  /** Rows by the digest that was told. */
  readonly #offered = new Map<string, ReadonlySet<string>>();
  #hold: Hold | undefined;

  constructor(options: CollectionLimitOptions) {
    this.#options = options;
  }

  /** As the last count found it; undefined: rows are collected. */
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
  survey(unexplained: Iterable<Unexplained>, confirmed = false): void {
    const { enabled, ownerExplained, kindIsEmpty } = this.#options;
    this.#unexplained.clear();
    const lines: string[] = [];
    let emptied = false;
    for (const one of unexplained) {
      if (ownerExplained(one.owner)) continue;
      this.#unexplained.set(one.id, one);
      lines.push(`${one.id} ${one.owner} ${one.uid}`);
      emptied ||= kindIsEmpty?.(one.owner) === true;
    }
    if (!enabled) return;
    const approved = this.#approvedRows();
    const found = this.#holdFor(approved === undefined ? this.#unexplained.size : this.#without(approved), emptied, lines);
    const before = this.#hold;
    // While it lasts, the message has the rows of now.
    if (before !== undefined && !confirmed) {
      const digest = digestOf(lines);
      if (before.digest !== digest) this.#offer({ ...before, ...found, rows: lines.length, leftovers: this.#leftovers, digest });
      return void this.approve();
    }
    if (found !== undefined) this.#offer(found);
    if (found === undefined || this.#isApproved()) this.#hold = undefined;
    else if (before === undefined) this.#options.held(found);
  }

  #offer(hold: Hold): void {
    this.#hold = hold;
    this.#offered.set(hold.digest, new Set(this.#unexplained.keys()));
    for (const digest of [...this.#offered.keys()].slice(0, -MOST_OFFERED)) this.#offered.delete(digest);
  }

  /** A person may have approved. @returns whether that ended a hold */
  approve(): boolean {
    if (this.#hold === undefined || !this.#isApproved()) return false;
    this.#hold = undefined;
    return true;
  }

  allows(one: Unexplained): boolean {
    if (this.#hold === undefined || this.#options.ownerExplained(one.owner)) return true;
    if (this.#approvedRows()?.has(one.id) === true) return true;
    this.#unexplained.set(one.id, one);
    return false;
  }

  /** So many rows more would have been collected without a question. */
  #isApproved(): boolean {
    const approved = this.#approvedRows();
    return approved !== undefined && this.#without(approved) <= this.#slack;
  }

  #approvedRows(): ReadonlySet<string> | undefined {
    const digest = this.#options.approved?.();
    return digest === undefined ? undefined : this.#offered.get(digest);
  }

  /** Number of rows that the approval does not cover. */
  #without(approved: ReadonlySet<string>): number {
    let count = 0;
    for (const id of this.#unexplained.keys()) if (!approved.has(id)) count++;
    return count;
  }

  get #leftovers(): number {
    let count = 0;
    for (const { isLeftover } of this.#unexplained.values()) if (isLeftover === true) count++;
    return count;
  }

  get #slack(): number {
    const { maxRows, maxShare, shareFrom, owned } = this.#options;
    return Math.floor(Math.min(maxRows, Math.max(shareFrom, owned() * maxShare)));
  }

  /** @param rows number of those that no approval covers */
  #holdFor(rows: number, emptied: boolean, lines: readonly string[]): Hold | undefined {
    const { maxRows, maxShare, shareFrom, owned } = this.#options;
    const all = owned();
    const share = Math.floor(all * maxShare);
    const hold = (limit: number, why: string): Hold => ({
      ...{ rows: lines.length, leftovers: this.#leftovers, digest: digestOf(lines) },
      ...{ limit, why },
    });
    if (rows > maxRows) return hold(maxRows, `more than ${maxRows} rows (--gc-max-rows)`);
    if (rows >= shareFrom && rows > share)
      return hold(share, `more than ${Math.round(maxShare * 100)} % of ${all} rows and IP objects (--gc-max-share)`);
    if (emptied && rows > 0) return hold(0, 'the API server has no object of a kind that no cluster lacks');
    return undefined;
  }
}

/** The same for the same rows of the same owners, in any order. */
function digestOf(lines: readonly string[]): string {
  return createHash('sha256').update(lines.toSorted().join('\n')).digest('hex').slice(0, DIGEST_LENGTH);
}

const DIGEST_LENGTH = 16;
