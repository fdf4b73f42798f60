/**
 * Pods that are created after everything converged, before anything changes what their network depends on: each gets what it requests, in a
 * Subnet that the pod or its Namespace names. Read from specs alone, without a rule.
 */
import { selectorMatches } from '../../../src/api/kubernetes/label-selector.ts';
import type { Condition } from '../../../src/api/kubernetes/meta.ts';
import type { SubnetSpec } from '../../../src/api/kinds/subnet.ts';
import { DEFAULT_SUBNET, DEFAULT_VPC, JOIN_SUBNET, kilnAnnotation, podAnnotation } from '../../../src/api/well-known.ts';
import type { KubeObject } from '../../../lab/apiserver/object.ts';
import type { ObjectStore, StoreEvent } from '../../../lab/apiserver/store.ts';
import { formatAddress, parseAddress } from '../../../src/net/address.ts';
import { cidrContains, parseCidr } from '../../../src/net/cidr.ts';
import { splitList } from '../../../src/net/dual.ts';
import { parseRange, parseRangeOrCidr } from '../../../src/net/range.ts';
import type { Finding, Check } from './check.ts';

const SUBNETS = 'subnets.kubeovn.io';
const VPCS = 'vpcs.kubeovn.io';
const POOLS = 'ippools.kubeovn.io';
/** Tables of the objects that a pod's network depends on. */
const DECIDING: ReadonlySet<string> = new Set([
  SUBNETS,
  VPCS,
  POOLS,
  'namespaces',
  'vips.kubeovn.io',
  'network-attachment-definitions.k8s.cni.cncf.io',
]);

type Suffix = 'allocated' | 'logical_switch' | 'ip_address' | 'ip_pool' | 'ip_family' | 'gateway' | 'cidr';

/** Annotations with which a pod requests its network. */
const REQUEST_SUFFIXES: readonly Suffix[] = ['logical_switch', 'ip_address', 'ip_pool', 'ip_family'];

interface PodAnnotations {
  readonly annotations: Readonly<Record<string, string>>;
}

function annotation({ annotations }: PodAnnotations, suffix: Suffix): string {
  return (annotations[podAnnotation('ovn', suffix)] ?? '').trim();
}

export class NewPods implements Check {
  readonly #store: ObjectStore;
  readonly #byHand: () => boolean;
  readonly #findings: Finding[] = [];
  /** Nothing that a pod's network depends on has changed since the last check. */
  #stable = false;
  /** No Subnet has become valid or invalid since. */
  #subnetsStable = false;
  /** Pods created since, by uid, with the annotations they came with. */
  readonly #waiting = new Map<string, PodAnnotations>();

