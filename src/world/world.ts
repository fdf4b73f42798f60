/**
 * All that was observed, and nothing else: one indexed table for each Kubernetes kind, the Northbound rows, and the tables
 * that the allocation step and the writers fill. A controller that restarts fills the World and continues where the last one stopped.
 */
import { KindTables, TABLES } from '../kinds/generated/tables.ts';
import type { ObjectMeta } from '../api/kubernetes/meta.ts';
import type { AddressObject, AddressResource } from './address-objects.ts';
import { ADDRESS_RESOURCES } from './address-objects.ts';
import { Deadlines } from './deadlines.ts';
import type { TableDefinition } from './derived-table.ts';
import { DerivedTable } from './derived-table.ts';
import type { Domain } from './domain.ts';
import type { NatRule, NatRuleResource } from './nat-rules.ts';
import { NAT_RULES } from './nat-rules.ts';
import { ObservedRows } from './observed-rows.ts';
import { PrunedFields } from './pruned-fields.ts';
import { Computation, Computed, Reactor } from './reactor.ts';
import type { RejectedWrite } from './rejected-writes.ts';
import type { Reservation, SubnetUsage } from './reservations.ts';
import type { ResourceName } from './resources.ts';
import { LiveSet } from './sets/live-set.ts';
import type { AnySet, Part, SetDefinition } from './sets/set-definition.ts';
import type { Settings } from './settings.ts';
import { SubnetVpcs, type VpcClaim } from './subnet-vpcs.ts';
import type { Indexes } from './table.ts';
import { Table } from './table.ts';

/**
 * A pure function of the World and one key, which several rules share.
 *
 * Guarantees: `World.ask` runs it at most once between two changes of its sources, for all readers together. It runs again when a source
 * that it read changed; its readers run again only if its value differs. A query that throws throws the same error at each reader. A query
 * that reads its own result is an error.
 *
 * Cost: one computation for each key, in memory as long as at least one rule reads it. A query pays off where several rules need the value,
 * or where its sources change more often than its value does.
 */
export interface Query<V> {
  /** For error messages and profiles. */
  readonly name: string;
  /** Index of the query among all queries. */
  readonly index: number;
  readonly run: (world: World, key: string) => V;
}

let queries = 0;

export function defineQuery<V>(name: string, run: (world: World, key: string) => V): Query<V> {
  return { name, index: queries++, run };
}

let tables = 0;

/** Defines a derived table; `TableDefinition` has the contract. */
export function defineTable<T>(
  name: string,
  over: (world: World) => Domain,
  entry: (world: World, key: string) => T | undefined,
  indexes: Indexes<T> = {},
): TableDefinition<World, T> {
  return { name, index: tables++, over, entry, indexes };
}

let sets = 0;

/**
 * Defines a live set; `SetDefinition` has the contract.
 * @param member what a candidate stands for; without it, each candidate is a member
 */
export function defineSet(
  name: string,
  candidates: (world: World, key: string) => readonly Part[],
  member?: (world: World, key: string, candidate: string) => string | undefined,
): SetDefinition<World> {
  return { name, index: sets++, candidates, member };
}

/** A `member` function that keeps the candidates for which a predicate holds; tracked. */
export function where(
  holds: (world: World, key: string, candidate: string) => boolean,
): (world: World, key: string, candidate: string) => string | undefined {
  return (world, key, candidate) => (holds(world, key, candidate) ? candidate : undefined);
}

/** A query that a lower layer uses and a higher layer defines: the defining module calls `define` once, when it is loaded. */
export interface DeclaredQuery<V> extends Query<V> {
  readonly define: (run: (world: World, key: string) => V) => void;
}

