/**
 * Tells a repair from an ordinary change: a row was as the rules want it, another program changed it, and the rules still want the same.
 * Changes from outside that this process saw while it led are remembered here until the diff has looked at them. For changes at other
 * times, the seal in the row tells what can be known.
 */
import type { MemberKey } from '../compile/desired.ts';
import type { Drift } from '../diff/drift.ts';
import type { Verdict } from '../diff/edits.ts';
import type { RowId } from '../nb/row-id.ts';

/** So many repairs of one row, one after the other, go out at once; after that another program is taken to fight over it. */
const MOST_REPAIRS = 5;
/** After so long without drift, the fight is over. */
const PEACE_MS = 10_000;

export class DriftWatch {
  /** Rows that differ for another reason: changes of these are no drift. */
  readonly #pending = new Set<RowId>();
  readonly #rows = new Set<RowId>();
  readonly #members = new Map<RowId, Set<MemberKey> | 'all'>();
  /** What was told already, and is not repaired yet. */
  readonly #reported = new Map<string, Drift>();
  readonly #repairs = new Map<RowId, { count: number; at: number }>();

  /** A row changed that nothing of this process was to change. @param shared it has columns of members */
  rowChanged(id: RowId, shared: boolean): void {
    if (this.#pending.has(id)) return;
    this.#rows.add(id);
    if (shared) this.#members.set(id, 'all');
  }

  memberChanged(id: RowId, key: MemberKey): void {
    if (this.#pending.has(id)) return;
    const keys = this.#members.get(id);
    if (keys === 'all') return;
    if (keys === undefined) this.#members.set(id, new Set([key]));
    else keys.add(key);
  }

  /** The rules want something else of it now. */
  emitted(id: RowId): void {
    this.#rows.delete(id);
    this.#members.delete(id);
  }

  memberEmitted(id: RowId, keys: ReadonlySet<MemberKey>): void {
    const suspected = this.#members.get(id);
    if (suspected === undefined || suspected === 'all') return;
    for (const key of keys) suspected.delete(key);
    if (suspected.size === 0) this.#members.delete(id);
  }

  /**
   * The diff looked at a row.
   * @param proven by what is written in the row: another program made the difference, whenever that was
   * @returns true when what it found is drift
   */
  rowCompared(id: RowId, verdict: Verdict, proven: (change: Extract<Verdict, { readonly kind: 'change' }>) => boolean): boolean {
    if (verdict.kind === 'converged') this.#pending.delete(id);
    else this.#pending.add(id);
    if (verdict.kind === 'converged' || verdict.kind === 'conflict') this.#rows.delete(id);
    return verdict.kind === 'change' && (this.#rows.has(id) || proven(verdict));
  }

  /** As `rowCompared`, for some members of a row. */
  membersCompared(id: RowId, keys: ReadonlySet<MemberKey> | 'all', verdict: Verdict): boolean {
    const suspected = this.#members.get(id);
    if (suspected === undefined) return false;
    const hit = suspected === 'all' || keys === 'all' || [...suspected].some((key) => keys.has(key));
    if (hit && verdict.kind === 'converged') this.#members.delete(id);
    return hit && verdict.kind === 'change';
  }

  /** @returns false when it was told before, as of a transaction that failed */
  report(part: string, drift: Drift): boolean {
    const known = this.#reported.has(part);
    this.#reported.set(part, drift);
    return !known;
  }

  /** A transaction has put it right. @returns what was told of it */
  repaired(part: string): Drift | undefined {
    const drift = this.#reported.get(part);
    this.#reported.delete(part);
    return drift;
  }

  /**
   * Counts a repair. @param now monotonic milliseconds
   * @returns true when another program undoes every one: the next is to wait
   */
  isContested(id: RowId, now: number): boolean {
    for (const [other, { at }] of this.#repairs) {
      if (now - at < PEACE_MS) break;
      this.#repairs.delete(other);
    }
    const count = (this.#repairs.get(id)?.count ?? 0) + 1;
    // The latest is last, so that the oldest are found at once.
    this.#repairs.delete(id);
    this.#repairs.set(id, { count, at: now });
    return count > MOST_REPAIRS;
  }

  /** Another process writes now: what changes is its work. */
  forget(): void {
    this.#rows.clear();
    this.#members.clear();
    this.#reported.clear();
  }
}