  /** @param byHand whether a user acts now */
  constructor(store: ObjectStore, byHand: () => boolean) {
    this.#store = store;
    this.#byHand = byHand;
    store.watchAll((event) => this.#look(event));
  }

  /** Called once everything has converged. */
  baseline(): void {
    this.#stable = true;
    this.#subnetsStable = true;
    this.#waiting.clear();
  }

  /** False if each Subnet of the Namespace is certainly invalid. */
  takesPods(namespace: string): boolean {
    const claims = this.#subnetsStable ? this.#claims(namespace) : [];
    return claims.length === 0 || claims.some((one) => !isInvalid(this.#store.get(SUBNETS, one)?.['status']));
  }

  whenConverged(): readonly Finding[] {
    return [...this.#findings.splice(0), ...this.#stillWaiting()];
  }

  /** A pod without annotations of its own has an address by now, if its Namespace plainly has a Subnet with room. */
  #stillWaiting(): readonly Finding[] {
    return this.#store.list('pods').flatMap(({ metadata, spec, status }): Finding[] => {
      const { uid, name, namespace = '', deletionTimestamp, annotations = {} } = metadata;
      const requested = this.#waiting.get(uid);
      const { nodeName, hostNetwork } = spec as { readonly nodeName?: string; readonly hostNetwork?: boolean };
      const { phase = 'Pending' } = (status ?? {}) as { readonly phase?: string };
      const own = Object.keys(annotations).some((key) => key.includes('kubernetes.io/') || key.includes('networks'));
      if (requested === undefined || own || deletionTimestamp !== undefined || nodeName === undefined || hostNetwork === true) return [];
      if (phase === 'Succeeded' || phase === 'Failed' || this.#store.get('ips.kubeovn.io', `${name}.${namespace}`) !== undefined) return [];
      // A Subnet that is being deleted accepts no new pods, and is skipped.
      const open = this.#claims(namespace).filter((one) => this.#store.get(SUBNETS, one)?.metadata.deletionTimestamp === undefined);
      // Nor does the join Subnet, whatever Namespaces it lists: a condition of the pod reports it.
      const isPlain = open.every(
        (one) => one !== JOIN_SUBNET && this.#isAccepted(one) && isReady(this.#store.get(SUBNETS, one)?.['status']),
      );
      const withRoom = open.find((one) => this.#hasFreeAddresses(one));
      if (withRoom === undefined || !isPlain || this.#poolsOf(namespace).length > 0) return [];
      const message = `I7: Pod ${namespace}/${name} was created right after everything had converged and has no address, and its Namespace has Subnet ${withRoom}, which has free addresses`;
      return [{ kind: 'I7 allocated nothing', message }];
    });
  }

  #look(event: StoreEvent): void {
    const { type, table, object } = event;
    const decisive = isDecisive(event);
    if (table === 'nodes' || (decisive && (table === SUBNETS || table === VPCS))) this.#subnetsStable = false;
    if (!this.#stable) return;
    if (decisive) {
      this.#stable = false;
      this.#waiting.clear();
    }
    if (table !== 'pods') return;
    const { uid, name, namespace = '', annotations = {}, ownerReferences = [] } = object.metadata;
    if (type === 'DELETED') this.#waiting.delete(uid);
    if (type === 'ADDED') {
      const ip = this.#store.get('ips.kubeovn.io', `${name}.${namespace}`);
      const { subnet = '' } = (ip?.['spec'] ?? {}) as { readonly subnet?: string };
      // If the Namespace evicts or rebinds misbound pods, the next pod of a StatefulSet keeps only a reserved address, unless the Namespace
      // still has that Subnet.
      const claims = this.#claims(namespace);
      const moves =
        (!claims.includes(subnet) || this.#poolsOf(namespace).some((one) => claims.includes(one))) &&
        ownerReferences.some(({ kind }) => kind === 'StatefulSet') &&
        ip?.metadata.labels?.['ovn.kubernetes.io/ip_reserved'] !== 'true' &&
        ['evict', 'rebind'].includes(this.#store.get('namespaces', namespace)?.metadata.annotations?.['kiln.io/misbound'] ?? '');
      const keeps = !moves && (ownerReferences.length > 0 || ip !== undefined);
      const requested: PodAnnotations = { annotations };
      const special = Object.keys(annotations).some((key) => key.includes('vip') || key.includes('networks') || key.includes('aaps'));
      if (!keeps && !special && annotation(requested, 'allocated') === '') this.#waiting.set(uid, requested);
      return;
    }
    const requested = this.#waiting.get(uid);
    const allocated: PodAnnotations = { annotations };
    if (requested === undefined) return;
    // A user wrote the annotations that a controller would write.
    if (this.#byHand() && annotation(allocated, 'allocated') !== '') this.#waiting.delete(uid);
    if (!this.#waiting.has(uid)) return;
    if (annotation(allocated, 'allocated') !== 'true') {
      // A user asks for something else before the pod has an address.
      if (REQUEST_SUFFIXES.some((suffix) => annotation(allocated, suffix) !== annotation(requested, suffix))) this.#waiting.delete(uid);
      return;
    }
    this.#waiting.delete(uid);
    // A user has reserved an address for the pod meanwhile.
    if (this.#store.get('ips.kubeovn.io', `${name}.${namespace}`)?.metadata.labels?.['ovn.kubernetes.io/ip_reserved'] === 'true') return;
    for (const what of this.#faults(namespace, requested, allocated))
      this.#findings.push({
        kind: `I7 allocated ${what.split(' ')[0] ?? ''}`,
        message: `I7: Pod ${namespace}/${name}, created right after everything had converged: ${what}`,
      });
  }

  #faults(namespace: string, requested: PodAnnotations, allocated: PodAnnotations): readonly string[] {
    const on = annotation(allocated, 'logical_switch');
    const addresses = splitList(annotation(allocated, 'ip_address'));
    const named = splitList(annotation(requested, 'ip_address'));
    const pool = annotation(requested, 'ip_pool');
    const lacks = named.filter((one) => !addresses.includes(canonical(one)));
    return [
      ...lacks.map((one) => `address ${one} was requested, and it has ${addresses.join(',')}`),
      ...this.#wrongSubnet(namespace, requested, on),
      ...(pool === '' || /[,;]/.test(pool) ? [] : this.#wrongPool(pool, addresses)),
      // The pools of a Namespace bind its pods also in a Subnet that they name.
      ...(pool === '' && named.length === 0 ? this.#outsidePools(namespace, on, addresses) : []),
      ...this.#wrongAddress(
        on,
        addresses,
        named.length > 0 || pool !== '' || this.#poolsOf(namespace).length > 0,
        annotation(requested, 'ip_family') !== '',
      ),
    ];
  }

  #wrongSubnet(namespace: string, requested: PodAnnotations, on: string): readonly string[] {
    // A pod that names it, or whose Namespace it lists, waits, and a condition reports it.
    if (on === JOIN_SUBNET) return [`Subnet is ${JOIN_SUBNET}, which joins nodes to the network and takes no pods`];
    const named = annotation(requested, 'logical_switch');
    if (named !== '') return named === on ? [] : [`Subnet ${named} was requested, and it is on ${on}`];
    if (annotation(requested, 'ip_pool') !== '') return [];
    const claims = this.#claims(namespace);
    // A Subnet whose `spec.vpc` was edited stays where it was, and its condition reports it.
    if (claims.some((one) => this.#store.get(SUBNETS, one) !== undefined && !this.#isAccepted(one))) return [];
    const pools = this.#poolsOf(namespace).filter((subnet) => claims.includes(subnet));
    const among = pools.length > 0 ? pools : claims;
    if (!among.includes(on)) return [`Subnet is ${on}, and its Namespace has ${claims.join(', ') || 'none'}`];
    if (pools.length > 0 || annotation(requested, 'ip_address') !== '') return [];
    const first = claims.find((one) => this.#store.get(SUBNETS, one)?.metadata.deletionTimestamp === undefined);
    return first === undefined || first === on || !this.#hasFreeAddresses(first)
      ? []
      : [`Subnet is ${on}, and ${first} comes first in its Namespace and has free addresses`];
  }

  /** Subnets of the IPPools of a Namespace. */
  #poolsOf(namespace: string): readonly string[] {
    return this.#store
      .list(POOLS)
      .filter(({ spec }) => ((spec as { readonly namespaces?: readonly string[] }).namespaces ?? []).includes(namespace))
      .map(({ spec }) => (spec as { readonly subnet: string }).subnet);
  }

  /** Whether its whole spec is in effect. */
  #isAccepted(name: string): boolean {
    const { conditions = [] } = (this.#store.get(SUBNETS, name)?.['status'] ?? {}) as {
      readonly conditions?: readonly Partial<Condition>[];
    };
    return conditions.some(({ type, status, message = '' }) => type === 'Accepted' && status === 'True' && message === '');
  }

  /** Subnets of a Namespace in declared order. */
  #claims(namespace: string): readonly string[] {
    const { labels = {}, annotations = {} } = this.#store.get('namespaces', namespace)?.metadata ?? {};
    const vpcs = this.#store.list(VPCS).filter(({ metadata, spec }) => {
      const { namespaces = [] } = spec as { readonly namespaces?: readonly string[] };
      // As in Kube-OVN, no Vpc takes `kube-system`.
      return metadata.name !== DEFAULT_VPC && namespace !== 'kube-system' && namespaces.includes(namespace);
    });
    const ofVpcs = vpcs.flatMap(({ metadata, spec }) => {
      const { defaultSubnet = '' } = spec as { readonly defaultSubnet?: string };
      const subnet = this.#store.get(SUBNETS, defaultSubnet);
      const vpc = subnet === undefined ? metadata.name : specOf(subnet).vpc || DEFAULT_VPC;
      return defaultSubnet !== '' && vpc === metadata.name ? [defaultSubnet] : [];
    });
    const subnets = this.#store.list(SUBNETS).filter((subnet) => ['', 'ovn'].includes(specOf(subnet).provider ?? ''));
    const listing = subnets.filter((subnet) => (specOf(subnet).namespaces ?? []).includes(namespace));
    const selecting = subnets.filter((subnet) => (specOf(subnet).namespaceSelectors ?? []).some((one) => selectorMatches(one, labels)));
    const names = [...ofVpcs, ...[listing, selecting].flatMap((some) => some.map(({ metadata }) => metadata.name).toSorted())];
    // The Namespace waits for a Subnet that does not name it yet: its pods wait.
    const awaited = (annotations[kilnAnnotation.awaitSubnet] ?? '').trim();
    if (awaited !== '' && (awaited === 'true' ? names.length === 0 : !splitList(awaited).every((one) => names.includes(one)))) return [];
    const pools = this.#store.list(POOLS).filter(({ spec }) => {
      const { namespaces = [], subnet = '' } = spec as { readonly namespaces?: readonly string[]; readonly subnet?: string };
      return namespaces.includes(namespace) && names.includes(subnet);
    });
    const awaitedPool = (annotations[kilnAnnotation.awaitIpPool] ?? '').trim();
    const has = (pool: string): boolean => pools.some(({ metadata }) => metadata.name === pool);
    if (awaitedPool !== '' && (awaitedPool === 'true' ? pools.length === 0 : !splitList(awaitedPool).every(has))) return [];
    return names.length > 0 ? [...new Set(names)] : vpcs.length > 0 ? [] : [DEFAULT_SUBNET];
  }

  #hasFreeAddresses(name: string): boolean {
    const subnet = this.#store.get(SUBNETS, name);
    const status = (subnet?.['status'] ?? {}) as Readonly<Record<string, unknown>>;
    const families = splitList(subnet === undefined ? '' : (specOf(subnet).cidrBlock ?? '')).map((cidr) => parseCidr(cidr)?.family);
    // Leaves room for pods that were created at the same time.
    return families.length > 0 && families.every((family) => Number(status[family === 4 ? 'v4availableIPs' : 'v6availableIPs'] ?? 0) > 8);
  }

  /** If IPPools of the Subnet are bound to the Namespace, its pods have addresses of these. */
  #outsidePools(namespace: string, on: string, addresses: readonly string[]): readonly string[] {
    if (!this.#isAccepted(on)) return [];
    const bound = this.#store.list(POOLS).filter(({ spec, status, metadata }) => {
      const { namespaces = [], subnet } = spec as { readonly namespaces?: readonly string[]; readonly subnet?: string };
      return namespaces.includes(namespace) && subnet === on && isReady(status) && metadata.deletionTimestamp === undefined;
    });
    const ranges = bound.flatMap(({ spec }) =>
      ((spec as { readonly ips?: readonly string[] }).ips ?? []).flatMap((item) => parseRangeOrCidr(item) ?? []),
    );
    return addresses.flatMap((text) => {
      const address = parseAddress(text);
      const own = ranges.filter(({ family }) => family === address?.family);
      if (address === undefined || own.length === 0 || own.some(({ first, last }) => address.value >= first && address.value <= last))
        return [];
      return [`address ${text} is of no IPPool of its Namespace (${bound.map(({ metadata }) => metadata.name).join(', ')})`];
    });
  }

