/**
 * Rows that Kube-OVN left, by the object that they serve: legacy rows, and those that were adopted to be retained as they are.
 */
import type { RowId } from '../nb/row-id.ts';
import type { Uuid } from '../ovsdb/index.ts';
import { bucketOf, putInto, takeOut } from '../engine/bucket.ts';
import type { Domain } from '../engine/domain.ts';
import type { Watcher } from '../engine/watcher.ts';
import type { Reactor } from '../engine/reactor.ts';
import { KeyedSource, SourceMap } from '../engine/source.ts';

interface Filed {
  readonly id: RowId;
  readonly owner: string;
}

export class LeftoverRows {
  readonly #reactor: Reactor;
  readonly #filed = new Map<Uuid, Filed>();
  /** Rows of an identity: more than one where Kube-OVN left duplicates. */
  readonly #counts = new Map<string, number>();
  readonly #byOwner = new Map<string, RowId | Set<RowId>>();
  readonly #sources = new SourceMap();
  readonly #watchers: Watcher[] = [];

  constructor(reactor: Reactor) {
    this.#reactor = reactor;
  }

  /** Owner texts with leftovers. */
  readonly owners: Domain = {
    watch: (watcher) => {
      for (const owner of this.#byOwner.keys()) watcher.enter(owner);
      this.#watchers.push(watcher);
    },
  };

  /** @param owner the object that the row serves; undefined if nothing shows it, if the row is gone, or if it is no leftover */
  file(uuid: Uuid, id: RowId, owner: string | undefined): void {
    const before = this.#filed.get(uuid);
    if (before?.id === id && before.owner === owner) return;
    if (before !== undefined) {
      this.#filed.delete(uuid);
      if (this.#count(before, -1) === 0) takeOut(this.#byOwner, before.owner, before.id);
      if (!this.#byOwner.has(before.owner)) for (const { leave } of this.#watchers) leave(before.owner);
      this.#touch(before.owner);
    }
    if (owner === undefined) return;
    this.#filed.set(uuid, { id, owner });
    this.#count({ id, owner }, 1);
    const isNew = !this.#byOwner.has(owner);
    putInto(this.#byOwner, owner, id);
    if (isNew) for (const { enter } of this.#watchers) enter(owner);
    this.#touch(owner);
  }

  /** Tracked. */
  of(owner: string): ReadonlySet<RowId> {
    if (this.#reactor.tracking) this.#reactor.track(this.#sources.get(owner) ?? new KeyedSource(this.#sources, owner));
    return bucketOf(this.#byOwner.get(owner));
  }

  #count({ id, owner }: Filed, by: 1 | -1): number {
    const key = `${owner}\n${id}`;
    const count = (this.#counts.get(key) ?? 0) + by;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
    return count;
  }

  #touch(owner: string): void {
    const source = this.#sources.get(owner);
    if (source !== undefined) this.#reactor.touch(source);
  }
}
