/**
 * What this process has seen to be last written into rows that are kept as they are, by their seals: it counts when somebody edits the seal
 * itself. Nothing is remembered of the time when another process may have written.
 */
import type { DiffContext } from '../diff/diff-context.ts';
import { sealedAs, sealIn } from '../diff/row-contents.ts';
import type { RowId } from '../nb/row-id.ts';

export class ProvenSeals {
  readonly #seals = new Map<RowId, string>();

  of(id: RowId): string | undefined {
    return this.#seals.get(id);
  }

  /** The row was looked at. */
  note(id: RowId, context: DiffContext): void {
    const wanted = context.desired.row(id)?.rows[0];
    if (wanted?.sealed === undefined) {
      this.#seals.delete(id);
      return;
    }
    const mine = context.rows.best(id);
    const seal = mine?.ownership.kind === 'ours' ? sealIn(mine) : undefined;
    if (seal !== undefined && sealedAs(wanted, seal, context) !== undefined) this.#seals.set(id, seal);
  }

  forget(): void {
    this.#seals.clear();
  }
}
