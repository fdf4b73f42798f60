/**
 * All that was observed, and nothing else: one indexed table for each Kubernetes kind, the Northbound rows, and the tables
 * that the allocation step keeps. A controller that starts anew fills the World and is where the last one stopped.
 */
import { vipNames } from '../api/annotation-limits.ts';
import type { Namespace, NetworkAttachmentDefinition, Node, Pod, StatefulSet } from '../api/core.ts';
import type { IPPool } from '../api/ip-pool.ts';
import type { IP } from '../api/ip.ts';
import type { IptablesEIP } from '../api/iptables-eip.ts';
import type { ObjectMeta } from '../api/meta.ts';
import type { OvnEip } from '../api/ovn-eip.ts';
import type { Subnet } from '../api/subnet.ts';
import type { VirtualMachine, VirtualMachineInstance, VirtualMachineInstanceMigration } from '../api/virtual-machine.ts';
import { launchedInstance } from '../api/virtual-machine.ts';
import type { Vip } from '../api/vip.ts';
import type { Vpc } from '../api/vpc.ts';
import { groupName } from '../api/names.ts';
import { annotationKey, kilnAnnotation } from '../api/well-known.ts';
import { canonicalAddress } from '../net/address.ts';
import { splitList } from '../net/dual.ts';
import { allocatedPlaces, furtherPlaces } from './allocated-places.ts';
import type { AddressObject, AddressResource } from './address-objects.ts';
import { iptablesEipAddresses, ovnEipAddresses, vipAddresses } from './address-objects.ts';
import { heldTexts } from './claimants.ts';
import { Deadlines } from './deadlines.ts';
import type { SubnetIntent } from './intent.ts';
import type { NatRule, NatRuleResource } from './nat-rules.ts';
import { eipOfRule, heldByRule, NAT_RULES } from './nat-rules.ts';
import { ObservedRows } from './observed-rows.ts';
import { Computation, Computed, Reactor } from './reactor.ts';
import type { RejectedWrite } from './rejected-writes.ts';
import type { Reservation, SubnetUsage } from './reservations.ts';
import type { ResourceName } from './resources.ts';
import type { Settings } from './settings.ts';
import { SubnetVpcs } from './subnet-vpcs.ts';
import { Table } from './table.ts';

/** A function of the World that many rules share. It runs again when what it read changed; its readers only when its value did. */
export interface Query<V> {
  readonly name: string;
  /** Among all queries. */
  readonly place: number;
  readonly run: (world: World, key: string) => V;
}

let places = 0;

export function defineQuery<V>(name: string, run: (world: World, key: string) => V): Query<V> {
  return { name, place: places++, run };
}

/** A query whose answer is known above the layer that asks. Who knows it gives the function once, as its module is loaded. */
export interface DeclaredQuery<V> extends Query<V> {
  readonly define: (run: (world: World, key: string) => V) => void;
}