  #wrongPool(name: string, addresses: readonly string[]): readonly string[] {
    const pool = this.#store.get(POOLS, name);
    if (pool === undefined) return [`pool ${name} was requested, which does not exist, and it has ${addresses.join(',')}`];
    const ranges = ((pool['spec'] as { readonly ips?: readonly string[] }).ips ?? []).flatMap((item) => parseRangeOrCidr(item) ?? []);
    return addresses.flatMap((text) => {
      const address = parseAddress(text);
      const own = ranges.filter(({ family }) => family === address?.family);
      if (address === undefined || own.length === 0 || own.some(({ first, last }) => address.value >= first && address.value <= last))
        return [];
      return [`address ${text} is not of IPPool ${name}, which was requested`];
    });
  }

  #wrongAddress(name: string, addresses: readonly string[], byName: boolean, oneFamily: boolean): readonly string[] {
    const subnet = this.#store.get(SUBNETS, name);
    if (subnet === undefined || !this.#isAccepted(name)) return [];
    const { cidrBlock = '', gateway = '', excludeIps = [] } = specOf(subnet);
    const cidrs = splitList(cidrBlock).flatMap((text) => parseCidr(text) ?? []);
    const excluded = excludeIps.flatMap((item) => parseRange(item) ?? []);
    const faults = addresses.flatMap((text) => {
      const address = parseAddress(text);
      if (address === undefined) return [`"${text}" is not an address`];
      if (!cidrs.some((cidr) => cidr.family === address.family && cidrContains(cidr, address)))
        return [`address ${text} is not in ${cidrBlock} of ${name}`];
      if (splitList(gateway).map(canonical).includes(text)) return [`address ${text} is the gateway of ${name}`];
      const isExcluded = excluded.some(
        ({ family, first, last }) => family === address.family && address.value >= first && address.value <= last,
      );
      return isExcluded && !byName ? [`address ${text} is excluded by spec.excludeIps of ${name}`] : [];
    });
    const families =
      byName || oneFamily || addresses.length === cidrs.length ? [] : [`families are ${addresses.length}, and ${name} has ${cidrBlock}`];
    return [...faults, ...families];
  }
}

