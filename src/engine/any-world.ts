/**
 * What every World has, whatever its tables are: the reactor, the time, and what is computed of the tables (queries, live sets, derived
 * tables). A World is this class with the tables of its targets as fields: that of the controller (`world.ts`) has a table for each
 * kind and the Northbound rows; another program with the same engine has other tables.
 */
import { Deadlines } from './deadlines.ts';
import type { TableDefinition } from './derived-table.ts';
import { DerivedTable } from './derived-table.ts';
import type { Domain } from './domain.ts';
import { Computation, Computed, Reactor } from './reactor.ts';
import { LiveSet } from './sets/live-set.ts';
import type { AnySet, Part, SetDefinition } from './sets/set-definition.ts';
import type { Indexes } from './table.ts';

/**
 * A pure function of the World and one key, which several rules share.
 *
 * Guarantees: `ask` runs it at most once between two changes of its sources, for all readers together. It runs again when a source
 * that it read changed; its readers run again only if its value differs. A query that throws throws the same error at each reader. A query
 * that reads its own result is an error.
 *
 * Cost: one computation for each key, in memory as long as at least one rule reads it. A query pays off where several rules need the value,
 * or where its sources change more often than its value does.
 */
export interface Query<V, W> {
  /** For error messages and profiles. */
  readonly name: string;
  /** Index of the query among all queries. */
  readonly index: number;
  readonly run: (world: W, key: string) => V;
}

let queries = 0;

export function defineQuery<V, W extends AnyWorld>(name: string, run: (world: W, key: string) => V): Query<V, W> {
  return { name, index: queries++, run };
}

let tables = 0;

/** Defines a derived table; `TableDefinition` has the contract. */
export function defineTable<T, W extends AnyWorld>(
  name: string,
  over: (world: W) => Domain,
  entry: (world: W, key: string) => T | undefined,
  indexes: Indexes<T> = {},
): TableDefinition<W, T> {
  return { name, index: tables++, over, entry, indexes };
}

let sets = 0;

/**
 * Defines a live set; `SetDefinition` has the contract.
 * @param member what a candidate stands for; without it, each candidate is a member
 */
export function defineSet<W extends AnyWorld>(
  name: string,
  candidates: (world: W, key: string) => readonly Part[],
  member?: (world: W, key: string, candidate: string) => string | undefined,
): SetDefinition<W> {
  return { name, index: sets++, candidates, member };
}

/** A `member` function that keeps the candidates for which a predicate holds; tracked. */
export function where<W extends AnyWorld>(
  holds: (world: W, key: string, candidate: string) => boolean,
): (world: W, key: string, candidate: string) => string | undefined {
  return (world, key, candidate) => (holds(world, key, candidate) ? candidate : undefined);
}

/** A query that a lower layer uses and a higher layer defines: the defining module calls `define` once, when it is loaded. */
export interface DeclaredQuery<V, W> extends Query<V, W> {
  readonly define: (run: (world: W, key: string) => V) => void;
}

const undefinedNames = new Set<string>();
/** Names of queries that loaded modules declare and none defines. */
export const undefinedQueries: ReadonlySet<string> = undefinedNames;

export function declareQuery<V, W extends AnyWorld>(name: string): DeclaredQuery<V, W> {
  let known: ((world: W, key: string) => V) | undefined;
  undefinedNames.add(name);
  return {
    name,
    index: queries++,
    define: (run) => {
      if (known !== undefined) throw new Error(`the query ${name} is defined twice`);
      undefinedNames.delete(name);
      known = run;
    },
    run: (world, key) => {
      if (known === undefined) throw new Error(`the query ${name} is not defined: its rules are not loaded`);
      return known(world, key);
    },
  };
}

/** The cached result of a query for one key, kept as long as it has a reader. */
class QueryResult extends Computation<unknown> {
  readonly #world: AnyWorld;
  readonly #query: Query<unknown, never>;
  readonly #key: string;
  readonly #home: Map<string, QueryResult>;

  constructor(world: AnyWorld, query: Query<unknown, never>, key: string, home: Map<string, QueryResult>) {
    super(world.reactor);
    this.#world = world;
    this.#query = query;
    this.#key = key;
    this.#home = home;
  }

  protected override run(): unknown {
    return this.#query.run(this.#world as never, this.#key);
  }

  protected override onUnread(): void {
    if (this.#home.get(this.#key) !== this) return;
    this.#home.delete(this.#key);
    this.dispose();
  }
}

export class AnyWorld {
  readonly reactor: Reactor;
  readonly deadlines: Deadlines;
  /** By index of the query, by key. */
  readonly #results: (Map<string, QueryResult> | undefined)[] = [];
  /** By index of the definition, by key. */
  readonly #sets: (Map<string, LiveSet> | undefined)[] = [];
  /** By index of the definition. */
  readonly #derived: (DerivedTable<unknown> | undefined)[] = [];

  constructor(reactor: Reactor = new Reactor()) {
    this.reactor = reactor;
    this.deadlines = new Deadlines(reactor);
  }

  /** The value of a query: cached until one of its sources changes, tracked as a source of the caller. */
  ask<V>(query: Query<V, this>, key: string): V {
    const results = (this.#results[query.index] ??= new Map<string, QueryResult>());
    let result = results.get(key);
    if (result === undefined) results.set(key, (result = new QueryResult(this, query, key, results)));
    return result.get() as V;
  }

  /** A derived table, from its first use on. */
  derived<T>(definition: TableDefinition<never, T>): DerivedTable<T> {
    return (this.#derived[definition.index] ??= new DerivedTable<T>(this, definition) as DerivedTable<unknown>) as DerivedTable<T>;
  }

  /** A live set, shared by all that read or watch it. */
  set(definition: AnySet, key: string): LiveSet {
    const sets = (this.#sets[definition.index] ??= new Map<string, LiveSet>());
    let set = sets.get(key);
    if (set === undefined) sets.set(key, (set = new LiveSet(this, definition, key, sets)));
    return set;
  }

  /** Number of cached query results. */
  get queries(): number {
    return this.#results.reduce((sum, results) => sum + (results?.size ?? 0), 0);
  }

  /** Runs a function that reads queries, and drops the results that no rule reads: for reads from outside the rules. */
  glance<V>(run: () => V): V {
    const look = new Computed(this.reactor, run);
    try {
      return look.get();
    } finally {
      look.dispose();
    }
  }
}
