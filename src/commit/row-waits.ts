/**
 * Rows that wait for missing rows. What they wait for may never exist, so the entries of a row are dropped when it is compared again and no
 * longer waits. Pure.
 */
import type { MemberKey } from '../compile/desired-rows.ts';
import type { RowId } from '../nb/row-id.ts';

/** What was compared of a row: the row itself, or members of its shared columns. */
export type Looked = 'row' | 'all' | ReadonlySet<MemberKey>;

type Awaited = Map<RowId, Set<string>>;

export class RowWaits {
  /** Waiting rows by what they wait for. */
  readonly #waiters = new Map<string, Set<RowId>>();
  /** What a row waits for, and what its members wait for. */
  readonly #rows: Awaited = new Map();
  readonly #members: Awaited = new Map();

  /** Number of waits. */
  get size(): number {
    let size = 0;
    for (const waiters of this.#waiters.values()) size += waiters.size;
    return size;
  }

  /** `id` was compared, and waits for `on`: `awaken` returns it once, when one of them appears, disappears or changes. */
  looked(id: RowId, what: Looked, on: readonly string[]): void {
    const waits = what === 'row' ? this.#rows : this.#members;
    const awaited = waits.get(id);
    if (awaited === undefined && on.length === 0) return;
    const now = awaited ?? new Set<string>();
    const over = typeof what === 'string' ? [...now] : Array.from(what, referredTo);
    for (const one of over) if (now.delete(one)) this.#leave(one, id);
    for (const one of on) {
      now.add(one);
      const waiters = this.#waiters.get(one);
      if (waiters === undefined) this.#waiters.set(one, new Set([id]));
      else waiters.add(id);
    }
    if (now.size === 0) waits.delete(id);
    else waits.set(id, now);
  }

  /** The row `id` appeared, disappeared or changed. @returns the rows that waited for it */
  awaken(id: RowId): Iterable<RowId> {
    const waiters = this.#waiters.get(id);
    if (waiters === undefined) return [];
    this.#waiters.delete(id);
    for (const waits of [this.#rows, this.#members])
      for (const waiter of waiters) {
        const awaited = waits.get(waiter);
        if (awaited?.delete(id) === true && awaited.size === 0) waits.delete(waiter);
      }
    return waiters;
  }

  #leave(on: string, id: RowId): void {
    if (this.#rows.get(id)?.has(on) === true || this.#members.get(id)?.has(on) === true) return;
    const waiters = this.#waiters.get(on);
    if (waiters?.delete(id) === true && waiters.size === 0) this.#waiters.delete(on);
  }
}

function referredTo(key: MemberKey): string {
  return key.slice(key.indexOf('\n') + 1);
}
