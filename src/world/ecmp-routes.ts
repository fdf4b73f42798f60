/**
 * Static routes by ECMP group: the routes of all owners that differ in the next hop only. OVN takes them as one route and sends each
 * connection by one of them.
 */
import type { RowId } from '../nb/row-id.ts';
import { bucketOf, putInto, takeOut } from '../engine/bucket.ts';
import type { Reactor } from '../engine/reactor.ts';
import { KeyedSource, SourceMap } from '../engine/source.ts';

export class EcmpRoutes {
  readonly #reactor: Reactor;
  readonly #routes = new Map<string, RowId | Set<RowId>>();
  /** By group: the source of its routes. */
  readonly #sources = new SourceMap();

  constructor(reactor: Reactor) {
    this.#reactor = reactor;
  }

  /** An identity got its first row. Ignores other tables. */
  put(id: RowId): void {
    if (isGrouped(id)) this.#file(id, putInto);
  }

  /** An identity lost its last row. */
  take(id: RowId): void {
    if (isGrouped(id)) this.#file(id, takeOut);
  }

  /** The group of a route, tracked. */
  of(route: RowId): ReadonlySet<RowId> {
    const group = groupOf(route);
    if (this.#reactor.tracking) this.#reactor.track(this.#sources.get(group) ?? new KeyedSource(this.#sources, group));
    return bucketOf(this.#routes.get(group));
  }

  #file(id: RowId, file: typeof putInto<RowId>): void {
    const group = groupOf(id);
    file(this.#routes, group, id);
    const source = this.#sources.get(group);
    if (source !== undefined) this.#reactor.touch(source);
  }
}

function isGrouped(id: RowId): boolean {
  return id.startsWith('Logical_Router_Static_Route/');
}

/** The identity without its last part, the next hop, which contains no `|`. */
function groupOf(route: RowId): string {
  return route.slice(0, route.lastIndexOf('|'));
}