export function declareQuery<V>(name: string): DeclaredQuery<V> {
  let known: ((world: World, key: string) => V) | undefined;
  return {
    name,
    place: places++,
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

/** A query about one key, kept while somebody reads it. */
class Answer extends Computation<unknown> {
  readonly #world: World;
  readonly #query: Query<unknown>;
  readonly #key: string;
  readonly #home: Map<string, Answer>;

  constructor(world: World, query: Query<unknown>, key: string, home: Map<string, Answer>) {
    super(world.reactor);
    this.#world = world;
    this.#query = query;
    this.#key = key;
    this.#home = home;
  }

  protected override run(): unknown {
    return this.#query.run(this.#world, this.#key);
  }

  protected override abandoned(): void {
    if (this.#home.get(this.#key) !== this) return;
    this.#home.delete(this.#key);
    this.dispose();
  }
}

/** An object of a kind that Kiln does not carry out yet. Key: `<resource>/<key>`. */
export interface Unserved {
  readonly resource: ResourceName;
  readonly key: string;
  readonly uid: string;
  /** What exactly is not carried out. */
  readonly feature: string;
  /** Sentences about rules it breaks all the same, which its API server may be too old to know; undefined where its kind has none. */
  readonly broken?: readonly string[];
  /** It is being deleted. */
  readonly terminating?: true;
}

/** What every observed object has. */
export interface AnyObservedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** A row an object wants but cannot have. Key: the row's identity. */
export interface RowConflict {
  /** Of the objects that want it, those that do not get it. */
  readonly owners: readonly string[];
  readonly message: string;
}

const NO_ADDRESSES: readonly string[] = [];

export class World {
  readonly reactor = new Reactor();
  readonly settings: Settings;
  readonly rows = new ObservedRows(this.reactor);
  readonly deadlines = new Deadlines(this.reactor);

  readonly vpcs = new Table<Vpc>(this.reactor, 'vpcs', {
    namespace: (vpc) => vpc.spec.namespaces ?? [],
    peer: (vpc) => (vpc.spec.vpcPeerings ?? []).map((peering) => peering.remoteVpc ?? ''),
  });
  readonly subnets = new Table<Subnet>(this.reactor, 'subnets', {
    namespace: (subnet) => subnet.spec.namespaces ?? [],
    /** Value `yes`: Subnets that choose namespaces by label. */
    selects: (subnet) => ((subnet.spec.namespaceSelectors ?? []).length > 0 ? ['yes'] : []),
    provider: (subnet) => [subnet.spec.provider === undefined || subnet.spec.provider === '' ? 'ovn' : subnet.spec.provider],
  });
  readonly ips = new Table<IP>(this.reactor, 'ips', {
    subnet: (ip) => [ip.spec.subnet ?? ''],
    pod: (ip) => [`${ip.spec.namespace}/${ip.spec.podName}`],
    /** The Vip whose address it is. */
    vip: ({ metadata }) => splitList(metadata.annotations?.[kilnAnnotation.vip] ?? ''),
    /** What it holds, as it is written canonically. Only where somebody asks: there are very many. */
    address: (ip) => (this.settings.tenancy === 'open' ? NO_ADDRESSES : heldTexts(ip).flatMap((text) => canonicalAddress(text) ?? [])),
  });
  readonly ipPools = new Table<IPPool>(this.reactor, 'ippools', {
    subnet: (pool) => [pool.spec.subnet ?? ''],
    namespace: (pool) => pool.spec.namespaces ?? [],
  });
  readonly vips = new Table<Vip>(this.reactor, 'vips', { subnet: (vip) => [vipAddresses(vip).subnet] });
  readonly ovnEips = new Table<OvnEip>(this.reactor, 'ovn-eips', { subnet: (eip) => [ovnEipAddresses(eip, this.settings).subnet] });
  readonly iptablesEips = new Table<IptablesEIP>(this.reactor, 'iptables-eips', { subnet: (eip) => [iptablesEipAddresses(eip).subnet] });
  /** Rules that use an EIP, by kind. Index `eip`: name of the EIP; `subnet`: of whose addresses it holds some. */
  readonly natRules = Object.fromEntries(
    NAT_RULES.map((resource) => [
      resource,
      new Table<NatRule>(this.reactor, resource, {
        eip: (rule) => [eipOfRule(rule)],
        ip: ({ spec }) => [spec.ipName ?? ''],
        subnet: (rule) => [heldByRule(rule)?.subnet ?? ''],
      }),
    ]),
  ) as Readonly<Record<NatRuleResource, Table<NatRule>>>;
  readonly namespaces = new Table<Namespace>(this.reactor, 'namespaces');
  readonly nodes = new Table<Node>(this.reactor, 'nodes', {
    internalIp: ({ status }) =>
      (status?.addresses ?? []).flatMap(({ type, address }) => (type === 'InternalIP' ? (canonicalAddress(address) ?? []) : [])),
    group: ({ metadata }) => [groupName(metadata.name)],
    /** As of pods. */
    allocated: ({ metadata }) => allocatedPlaces(metadata.annotations ?? {}),
  });
  readonly pods = new Table<Pod>(this.reactor, 'pods', {
    namespace: (pod) => [pod.metadata.namespace ?? ''],
    node: (pod) => (pod.spec.nodeName === undefined ? [] : [pod.spec.nodeName]),
    /** `namespace/name` of the virtual machine instance that it runs. */
    instance: ({ metadata }) => {
      const instance = launchedInstance(metadata);
      return instance === undefined ? [] : [`${metadata.namespace ?? ''}/${instance.name}`];
    },
    /** Vips whose address it asks for. */
    vip: ({ metadata }) => vipNames(metadata.annotations?.[annotationKey.vip] ?? ''),
    /** Vips whose addresses its ports may use beside their own. */
    allowedPair: ({ metadata }) => vipNames(metadata.annotations?.[annotationKey.allowedAddressPairs] ?? ''),
    /** `subnet`, line end, `node`: where it may send from further addresses, if its annotations are right. */
    furtherAt: (pod) => furtherPlaces(pod),
    /** Subnets that its annotations say it was given addresses of; where they name none, `provider/` and the interface's provider. */
    allocated: ({ metadata }) => allocatedPlaces(metadata.annotations ?? {}),
  });
  readonly statefulSets = new Table<StatefulSet>(this.reactor, 'statefulsets');
  /** Empty in a cluster that does not serve the kind. */
  readonly networkAttachments = new Table<NetworkAttachmentDefinition>(this.reactor, 'network-attachment-definitions');
  /** Empty in a cluster without KubeVirt. */
  readonly virtualMachines = new Table<VirtualMachine>(this.reactor, 'virtualmachines');
  readonly virtualMachineInstances = new Table<VirtualMachineInstance>(this.reactor, 'virtualmachineinstances');
  readonly machineMigrations = new Table<VirtualMachineInstanceMigration>(this.reactor, 'virtualmachineinstancemigrations', {
    uid: ({ metadata }) => [metadata.uid],
  });
  readonly unserved = new Table<Unserved>(this.reactor, 'unserved');

  /** The tables of Kubernetes objects, for who takes objects of any kind alike. */
  readonly tables: Readonly<Partial<Record<ResourceName, Table<AnyObservedObject>>>> = {
    vpcs: this.vpcs,
    subnets: this.subnets,
    ips: this.ips,
    ippools: this.ipPools,
    pods: this.pods,
    namespaces: this.namespaces,
    nodes: this.nodes,
    statefulsets: this.statefulSets,
    'network-attachment-definitions': this.networkAttachments,
    virtualmachines: this.virtualMachines,
    virtualmachineinstances: this.virtualMachineInstances,
    virtualmachineinstancemigrations: this.machineMigrations,
    vips: this.vips,
    'ovn-eips': this.ovnEips,
    'iptables-eips': this.iptablesEips,
    ...this.natRules,
  } as unknown as Readonly<Partial<Record<ResourceName, Table<AnyObservedObject>>>>;

  /** By claimant. Written by the allocation step between rounds of compile. */
  readonly reservations = new Table<Reservation>(this.reactor, 'reservations');
  /** By `rejectionKey`. Written when the API server has answered. */
  readonly rejectedWrites = new Table<RejectedWrite>(this.reactor, 'rejected-writes');
  /** By Subnet: published by the allocation step, at most once a second each under load. */
  readonly usage = new Table<SubnetUsage>(this.reactor, 'usage');
  /** By IPPool, likewise. */
  readonly poolUsage = new Table<SubnetUsage>(this.reactor, 'pool-usage');
  /** By claimant: the claimants it shares an address with and should not. */
  readonly addressConflicts = new Table<readonly string[]>(this.reactor, 'address-conflicts');
  /** By row identity. Written after each diff. */
  readonly rowConflicts = new Table<RowConflict>(this.reactor, 'row-conflicts', { owner: (conflict) => conflict.owners });

  /** Which Vpc each Subnet is in. */
  readonly subnetVpcs: SubnetVpcs;

  /** By place of the query, by key. */
  readonly #answers: (Map<string, Answer> | undefined)[] = [];

  constructor(settings: Settings) {
    this.settings = settings;
    this.subnetVpcs = new SubnetVpcs(this.reactor, this.subnets, this.rows, settings.defaultVpc);
  }

  /** The value of a query, remembered until something it read changes. */
  ask<V>(query: Query<V>, key: string): V {
    const answers = (this.#answers[query.place] ??= new Map<string, Answer>());
    let answer = answers.get(key);
    if (answer === undefined) answers.set(key, (answer = new Answer(this, query, key, answers)));
    return answer.get() as V;
  }

  /** A Vip or an EIP in the form that all kinds of them have. Reads the object as it is: status writes come back here. */
  addressObject(resource: AddressResource, name: string): AddressObject | undefined {
    const vip = resource === 'vips' ? this.vips.get(name) : undefined;
    if (vip !== undefined) return vipAddresses(vip);
    const ovnEip = resource === 'ovn-eips' ? this.ovnEips.get(name) : undefined;
    if (ovnEip !== undefined) return ovnEipAddresses(ovnEip, this.settings);
    const iptablesEip = resource === 'iptables-eips' ? this.iptablesEips.get(name) : undefined;
    return iptablesEip === undefined ? undefined : iptablesEipAddresses(iptablesEip);
  }

  /** Names of the Vips or EIPs of a Subnet. */
  addressObjectsIn(resource: AddressResource, subnet: string): ReadonlySet<string> {
    const table = resource === 'vips' ? this.vips : resource === 'ovn-eips' ? this.ovnEips : this.iptablesEips;
    return table.bucket('subnet', subnet);
  }

  /** How many answers are remembered. */
  get queries(): number {
    return this.#answers.reduce((sum, answers) => sum + (answers?.size ?? 0), 0);
  }

  /** Runs a function that asks queries, and forgets those that nobody else reads: for a look from outside the rules. */
  glance<V>(run: () => V): V {
    const look = new Computed(this.reactor, run);
    try {
      return look.get();
    } finally {
      look.dispose();
    }
  }

  /** The Vpc a Subnet is in: the one it is attached to, else the one it says, else the default one. */
  vpcOf(subnet: SubnetIntent): string {
    return this.subnetVpcs.of(subnet);
  }
}
