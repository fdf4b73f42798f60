/** An identity of the Northbound database: its rows, and the sources of each facet. */
import type { Ownership } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { isOwnUuid } from '../nb/row-id.ts';
import type { Row, Uuid } from '../ovsdb/index.ts';
import { Source } from '../engine/source.ts';

export interface ObservedRow {
  readonly id: RowId;
  readonly table: string;
  readonly uuid: Uuid;
  readonly ownership: Ownership;
  /** The row that refers to this one, for tables with rows that exist only while referred to. */
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

/** The parts of an identity that readers track apart: existence and ownership, columns, and the shared columns that refer to the row. */
export type Facet = 'state' | 'contents' | 'memberships';

/** An identity that has a row or a reader. One map for both, since there are very many. */
export class Identity {
  /** One row, or a list of several. */
  rows: Entry | readonly Entry[] | undefined;
  state: FacetSource | undefined;
  contents: FacetSource | undefined;
  /** One source for all shared columns: a row is in few of them, so a change invalidates few readers without need. */
  memberships: FacetSource | undefined;
  readonly #home: Map<RowId, Identity>;
  readonly #id: RowId;

  constructor(home: Map<RowId, Identity>, id: RowId) {
    this.#home = home;
    this.#id = id;
  }

  /** Drops the identity once it has neither a row nor a reader. */
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

  protected override onUnread(): void {
    if (this.#identity[this.#facet] !== this) return;
    this.#identity[this.#facet] = undefined;
    this.#identity.tidy();
  }
}

/**
 * Of several rows of an identity: one of ours, else a legacy one. Of these the one with the most in use, then one that Kiln inserted, then
 * the least UUID: every process chooses the same one.
 * @param usesOf how much of a row is in use
 */
export function bestOf(identity: Identity | undefined, usesOf: (entry: Entry) => number): Entry | undefined {
  const entries = identity?.rows;
  if (entries === undefined || !isList(entries)) return entries;
  let found: Entry | undefined;
  for (const entry of entries) if (found === undefined || isBetter(entry, found, usesOf)) found = entry;
  return found;
}

function isBetter(one: Entry, other: Entry, usesOf: (entry: Entry) => number): boolean {
  const order =
    rankOf(one.ownership) - rankOf(other.ownership) ||
    usesOf(other) - usesOf(one) ||
    Number(isOwnUuid(other.uuid)) - Number(isOwnUuid(one.uuid));
  return order < 0 || (order === 0 && one.uuid < other.uuid);
}

export function isList<T>(held: T | readonly T[]): held is readonly T[] {
  return Array.isArray(held);
}

function rankOf(ownership: Ownership): number {
  return ownership.kind === 'ours' ? 0 : ownership.kind === 'legacy' ? 1 : 2;
}
