/**
 * Static routes by their way: all of a route's identity but its next hop. OVN takes several routes of one way as one (ECMP), whoever
 * made them, and sends each connection by one of them.
 */
import type { RowId } from '../nb/row-id.ts';
import { bucketOf, putInto, takeOut } from './bucket.ts';
import type { Reactor, Source } from './reactor.ts';
import { KeyedSource } from './reactor.ts';

export class RouteWays {
  readonly #reactor: Reactor;
  readonly #routes = new Map<string, RowId | Set<RowId>>();
  /** Of a way: which routes there are. */
  readonly #sources = new Map<string, Source>();

  constructor(reactor: Reactor) {
    this.#reactor = reactor;
  }

  /** An identity that had no row has one. Of another table: nothing. */
  put(id: RowId): void {
    if (isRoute(id)) this.#file(id, putInto);
  }

  /** The last row of an identity went. */
  take(id: RowId): void {
    if (isRoute(id)) this.#file(id, takeOut);
  }

  /** Routes of the way that this one is of, tracked. */
  of(route: RowId): ReadonlySet<RowId> {
    const way = wayOf(route);
    if (this.#reactor.tracking) this.#reactor.track(this.#sources.get(way) ?? new KeyedSource(this.#sources, way));
    return bucketOf(this.#routes.get(way));
  }

  #file(id: RowId, file: typeof putInto<RowId>): void {
    const way = wayOf(id);
    file(this.#routes, way, id);
    const source = this.#sources.get(way);
    if (source !== undefined) this.#reactor.touch(source);
  }
}

function isRoute(id: RowId): boolean {
  return id.startsWith('Logical_Router_Static_Route/');
}

/** The next hop comes last, and has no bar in it. */
function wayOf(route: RowId): string {
  return route.slice(0, route.lastIndexOf('|'));
}
