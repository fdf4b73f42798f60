/**
 * The routers of other programs by name, and the switch ports that lead to router ports: from them follows which switches are at a router.
 * Kept as rows are observed; both are tracked.
 */
import type { Uuid } from '../ovsdb/index.ts';
import type { Domain } from '../engine/domain.ts';
import { isForeignNetwork } from './found-rows.ts';
import type { Reactor } from '../engine/reactor.ts';
import type { Entry } from './row-identity.ts';
import { KeyedSource, SourceMap } from '../engine/source.ts';
import type { Watcher } from '../engine/watcher.ts';

type Filed = Pick<Entry, 'table' | 'uuid' | 'ownership' | 'row'>;

export class ForeignRouters implements Domain {
  readonly #names = new Map<Uuid, string>();
  readonly #counts = new Map<string, number>();
  readonly #watchers: Watcher[] = [];
  readonly #peers = new Map<Uuid, string>();
  /** By the name of a router port: the switch ports that name it. */
  readonly #byPeer = new Map<string, Set<Uuid>>();
  readonly #sources = new SourceMap();
  readonly #reactor: Reactor;

  constructor(reactor: Reactor) {
    this.#reactor = reactor;
  }

  /** The names of the routers. Another program may give several one name. */
  watch(watcher: Watcher): void {
    for (const name of this.#counts.keys()) watcher.enter(name);
    this.#watchers.push(watcher);
  }

  /** The switch ports that lead to a router port. Tracked. */
  portsTo(routerPort: string): readonly Uuid[] {
    if (this.#reactor.tracking) this.#reactor.track(this.#sources.get(routerPort) ?? new KeyedSource(this.#sources, routerPort));
    return [...(this.#byPeer.get(routerPort) ?? [])];
  }

  file(entry: Filed): void {
    const { table, uuid, row } = entry;
    if (table === 'Logical_Router') {
      const name = isForeignNetwork(entry) && typeof row['name'] === 'string' ? row['name'] : '';
      this.#setName(uuid, name === '' ? undefined : name);
    } else if (table === 'Logical_Switch_Port') {
      const peer: unknown = row['type'] === 'router' && row['options'] instanceof Map ? row['options'].get('router-port') : undefined;
      this.#setPeer(uuid, typeof peer === 'string' ? peer : undefined);
    }
  }

  forget(uuid: Uuid): void {
    this.#setName(uuid, undefined);
    this.#setPeer(uuid, undefined);
  }

  #setName(uuid: Uuid, name: string | undefined): void {
    const before = this.#names.get(uuid);
    if (before === name) return;
    if (before !== undefined) {
      this.#names.delete(uuid);
      const left = (this.#counts.get(before) ?? 1) - 1;
      if (left > 0) this.#counts.set(before, left);
      else {
        this.#counts.delete(before);
        for (const { leave } of this.#watchers) leave(before);
      }
    }
    if (name === undefined) return;
    this.#names.set(uuid, name);
    const count = this.#counts.get(name) ?? 0;
    this.#counts.set(name, count + 1);
    if (count === 0) for (const { enter } of this.#watchers) enter(name);
  }

  #setPeer(uuid: Uuid, peer: string | undefined): void {
    const before = this.#peers.get(uuid);
    if (before === peer) return;
    if (before !== undefined) {
      this.#peers.delete(uuid);
      const ports = this.#byPeer.get(before);
      ports?.delete(uuid);
      if (ports?.size === 0) this.#byPeer.delete(before);
      this.#touch(before);
    }
    if (peer === undefined) return;
    this.#peers.set(uuid, peer);
    const ports = this.#byPeer.get(peer);
    if (ports === undefined) this.#byPeer.set(peer, new Set([uuid]));
    else ports.add(uuid);
    this.#touch(peer);
  }

  #touch(routerPort: string): void {
    const source = this.#sources.get(routerPort);
    if (source !== undefined) this.#reactor.touch(source);
  }
}
