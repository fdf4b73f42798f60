/**
 * An identity of the Northbound database: the rows that stand for it, and who read what of them.
 */
import type { Ownership } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import type { Row, Uuid } from '../ovsdb/index.ts';
import { Source } from './reactor.ts';

export interface ObservedRow {
  readonly id: RowId;
  readonly table: string;
  readonly uuid: Uuid;
  readonly ownership: Ownership;
  /** The row that refers to this one, for tables whose rows live only while referred to. */
  readonly parent: Link | undefined;
}

export interface Link {
  readonly uuid: Uuid;
  readonly column: string;
  readonly table: string;
}

export interface Entry extends ObservedRow {
  readonly row: Row;
}

/** What of an identity can be read apart: whether there is a row and whose, what its columns hold, and which shared columns hold it. */
export type Facet = 'state' | 'contents' | 'memberships';

/** An identity of which there is a row, or which somebody looked for, with who read what of it. In one map: there are very many. */
export class Identity {
  /** One row held bare, or a list where there are more. */
  rows: Entry | readonly Entry[] | undefined;
  state: FacetSource | undefined;
  contents: FacetSource | undefined;
  /** A row is in few shared columns, so that one source for all of them is read by few. */
  memberships: FacetSource | undefined;
  readonly #home: Map<RowId, Identity>;
  readonly #id: RowId;

  constructor(home: Map<RowId, Identity>, id: RowId) {
    this.#home = home;
    this.#id = id;
  }

  /** Forgets it where there is no row and nobody looks for one. */
  tidy(): void {
    const used = this.rows ?? this.state ?? this.contents ?? this.memberships;
    if (used === undefined && this.#home.get(this.#id) === this) this.#home.delete(this.#id);
  }
}

export class FacetSource extends Source {
  readonly #identity: Identity;
  readonly #facet: Facet;

  constructor(identity: Identity, facet: Facet) {
    super();
    this.#identity = identity;
    this.#facet = facet;
  }

  protected override abandoned(): void {
    if (this.#identity[this.#facet] !== this) return;
    this.#identity[this.#facet] = undefined;
    this.#identity.tidy();
  }
}

/** Among several rows of an identity, an owned one stands for it, then a legacy one, then the first. */
export function bestOf(identity: Identity | undefined): Entry | undefined {
  const entries = identity?.rows;
  if (entries === undefined || !isList(entries)) return entries;
  let found: Entry | undefined;
  for (const entry of entries) if (found === undefined || rankOf(entry.ownership) < rankOf(found.ownership)) found = entry;
  return found;
}

export function isList<T>(held: T | readonly T[]): held is readonly T[] {
  return Array.isArray(held);
}

function rankOf(ownership: Ownership): number {
  return ownership.kind === 'ours' ? 0 : ownership.kind === 'legacy' ? 1 : 2;
}
