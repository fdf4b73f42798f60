/**
 * The pod of a StatefulSet that is made again has the address and the MAC that it had when all was quiet, where nobody changed meanwhile what that follows
 * from. Read from objects alone, by no rule.
 */
import type { Condition } from '../../src/api/kubernetes/meta.ts';
import type { SubnetSpec } from '../../src/api/kinds/subnet.ts';
import { kilnAnnotation, podAnnotation } from '../../src/api/well-known.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore, StoreEvent } from '../../src/lab/apiserver/store.ts';
import { parseAddress } from '../../src/net/address.ts';
import { cidrContains, parseCidr } from '../../src/net/cidr.ts';
import { splitList } from '../../src/net/dual.ts';
import type { Finding } from './judge.ts';
import { isDecisive } from './newcomers.ts';

const SUBNETS = 'subnets.kubeovn.io';
const IPS = 'ips.kubeovn.io';
const POOLS = 'ippools.kubeovn.io';

interface Place {
  /** Uid of the pod that had it. */
  readonly pod: string;
  readonly set: string;
  readonly subnet: string;
  readonly address: string;
  readonly mac: string;
}

const say = ({ metadata }: KubeObject, suffix: 'allocated' | 'logical_switch' | 'ip_address' | 'mac_address'): string =>
  metadata.annotations?.[podAnnotation('ovn', suffix)] ?? '';

function setOf({ metadata }: KubeObject): { readonly name: string; readonly uid: string } | undefined {
  return metadata.ownerReferences?.find(({ kind, controller }) => kind === 'StatefulSet' && controller === true);
}

export class Returners {
  readonly #store: ObjectStore;
  readonly #byHand: () => boolean;
  readonly #findings: Finding[] = [];
  /** By pod, `<namespace>/<name>`. */
  readonly #kept = new Map<string, Place>();

  /** @param byHand whether a person acts now */
  constructor(store: ObjectStore, byHand: () => boolean) {
    this.#store = store;
    this.#byHand = byHand;
    store.watchAll((event) => this.#look(event));
  }

  /** All is quiet and judged. */
  remember(): void {
    this.#kept.clear();
    for (const pod of this.#store.list('pods')) {
      const place = this.#placeOf(pod);
      if (place !== undefined) this.#kept.set(`${pod.metadata.namespace ?? ''}/${pod.metadata.name}`, place);
    }
  }

  judge(): readonly Finding[] {
    return this.#findings.splice(0);
  }

  #placeOf(pod: KubeObject): Place | undefined {
    const { name, namespace = '', uid, deletionTimestamp } = pod.metadata;
    const owner = setOf(pod);
    if (owner === undefined || deletionTimestamp !== undefined || say(pod, 'allocated') !== 'true') return undefined;
    const set = this.#store.get('statefulsets', `${namespace}/${owner.name}`);
    const { replicas = 1, ordinals } = (set?.['spec'] ?? {}) as {
      readonly replicas?: number;
      readonly ordinals?: { readonly start?: number };
    };
    const place = Number(name.slice(owner.name.length + 1)) - (ordinals?.start ?? 0);
    const isWanted = set?.metadata.deletionTimestamp === undefined && place >= 0 && place < replicas;
    if (set?.metadata.uid !== owner.uid || !isWanted) return undefined;
    const [subnet, address] = [say(pod, 'logical_switch'), say(pod, 'ip_address')];
    const ip = this.#store.get(IPS, `${name}.${namespace}`);
    const { ipAddress, podType } = (ip?.['spec'] ?? {}) as { readonly ipAddress?: string; readonly podType?: string };
    const { annotations = {} } = ip?.metadata ?? {};
    const isKeptAlone = annotations[kilnAnnotation.conditions] === undefined && annotations[kilnAnnotation.lease] === undefined;
    if (ipAddress !== address || podType !== 'StatefulSet' || !isKeptAlone || ip?.metadata.deletionTimestamp !== undefined)
      return undefined;
    return this.#serves(subnet, namespace) && this.#has(subnet, address)
      ? { pod: uid, set: owner.uid, subnet, address, mac: say(pod, 'mac_address') }
      : undefined;
  }

