/**
 * The seals of frozen rows as this process has observed them: they count if another program edits the seal itself. Cleared when another
 * process may have written.
 */
import type { DiffContext } from '../diff/diff-context.ts';
import { sealedAs, sealIn } from '../diff/row-contents.ts';
import type { RowId } from '../nb/row-id.ts';

export class ProvenSeals {
  readonly #seals = new Map<RowId, string>();

  of(id: RowId): string | undefined {
    return this.#seals.get(id);
  }

  /** The row was compared. */
  note(id: RowId, context: DiffContext): void {
    const output = context.desired.row(id)?.rows[0];
    if (output?.sealed === undefined) {
      this.#seals.delete(id);
      return;
    }
    const mine = context.rows.best(id);
    const seal = mine?.ownership.kind === 'ours' ? sealIn(mine) : undefined;
    if (seal !== undefined && sealedAs(output, seal, context) !== undefined) this.#seals.set(id, seal);
  }

  forget(): void {
    this.#seals.clear();
  }
}
