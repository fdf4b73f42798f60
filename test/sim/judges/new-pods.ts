/**
 * Pods that come right after all was quiet, while nobody changes what their network follows from: each is given what it asks for, in a
 * Subnet that its Namespace or itself names. Read from specs alone, by no rule.
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
import type { Finding, Judge } from './judge.ts';

const SUBNETS = 'subnets.kubeovn.io';
const VPCS = 'vpcs.kubeovn.io';
const POOLS = 'ippools.kubeovn.io';
/** What a pod's network follows from. */
const DECIDING: ReadonlySet<string> = new Set([
  SUBNETS,
  VPCS,
  POOLS,
  'namespaces',
  'vips.kubeovn.io',
  'network-attachment-definitions.k8s.cni.cncf.io',
]);

type Suffix = 'allocated' | 'logical_switch' | 'ip_address' | 'ip_pool' | 'ip_family' | 'gateway' | 'cidr';

/** By which a pod asks for what it is to have. */
const WORDS: readonly Suffix[] = ['logical_switch', 'ip_address', 'ip_pool', 'ip_family'];

interface Asked {
  readonly annotations: Readonly<Record<string, string>>;
}

function say({ annotations }: Asked, suffix: Suffix): string {
  return (annotations[podAnnotation('ovn', suffix)] ?? '').trim();
}

export class NewPods implements Judge {
  readonly #store: ObjectStore;
  readonly #byHand: () => boolean;
  readonly #findings: Finding[] = [];
  /** Nothing that decides has changed since the last rest. */
  #settled = false;
  /** Whether a Subnet is refused has not changed since. */
  #decided = false;
  /** By uid: pods that came since, with what they asked for. */
  readonly #waiting = new Map<string, Asked>();