  /**
   * No address outside of `spec.cidrBlock` is kept for the next pod. Such a Subnet mostly says that it is not accepted as it is asked; where its
   * Vpc's router is another program's, no port there says which network it had, and it has the one that it asks for.
   */
  #has(subnet: string, addresses: string): boolean {
    const { cidrBlock = '' } = (this.#store.get(SUBNETS, subnet)?.['spec'] ?? {}) as SubnetSpec;
    const cidrs = splitList(cidrBlock).flatMap((text) => parseCidr(text) ?? []);
    return splitList(addresses).every((text) => {
      const address = parseAddress(text);
      return address !== undefined && cidrs.some((cidr) => cidr.family === address.family && cidrContains(cidr, address));
    });
  }

  /** The Subnet stays, and the Namespace does not move who is in it. */
  #serves(name: string, namespace: string): boolean {
    const subnet = this.#store.get(SUBNETS, name);
    const { namespaces = [] } = (subnet?.['spec'] ?? {}) as SubnetSpec;
    const { conditions = [] } = (subnet?.['status'] ?? {}) as { readonly conditions?: readonly Partial<Condition>[] };
    const isAccepted = conditions.some(({ type, status, message = '' }) => type === 'Accepted' && status === 'True' && message === '');
    const isPooled = this.#store
      .list(POOLS)
      .some(({ spec }) => ((spec as { readonly namespaces?: readonly string[] }).namespaces ?? []).includes(namespace));
    const policy = this.#store.get('namespaces', namespace)?.metadata.annotations?.[kilnAnnotation.misbound] ?? 'report';
    const stays = policy === 'report' || namespaces.includes(namespace);
    return isAccepted && subnet?.metadata.deletionTimestamp === undefined && !isPooled && stays;
  }

  #look(event: StoreEvent): void {
    if (this.#kept.size === 0) return;
    const { type, table, object } = event;
    if (isDecisive(event)) this.#kept.clear();
    else if (this.#byHand()) this.#touched(table, object);
    else if (table === 'pods' && type !== 'DELETED' && say(object, 'allocated') === 'true') this.#given(object);
  }

  /** A person did something to it: what it has to do with is not held against anybody. */
  #touched(table: string, object: KubeObject): void {
    const { name, namespace = '', uid } = object.metadata;
    const own = table === 'pods' ? this.#kept.get(`${namespace}/${name}`) : undefined;
    if (own?.pod === uid) return;
    // The pod that is made again is told where to be.
    if (own !== undefined && setOf(object)?.uid === own.set) this.#kept.delete(`${namespace}/${name}`);
    const text = JSON.stringify(object, (_key, one: unknown) => (typeof one === 'bigint' ? String(one) : one));
    for (const [pod, { set, address }] of this.#kept) {
      const [ns = '', own = ''] = pod.split('/');
      if (uid === set || (table === IPS && name.startsWith(`${own}.${ns}`)) || text.includes(`"${address}`)) this.#kept.delete(pod);
    }
  }

  #given(pod: KubeObject): void {
    const { name, namespace = '', uid } = pod.metadata;
    const key = `${namespace}/${name}`;
    const before = this.#kept.get(key);
    if (before === undefined || before.pod === uid || setOf(pod)?.uid !== before.set) return;
    this.#kept.delete(key);
    const text = (place: Pick<Place, 'subnet' | 'address' | 'mac'>): string => `${place.address} ${place.mac} of ${place.subnet}`;
    const [had, has] = [before, { subnet: say(pod, 'logical_switch'), address: say(pod, 'ip_address'), mac: say(pod, 'mac_address') }].map(
      text,
    );
    if (had === has) return;
    const message = `Pod ${key} of a StatefulSet had ${had ?? ''}, was made again, and has ${has ?? ''}`;
    this.#findings.push({ kind: 'I1 returned', message: `I1: ${message}` });
  }
}
