/** Rows that an undo restored and that wait for their row owner: not collected. Looks now and then whether an owner is back. */
import type { RowId } from '../nb/row-id.ts';
import { waitsForOwner } from '../nb/restored-row.ts';
import type { Row } from '../ovsdb/index.ts';
import type { ObservedRow } from '../world/observed-rows.ts';

const LOOK_MS = 5_000;

type Held = ObservedRow & { readonly row: Row };

export interface RestoredRowsOptions {
  readonly ownerExists: (owner: string) => boolean;
  readonly later: (ms: number, run: () => void) => void;
  /** An owner is back: rows that were held, and their members, are compared again. */
  readonly back: () => void;
}

export class RestoredRows {
  readonly #options: RestoredRowsOptions;
  /** With their owners. */
  readonly #held = new Map<RowId, string>();
  #looking = false;

  constructor(options: RestoredRowsOptions) {
    this.#options = options;
  }

  /** Number of rows that would be collected otherwise. */
  get held(): number {
    return this.#held.size;
  }

  /** Whether the row is not to be collected now. */
  holds(row: Held): boolean {
    this.#held.delete(row.id);
    if (row.ownership.kind !== 'ours' || !this.isHeld(row)) return false;
    this.#held.set(row.id, row.ownership.owner);
    this.#lookLater();
    return true;
  }

  /** The same, without remembering it. */
  readonly isHeld = (row: Held): boolean => waitsForOwner(row) && !this.#options.ownerExists(row.ownership.owner);

  #lookLater(): void {
    if (this.#looking) return;
    this.#looking = true;
    this.#options.later(LOOK_MS, () => {
      this.#looking = false;
      let found = false;
      for (const [id, owner] of this.#held) {
        if (!this.#options.ownerExists(owner)) continue;
        this.#held.delete(id);
        found = true;
      }
      if (found) this.#options.back();
      if (this.#held.size > 0) this.#lookLater();
    });
  }
}
