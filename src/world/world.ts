/**
 * All that was observed, and nothing else: one indexed table for each Kubernetes kind, the Northbound rows, and the tables
 * that the allocation step and the writers fill. A controller that restarts fills the World and continues where the last one stopped.
 */
import { KindTables, TABLES } from '../kinds/generated/tables.ts';
import type { ObjectMeta } from '../api/kubernetes/meta.ts';
import type { AddressObject, AddressResource } from './address-objects.ts';
import { ADDRESS_RESOURCES } from './address-objects.ts';
import * as anyWorld from '../engine/any-world.ts';
import type { TableDefinition } from '../engine/derived-table.ts';
import type { Domain } from '../engine/domain.ts';
import type { NatRule, NatRuleResource } from './nat-rules.ts';
import { NAT_RULES } from './nat-rules.ts';
import { Neighbours } from '../nb/neighbours.ts';
import { ObservedRows } from './observed-rows.ts';
import { PrunedFields } from './pruned-fields.ts';
import { Reactor } from '../engine/reactor.ts';
import type { RejectedWrite } from './rejected-writes.ts';
import type { Reservation, SubnetUsage } from './reservations.ts';
import type { ResourceName } from './resources.ts';
import type { Part, SetDefinition } from '../engine/sets/set-definition.ts';
import type { Settings } from './settings.ts';
import { SubnetVpcs, type VpcClaim } from './subnet-vpcs.ts';
import type { Indexes } from '../engine/table.ts';
import { Table } from '../engine/table.ts';

/** Definitions over the controller's World; `any-world.ts` has their contracts. */
export type Query<V> = anyWorld.Query<V, World>;
export type DeclaredQuery<V> = anyWorld.DeclaredQuery<V, World>;
export const defineQuery: <V>(name: string, run: (world: World, key: string) => V) => Query<V> = anyWorld.defineQuery;
export const declareQuery: <V>(name: string) => DeclaredQuery<V> = anyWorld.declareQuery;
export const defineTable: <T>(
  name: string,
  over: (world: World) => Domain,
  entry: (world: World, key: string) => T | undefined,
  indexes?: Indexes<T>,
) => TableDefinition<World, T> = anyWorld.defineTable;
export const defineSet: (
  name: string,
  candidates: (world: World, key: string) => readonly Part[],
  member?: (world: World, key: string, candidate: string) => string | undefined,
) => SetDefinition<World> = anyWorld.defineSet;
export const where: (
  holds: (world: World, key: string, candidate: string) => boolean,
) => (world: World, key: string, candidate: string) => string | undefined = anyWorld.where;

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

/** Whether rows without an owner wait for an approval. Of a process that leads; no other knows. */
export interface CollectionState {
  readonly held: boolean;
  readonly message?: string;
}

/** A row that an object needs and cannot have. Key: the row's identity. */
export interface RowConflict {
  /** Owner texts of the objects that need it and do not get it. */
  readonly owners: readonly string[];
  /** Owner text of the object that has it, where that object is told as well. */
  readonly winner?: string;
  readonly message: string;
}

type TablesByResource = Readonly<Partial<Record<ResourceName, Table<AnyObservedObject>>>>;

/** The tables of some resources; all of them have one. */
function tablesOf<R extends ResourceName, T>(tables: TablesByResource, resources: readonly R[]): Readonly<Record<R, Table<T>>> {
  return Object.fromEntries(resources.map((resource) => [resource, tables[resource]])) as unknown as Readonly<Record<R, Table<T>>>;
}

/** The controller's World. The tables of the kinds are those of `KindTables`: `world.ipPools`. */
export class World extends KindTables {
  readonly rows = new ObservedRows(this.reactor, Neighbours.of(this.settings.neighbours));

  readonly unimplemented = new Table<UnimplementedObject>(this.reactor, 'unimplemented');

  /** The tables of Kubernetes objects by resource, for code that handles all kinds alike. A table is empty in a cluster without the kind. */
  readonly tables: TablesByResource = this.byResource() as unknown as TablesByResource;
  /** The tables of NAT rules, and those of Vips and EIPs. */
  readonly natRules = tablesOf<NatRuleResource, NatRule>(this.tables, NAT_RULES);
  readonly #addressObjects = tablesOf<AddressResource, AnyObservedObject>(this.tables, ADDRESS_RESOURCES);

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

  /** Under `hold`. The collection writes it. */
  readonly collection = new Table<CollectionState>(this.reactor, 'collection');

  readonly pruned = new PrunedFields();

  /** Which Vpc each Subnet is in. */
  readonly subnetVpcs: SubnetVpcs;

  constructor(settings: Settings) {
    super(new Reactor(), settings);
    this.subnetVpcs = new SubnetVpcs(this.reactor, this.subnets, this.rows, settings.defaultVpc);
  }

  /** A Vip or an EIP in their common form. Reads the whole object: a status write runs the reader again. */
  addressObject(resource: AddressResource, name: string): AddressObject | undefined {
    const object = this.#addressObjects[resource].get(name);
    return object === undefined ? undefined : this.asAddressObject(resource, object);
  }

  /** An object of the table, as it is or was. */
  asAddressObject(resource: AddressResource, object: AnyObservedObject): AddressObject | undefined {
    return TABLES[resource].addressObject?.(object as never, this.settings);
  }

  /** Names of the Vips or EIPs of a Subnet. */
  addressObjectsIn(resource: AddressResource, subnet: string): ReadonlySet<string> {
    return this.#addressObjects[resource].bucket('subnet', subnet);
  }

  /** The Vips or EIPs. Index `subnet`: their Subnet. */
  addressTable(resource: AddressResource): Table<AnyObservedObject> {
    return this.#addressObjects[resource];
  }

  /** The Vpc of a Subnet: the one with its port in the router, else the one in its spec, else the default one. */
  vpcOf(subnet: VpcClaim): string {
    return this.subnetVpcs.of(subnet);
  }
}