/** Whether something that the network of pods depends on has changed. */
export function isDecisive({ type, table, object, previous }: StoreEvent): boolean {
  if (!DECIDING.has(table)) return false;
  return type !== 'MODIFIED' || !(isShared(object, previous) || decisiveParts(object) === decisiveParts(previous));
}

/** A cheap check first: an update shares the parts that it leaves as they are with the former object. Most updates are of a status. */
function isShared({ spec, metadata }: KubeObject, previous: KubeObject | undefined): boolean {
  const { labels, annotations, deletionTimestamp } = previous?.metadata ?? {};
  return (
    spec === previous?.['spec'] &&
    metadata.labels === labels &&
    metadata.annotations === annotations &&
    metadata.deletionTimestamp === deletionTimestamp
  );
}

function isReady(status: unknown): boolean {
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Partial<Condition>[] };
  return conditions.some((one) => one.type === 'Ready' && one.status === 'True');
}

function isInvalid(status: unknown): boolean {
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Partial<Condition>[] };
  return conditions.some((one) => one.type === 'Error' && one.status === 'True');
}

/** The parts of an object that a pod's network depends on, as text. */
function decisiveParts(object: KubeObject | undefined): string {
  const { metadata } = object ?? {};
  const annotations = Object.entries(metadata?.annotations ?? {}).filter(
    ([key]) => key.startsWith('kiln.io/') && key !== 'kiln.io/conditions',
  );
  return JSON.stringify([object?.['spec'], metadata?.labels, annotations, metadata?.deletionTimestamp], (_key, one: unknown) =>
    typeof one === 'bigint' ? String(one) : one,
  );
}

function specOf(subnet: KubeObject): SubnetSpec {
  return (subnet['spec'] ?? {}) as SubnetSpec;
}

function canonical(text: string): string {
  const address = parseAddress(text);
  return address === undefined ? text : formatAddress(address);
}