export function declareQuery<V>(name: string): DeclaredQuery<V> {
  let known: ((world: World, key: string) => V) | undefined;
  return {
    name,
    index: queries++,
    define: (run) => {
      if (known !== undefined) throw new Error(`the query ${name} is defined twice`);
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
  readonly #world: World;
  readonly #query: Query<unknown>;
  readonly #key: string;
  readonly #home: Map<string, QueryResult>;

  constructor(world: World, query: Query<unknown>, key: string, home: Map<string, QueryResult>) {
    super(world.reactor);
    this.#world = world;
    this.#query = query;
    this.#key = key;
    this.#home = home;
  }

  protected override run(): unknown {
    return this.#query.run(this.#world, this.#key);
  }

  protected override onUnread(): void {
    if (this.#home.get(this.#key) !== this) return;
    this.#home.delete(this.#key);
    this.dispose();
  }
}

/** An object of a kind that Kiln does not implement. Key: `<resource>/<key>`. */
export interface UnimplementedObject {
  readonly resource: ResourceName;
  readonly key: string;
  readonly uid: string;
  /** What exactly is not implemented. */
  readonly feature: string;
  /** Messages about CEL rules that it breaks, which an old API server does not check; undefined where its kind has no rules. */
  readonly broken?: readonly string[];
  /** It is being deleted. */
  readonly terminating?: true;
}

/** The Service of the API server, and its key in the World. */
export const API_SERVER = 'default/kubernetes';

/** The fields that every observed object has. */
export interface AnyObservedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** A row that an object needs and cannot have. Key: the row's identity. */
export interface RowConflict {
  /** Owner texts of the objects that need it and do not get it. */
  readonly owners: readonly string[];
  readonly message: string;
}

type TablesByResource = Readonly<Partial<Record<ResourceName, Table<AnyObservedObject>>>>;

/** The tables of some resources; all of them have one. */
function tablesOf<R extends ResourceName, T>(tables: TablesByResource, resources: readonly R[]): Readonly<Record<R, Table<T>>> {
  return Object.fromEntries(resources.map((resource) => [resource, tables[resource]])) as unknown as Readonly<Record<R, Table<T>>>;
}

/** The tables of the kinds are those of `KindTables`: `world.ipPools`. */
export class World extends KindTables {
  readonly rows = new ObservedRows(this.reactor);
  readonly deadlines = new Deadlines(this.reactor);

  readonly unimplemented = new Table<UnimplementedObject>(this.reactor, 'unimplemented');
  /** Addresses by which pods reach the API server, under `API_SERVER`; none while its Service is not observed. */
  readonly apiServer = new Table<readonly string[]>(this.reactor, 'api-server');
  /** By Service: its addresses and ports (`service-vips.ts`). Services without any are left out. */
  readonly serviceVips = new Table<readonly string[]>(this.reactor, 'service-vips');

  /** The tables of Kubernetes objects by resource, for code that handles all kinds alike. A table is empty in a cluster without the kind. */
  readonly tables: TablesByResource = this.byResource() as unknown as TablesByResource;
  /** The tables of NAT rules, and those of Vips and EIPs. */
  readonly natRules = tablesOf<NatRuleResource, NatRule>(this.tables, NAT_RULES);
  readonly #addressObjects = tablesOf<AddressResource, unknown>(this.tables, ADDRESS_RESOURCES);

  /** By claimant. The allocation step writes it between rounds of compile. */
  readonly reservations = new Table<Reservation>(this.reactor, 'reservations');
  /** By `rejectionKey`. Written when the API server has answered. */
  readonly rejectedWrites = new Table<RejectedWrite>(this.reactor, 'rejected-writes');
  /** By Subnet. The allocation step publishes it, at most once a second per Subnet under load. */
  readonly usage = new Table<SubnetUsage>(this.reactor, 'usage');
  /** By IPPool, likewise. */
  readonly poolUsage = new Table<SubnetUsage>(this.reactor, 'pool-usage');
  /** By claimant: other claimants of the same address, without a common sharing group. */
  readonly addressConflicts = new Table<readonly string[]>(this.reactor, 'address-conflicts');
  /** By row identity. The diff writes it. */
  readonly rowConflicts = new Table<RowConflict>(this.reactor, 'row-conflicts', { owner: (conflict) => conflict.owners });

  readonly pruned = new PrunedFields();

  /** Which Vpc each Subnet is in. */
  readonly subnetVpcs: SubnetVpcs;

  /** By index of the query, by key. */
  readonly #results: (Map<string, QueryResult> | undefined)[] = [];
  /** By index of the definition, by key. */
  readonly #sets: (Map<string, LiveSet> | undefined)[] = [];
  /** By index of the definition. */
  readonly #derived: (DerivedTable<unknown> | undefined)[] = [];

  constructor(settings: Settings) {
    super(new Reactor(), settings);
    this.subnetVpcs = new SubnetVpcs(this.reactor, this.subnets, this.rows, settings.defaultVpc);
  }

  /** The value of a query: cached until one of its sources changes, tracked as a source of the caller. */
  ask<V>(query: Query<V>, key: string): V {
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

  /** A Vip or an EIP in their common form. Reads the whole object: a status write runs the reader again. */
  addressObject(resource: AddressResource, name: string): AddressObject | undefined {
    const object = this.#addressObjects[resource].get(name);
    return object === undefined ? undefined : TABLES[resource].addressObject?.(object as never, this.settings);
  }

  /** Names of the Vips or EIPs of a Subnet. */
  addressObjectsIn(resource: AddressResource, subnet: string): ReadonlySet<string> {
    return this.#addressObjects[resource].bucket('subnet', subnet);
  }

  /** The Vips or EIPs. Index `subnet`: their Subnet. */
  addressTable(resource: AddressResource): Table<unknown> {
    return this.#addressObjects[resource];
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

  /** The Vpc of a Subnet: the one with its port in the router, else the one in its spec, else the default one. */
  vpcOf(subnet: VpcClaim): string {
    return this.subnetVpcs.of(subnet);
  }
}
