/** Rows that differ from the desired state, counted by table. */
import type { Difference } from '../diff/drift.ts';
import type { RowId } from '../nb/row-id.ts';
import { tableOf } from '../nb/row-id.ts';

export class RowDifferences {
  readonly #found = new Map<RowId, Difference>();
  readonly #counts = new Map<string, Record<Difference, number>>();

  note(id: RowId, difference: Difference | undefined): void {
    const before = this.#found.get(id);
    if (before === difference) return;
    const table = tableOf(id);
    let counts = this.#counts.get(table);
    if (counts === undefined) this.#counts.set(table, (counts = { missing: 0, extra: 0, different: 0 }));
    if (before !== undefined) counts[before]--;
    if (difference === undefined) {
      this.#found.delete(id);
      return;
    }
    this.#found.set(id, difference);
    counts[difference]++;
  }

  has(id: RowId): boolean {
    return this.#found.has(id);
  }

  /** By table, without tables that never had a difference. */
  get counts(): ReadonlyMap<string, Readonly<Record<Difference, number>>> {
    return this.#counts;
  }
}
