/**
 * Distinguishes a repair from an ordinary change: the row was as emitted, another program changed it, and the rules emit the same as
 * before. Changes by other programs during this process's leadership are remembered here until the diff has compared the row. What changed at
 * other times is repaired without a report.
 */
import type { MemberKey } from '../compile/desired-rows.ts';
import type { Drift } from '../diff/drift.ts';
import type { Verdict } from '../diff/edits.ts';
import { RECORDS_ALONE } from '../diff/global-diff.ts';
import type { RowId } from '../nb/row-id.ts';

/** So many repairs of one row are sent without a delay; after that another program counts as contesting it. */
const MOST_REPAIRS = 5;
/** After so long without drift the row is no longer contested. */
const PEACE_MS = 10_000;

export class DriftWatch {
  /** Rows that differ for another reason: their changes are no drift. */
  readonly #pending = new Set<RowId>();
  readonly #rows = new Set<RowId>();
  readonly #members = new Map<RowId, Set<MemberKey> | 'all'>();
  /** Drift that was reported, and is not repaired yet. */
  readonly #reported = new Map<string, Drift>();
  readonly #repairs = new Map<RowId, { count: number; at: number }>();

  /** Another program changed a row. @param shared the row has columns with members */
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

  /** The outputs about the row changed. */
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
   * The diff has compared a row.
   * @returns whether the difference is drift
   */
  rowCompared(id: RowId, verdict: Verdict): boolean {
    if (verdict.kind === 'converged') this.#pending.delete(id);
    else this.#pending.add(id);
    if (verdict.kind === 'converged' || verdict.kind === 'conflict') this.#rows.delete(id);
    return verdict.kind === 'change' && this.#rows.has(id);
  }

  /** The same for some members of a row. */
  membersCompared(id: RowId, keys: ReadonlySet<MemberKey> | 'all', verdict: Verdict): boolean {
    const suspected = this.#members.get(id);
    if (suspected === undefined) return false;
    const hit = suspected === 'all' || keys === 'all' || [...suspected].some((key) => keys.has(key));
    if (hit && verdict.kind === 'converged') this.#members.delete(id);
    return hit && verdict.kind === 'change' && verdict.detail !== RECORDS_ALONE;
  }

  /** @returns false if it was reported before, as after a failed transaction */
  report(part: string, drift: Drift): boolean {
    const known = this.#reported.has(part);
    this.#reported.set(part, drift);
    return !known;
  }

  /** A transaction has repaired it. @returns the drift as reported */
  repaired(part: string): Drift | undefined {
    const drift = this.#reported.get(part);
    this.#reported.delete(part);
    return drift;
  }

  /**
   * Counts a repair. @param now monotonic milliseconds
   * @returns true if another program undoes every repair: the next one has to wait
   */
  isContested(id: RowId, now: number): boolean {
    for (const [other, { at }] of this.#repairs) {
      if (now - at < PEACE_MS) break;
      this.#repairs.delete(other);
    }
    const count = (this.#repairs.get(id)?.count ?? 0) + 1;
    // Keeps the order of time, so that the oldest come first.
    this.#repairs.delete(id);
    this.#repairs.set(id, { count, at: now });
    return count > MOST_REPAIRS;
  }

  /** Another process leads now: further changes are its own. */
  forget(): void {
    this.#rows.clear();
    this.#members.clear();
    this.#reported.clear();
  }
}