  /** @param byHand whether a person acts now */
  constructor(store: ObjectStore, byHand: () => boolean) {
    this.#store = store;
    this.#byHand = byHand;
    store.watchAll((event) => this.#look(event));
  }

  /** All is quiet. */
  remember(): void {
    this.#settled = true;
    this.#decided = true;
    this.#waiting.clear();
  }

  /** False where each Subnet of the Namespace is surely refused. */
  takesPods(namespace: string): boolean {
    const claims = this.#decided ? this.#claims(namespace) : [];
    return claims.length === 0 || claims.some((one) => !isRefused(this.#store.get(SUBNETS, one)?.['status']));
  }

  atRest(): readonly Finding[] {
    return [...this.#findings.splice(0), ...this.#leftWaiting()];
  }

  /** Who asks for nothing of its own has an address by now, where its Namespace plainly has a Subnet with room. */
  #leftWaiting(): readonly Finding[] {
    return this.#store.list('pods').flatMap(({ metadata, spec, status }): Finding[] => {
      const { uid, name, namespace = '', deletionTimestamp, annotations = {} } = metadata;
      const asked = this.#waiting.get(uid);
      const { nodeName, hostNetwork } = spec as { readonly nodeName?: string; readonly hostNetwork?: boolean };
      const { phase = 'Pending' } = (status ?? {}) as { readonly phase?: string };
      const own = Object.keys(annotations).some((key) => key.includes('kubernetes.io/') || key.includes('networks'));
      if (asked === undefined || own || deletionTimestamp !== undefined || nodeName === undefined || hostNetwork === true) return [];
      if (phase === 'Succeeded' || phase === 'Failed' || this.#store.get('ips.kubeovn.io', `${name}.${namespace}`) !== undefined) return [];
      // A Subnet that is being deleted takes nobody new, and is passed over.
      const open = this.#claims(namespace).filter((one) => this.#store.get(SUBNETS, one)?.metadata.deletionTimestamp === undefined);
      // Nor does the one that joins nodes, whatever it lists: the pod is told so.
      const isPlain = open.every(
        (one) => one !== JOIN_SUBNET && this.#isAccepted(one) && isReady(this.#store.get(SUBNETS, one)?.['status']),
      );
      const roomy = open.find((one) => this.#hasRoom(one));
      if (roomy === undefined || !isPlain || this.#poolsOf(namespace).length > 0) return [];
      const message = `I7: Pod ${namespace}/${name} came right after all was quiet and has no address, and its Namespace has Subnet ${roomy}, which has room`;
      return [{ kind: 'I7 given nothing', message }];
    });
  }

  #look(event: StoreEvent): void {
    const { type, table, object } = event;
    const decisive = isDecisive(event);
    if (table === 'nodes' || (decisive && (table === SUBNETS || table === VPCS))) this.#decided = false;
    if (!this.#settled) return;
    if (decisive) {
      this.#settled = false;
      this.#waiting.clear();
    }
    if (table !== 'pods') return;
    const { uid, name, namespace = '', annotations = {}, ownerReferences = [] } = object.metadata;
    if (type === 'DELETED') this.#waiting.delete(uid);
    if (type === 'ADDED') {
      const ip = this.#store.get('ips.kubeovn.io', `${name}.${namespace}`);
      const { subnet = '' } = (ip?.['spec'] ?? {}) as { readonly subnet?: string };
      // Where pods are moved, the next one of a StatefulSet keeps nothing that is not reserved for it, unless its Namespace has that Subnet still.
      const claims = this.#claims(namespace);
      const moves =
        (!claims.includes(subnet) || this.#poolsOf(namespace).some((one) => claims.includes(one))) &&
        ownerReferences.some(({ kind }) => kind === 'StatefulSet') &&
        ip?.metadata.labels?.['ovn.kubernetes.io/ip_reserved'] !== 'true' &&
        ['evict', 'rebind'].includes(this.#store.get('namespaces', namespace)?.metadata.annotations?.['kiln.io/misbound'] ?? '');
      const keeps = !moves && (ownerReferences.length > 0 || ip !== undefined);
      const asked: Asked = { annotations };
      const special = Object.keys(annotations).some((key) => key.includes('vip') || key.includes('networks') || key.includes('aaps'));
      if (!keeps && !special && say(asked, 'allocated') === '') this.#waiting.set(uid, asked);
      return;
    }
    const asked = this.#waiting.get(uid);
    const given: Asked = { annotations };
    if (asked === undefined) return;
    // A person writes what a controller would report.
    if (this.#byHand() && say(given, 'allocated') !== '') this.#waiting.delete(uid);
    if (!this.#waiting.has(uid)) return;
    if (say(given, 'allocated') !== 'true') {
      // Somebody asks for something else before it has any.
      if (WORDS.some((word) => say(given, word) !== say(asked, word))) this.#waiting.delete(uid);
      return;
    }
    this.#waiting.delete(uid);
    // Somebody has kept an address for it meanwhile.
    if (this.#store.get('ips.kubeovn.io', `${name}.${namespace}`)?.metadata.labels?.['ovn.kubernetes.io/ip_reserved'] === 'true') return;
    for (const what of this.#faults(namespace, asked, given))
      this.#findings.push({
        kind: `I7 given ${what.split(' ')[0] ?? ''}`,
        message: `I7: Pod ${namespace}/${name}, right after all was quiet: ${what}`,
      });
  }

  #faults(namespace: string, asked: Asked, given: Asked): readonly string[] {
    const on = say(given, 'logical_switch');
    const addresses = splitList(say(given, 'ip_address'));
    const named = splitList(say(asked, 'ip_address'));
    const pool = say(asked, 'ip_pool');
    const lacks = named.filter((one) => !addresses.includes(canonical(one)));
    return [
      ...lacks.map((one) => `address ${one} was asked for, and it has ${addresses.join(',')}`),
      ...this.#wrongSubnet(namespace, asked, on),
      ...(pool === '' || /[,;]/.test(pool) ? [] : this.#wrongPool(pool, addresses)),
      // The pools of a Namespace bind its pods in a Subnet that they name as well.
      ...(pool === '' && named.length === 0 ? this.#besidePools(namespace, on, addresses) : []),
      ...this.#wrongAddress(
        on,
        addresses,
        named.length > 0 || pool !== '' || this.#poolsOf(namespace).length > 0,
        say(asked, 'ip_family') !== '',
      ),
    ];
  }

  #wrongSubnet(namespace: string, asked: Asked, on: string): readonly string[] {
    // Whoever names it, or lists its Namespace there, waits and is told so.
    if (on === JOIN_SUBNET) return [`Subnet is ${JOIN_SUBNET}, which joins nodes to the network and has no pods`];
    const named = say(asked, 'logical_switch');
    if (named !== '') return named === on ? [] : [`Subnet ${named} was asked for, and it is on ${on}`];
    if (say(asked, 'ip_pool') !== '') return [];
    const claims = this.#claims(namespace);
    // One whose spec.vpc was edited stays where it was, and says so.
    if (claims.some((one) => this.#store.get(SUBNETS, one) !== undefined && !this.#isAccepted(one))) return [];
    const pools = this.#poolsOf(namespace).filter((subnet) => claims.includes(subnet));
    const among = pools.length > 0 ? pools : claims;
    if (!among.includes(on)) return [`Subnet is ${on}, and its Namespace has ${claims.join(', ') || 'none'}`];
    if (pools.length > 0 || say(asked, 'ip_address') !== '') return [];
    const first = claims.find((one) => this.#store.get(SUBNETS, one)?.metadata.deletionTimestamp === undefined);
    return first === undefined || first === on || !this.#hasRoom(first)
      ? []
      : [`Subnet is ${on}, and ${first} comes first in its Namespace and has room`];
  }

  /** Subnets of the IPPools of a Namespace. */
  #poolsOf(namespace: string): readonly string[] {
    return this.#store
      .list(POOLS)
      .filter(({ spec }) => ((spec as { readonly namespaces?: readonly string[] }).namespaces ?? []).includes(namespace))
      .map(({ spec }) => (spec as { readonly subnet: string }).subnet);
  }

  /** Carried out as its spec says, all of it. */
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
      // As Kube-OVN has it, no Vpc takes that one.
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
    // What it waits for is none of those that it has: its pods wait.
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

  #hasRoom(name: string): boolean {
    const subnet = this.#store.get(SUBNETS, name);
    const status = (subnet?.['status'] ?? {}) as Readonly<Record<string, unknown>>;
    const families = splitList(subnet === undefined ? '' : (specOf(subnet).cidrBlock ?? '')).map((cidr) => parseCidr(cidr)?.family);
    // A few more may have come with it.
    return families.length > 0 && families.every((family) => Number(status[family === 4 ? 'v4availableIPs' : 'v6availableIPs'] ?? 0) > 8);
  }

  /** IPPools of the Subnet are bound to the Namespace: its pods have their addresses from these. */
  #besidePools(namespace: string, on: string, addresses: readonly string[]): readonly string[] {
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
    if (pool === undefined) return [`pool ${name} was asked for, which does not exist, and it has ${addresses.join(',')}`];
    const ranges = ((pool['spec'] as { readonly ips?: readonly string[] }).ips ?? []).flatMap((item) => parseRangeOrCidr(item) ?? []);
    return addresses.flatMap((text) => {
      const address = parseAddress(text);
      const own = ranges.filter(({ family }) => family === address?.family);
      if (address === undefined || own.length === 0 || own.some(({ first, last }) => address.value >= first && address.value <= last))
        return [];
      return [`address ${text} is not of IPPool ${name}, which was asked for`];
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
      if (address === undefined) return [`address ${text} is none`];
      if (!cidrs.some((cidr) => cidr.family === address.family && cidrContains(cidr, address)))
        return [`address ${text} is not in ${cidrBlock} of ${name}`];
      if (splitList(gateway).map(canonical).includes(text)) return [`address ${text} is the gateway of ${name}`];
      const kept = excluded.some(({ family, first, last }) => family === address.family && address.value >= first && address.value <= last);
      return kept && !byName ? [`address ${text} is kept back by spec.excludeIps of ${name}`] : [];
    });
    const families =
      byName || oneFamily || addresses.length === cidrs.length ? [] : [`families are ${addresses.length}, and ${name} has ${cidrBlock}`];
    return [...faults, ...families];
  }
}

/** What pods' networks follow from has changed. */
export function isDecisive({ type, table, object, previous }: StoreEvent): boolean {
  if (!DECIDING.has(table)) return false;
  return type !== 'MODIFIED' || !(isShared(object, previous) || decides(object) === decides(previous));
}

/** What an update leaves as it is it shares with the object before: most are of a status. */
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

function isRefused(status: unknown): boolean {
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Partial<Condition>[] };
  return conditions.some((one) => one.type === 'Error' && one.status === 'True');
}

/** What of an object decides, as text. */
function decides(object: KubeObject | undefined): string {
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
