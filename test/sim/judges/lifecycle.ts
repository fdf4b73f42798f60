/**
 * What was so at the last rest, and what may not follow from it. Rules that are wrong in the same way for everybody leave nothing that
 * a fresh controller would change: this looks at what happened, without asking any rule.
 */
import type { KubeObject } from '../../../lab/apiserver/object.ts';
import type { ObjectStore, StoreEvent } from '../../../lab/apiserver/store.ts';
import { annotationKey, DEFAULT_SUBNET, FINALIZER, kilnAnnotation, POD_CONDITION, podAnnotation } from '../../../src/api/well-known.ts';
import { splitList } from '../../../src/net/dual.ts';
import { selectorMatches } from '../../../src/api/kubernetes/label-selector.ts';
import type { SubnetSpec } from '../../../src/api/kinds/subnet.ts';
import type { Field } from './holders.ts';
import { claimsOf, HELD, HOLDING, IPS, isAccepted, specOf, SUBNETS, text } from './holders.ts';
import { EPOCH } from '../cluster/virtual-time.ts';
import type { Finding, Judge, Rest } from './judge.ts';

function asksForEvictions({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[kilnAnnotation.misbound]?.trim() === 'evict';
}

/** `<Subnet> <address>` of each that it says. */
function addressesOf(ip: KubeObject): readonly string[] {
  const { subnet, v4IpAddress, v6IpAddress } = specOf(ip);
  return [v4IpAddress, v6IpAddress].flatMap((one) => (text(one) === '' ? [] : [`${text(subnet)} ${text(one)}`]));
}

/** The pod that an IP object says it is for; with an empty namespace the node. */
function userOf(ip: KubeObject): string {
  const { podName, namespace } = specOf(ip);
  return `${text(namespace)}/${text(podName)}`;
}

/** A controller looks at its clock, and not all the time. */
const LATE_MS = 3_000;

/** Its containers have ended for good, or the time that it was given to end is over. @param now as for `judge` */
export function isOver(pod: KubeObject, now: number | undefined): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  const { restartPolicy, terminationGracePeriodSeconds } = specOf(pod);
  const { phase, reason } = (pod['status'] ?? {}) as Field;
  const again = restartPolicy ?? 'Always';
  if (phase === 'Succeeded' && again !== 'Always') return true;
  if (phase === 'Failed' && (again === 'Never' || reason === 'Evicted')) return true;
  if (deletionTimestamp === undefined || now === undefined) return false;
  const grace = deletionGracePeriodSeconds ?? Number(terminationGracePeriodSeconds ?? 30);
  return Date.parse(deletionTimestamp) + grace * 1_000 + LATE_MS < now;
}

function keyOf({ metadata: { namespace = '', name } }: KubeObject): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

interface Said {
  readonly type: string;
  readonly status: string;
}

/** A row that carries this uid as its owner's: of all tables, or with this name, of ports where no table is named. */
type RowOf = (uid: string, name?: string, table?: string) => string | undefined;

/** A port of this name and pod without a mark of who owns it, as Kube-OVN leaves them. */
type UnownedPort = (name: string, pod: string) => string | undefined;

export class Lifecycle implements Judge {
  readonly #store: ObjectStore;
  readonly #rowOf: RowOf;
  readonly #unownedPort: UnownedPort;
  readonly findings: Finding[] = [];
  /** By what was held at the last rest (`<table> <name>`): uids of who held it. */
  #holders = new Map<string, string[]>();
  /** Where these are. */
  #places = new Map<string, readonly [table: string, key: string]>();
  /** Uids of what is being deleted. */
  readonly #deleting = new Set<string>();
  /** Namespaces that a Subnet claimed at the last rest, with uid and generation of that Subnet and version of the Namespace. */
  #claimed = new Map<string, string>();
  #pods = new Set<string>();
  /** Uids of IP objects by `<Subnet> <address>`, where one alone had it at the last rest. */
  #had = new Map<string, string>();
  /** Uids of IP objects that somebody edited since. */
  readonly #handled = new Set<string>();
  /** Namespaces that ask for evictions, or did since the last rest: a controller may not have seen yet that one takes its word back. */
  #evicting = new Set<string>();
  /** Uids of pods that came with a network, as from a backup: they keep it, and are told. */
  readonly #restored = new Set<string>();
  /** Uids of pods whose containers have ended for good, though somebody may say since that they run. */
  readonly #ended = new Set<string>();
  /** Uids of pods that themselves named the default Subnet, or a Vip, when they came. */
  readonly #askedForIt = new Set<string>();
  /** Uids of what a person took the finalizers from: its rows go after it. */
  readonly #stripped = new Set<string>();
  /** Whether a person acts now: what goes then is their doing. */
  readonly #byHand: () => boolean;

  constructor(store: ObjectStore, byHand: () => boolean, rowOf: RowOf, unownedPort: UnownedPort) {
    this.#store = store;
    this.#byHand = byHand;
    this.#rowOf = rowOf;
    this.#unownedPort = unownedPort;
    store.watchAll((event) => this.#look(event));
  }

  /** All is quiet and judged. */
  remember(): void {
    this.#holders = new Map();
    this.#places = new Map();
    for (const table of HOLDING) {
      for (const object of this.#store.list(table)) {
        for (const held of this.#claimsOf(table, object)) {
          this.#places.set(object.metadata.uid, [table, keyOf(object)]);
          this.#holders.set(held, [...(this.#holders.get(held) ?? []), object.metadata.uid]);
        }
      }
    }
    this.#had = this.#addresses();
    this.#handled.clear();
    this.#claimed = this.#claims();
    this.#evicting = new Set(
      this.#store
        .list('namespaces')
        .filter(asksForEvictions)
        .map(({ metadata }) => metadata.name),
    );
    this.#pods = new Set(this.#store.list('pods').map(({ metadata }) => metadata.uid));
  }

  evicts(namespace: string): boolean {
    return this.#evicting.has(namespace);
  }

  /** @returns what must not have come about since the last rest */
  atRest({ cluster }: Rest): readonly Finding[] {
    // Not known where some process has another date.
    const now = cluster.dateJumped ? undefined : EPOCH + cluster.time.now;
    const over = (pod: KubeObject): boolean => isOver(pod, now);
    return [
      ...this.findings.splice(0),
      ...this.#fellBack(),
      ...this.#leaked(over),
      ...this.#lingering(over),
      ...this.#dropped(now),
      ...this.#usurped(over),
    ];
  }

  hasEnded(uid: string | undefined): boolean {
    return uid !== undefined && this.#ended.has(uid);
  }

  /** What is held goes only when nobody holds it, and Kiln deletes nothing that somebody uses. */
  #look({ type, table, object }: StoreEvent): void {
    if (table === 'pods' && isOver(object, undefined)) this.#ended.add(object.metadata.uid);
    if (table === 'namespaces' && asksForEvictions(object)) this.#evicting.add(object.metadata.name);
    if (type === 'DELETED') this.#deleting.delete(object.metadata.uid);
    if (type === 'ADDED' && table === 'pods') {
      const { uid, annotations = {} } = object.metadata;
      if (annotations[podAnnotation('ovn', 'allocated')] === 'true') this.#restored.add(uid);
      if (annotations[podAnnotation('ovn', 'logical_switch')] === DEFAULT_SUBNET || (annotations[annotationKey.vip] ?? '') !== '')
        this.#askedForIt.add(uid);
    }
    if ((object.metadata.finalizers ?? []).length > 0) this.#stripped.delete(object.metadata.uid);
    else if (this.#byHand()) this.#stripped.add(object.metadata.uid);
    if (this.#byHand() && table === IPS) this.#handled.add(object.metadata.uid);
    if (this.#byHand() || !HELD.has(table)) {
      if (object.metadata.deletionTimestamp !== undefined) this.#deleting.add(object.metadata.uid);
      return;
    }
    const { name, uid, deletionTimestamp } = object.metadata;
    const begun = type !== 'DELETED' && deletionTimestamp !== undefined && !this.#deleting.has(uid);
    if (begun) this.#deleting.add(uid);
    if (type !== 'DELETED' && !begun) return;
    const left = type === 'DELETED' ? this.#rowLeftOf(table, object) : undefined;
    if (left !== undefined)
      this.findings.push({
        kind: `I5 rows ${object.kind}`,
        message: `I5: ${object.kind} ${name} was let go while its row ${left} was there`,
      });
    const holder = this.#holderOf(`${table} ${name}`);
    // Somebody edited it: it is another's now, and its pod has one of its own.
    if (holder === undefined || (table === IPS && userOf(object) !== `${holder.metadata.namespace ?? ''}/${holder.metadata.name}`)) return;
    const by = `${holder.kind} ${keyOf(holder)}`;
    this.findings.push(
      begun
        ? { kind: `I1 taken ${object.kind}`, message: `I1: ${object.kind} ${name} is deleted by a controller while ${by} uses it` }
        : { kind: `I5 early ${object.kind}`, message: `I5: ${object.kind} ${name} is gone while ${by} is in it` },
    );
  }

  /** What is let go leaves no row behind, not for a moment: nobody would know whose it was. */
  #rowLeftOf(table: string, object: KubeObject): string | undefined {
    const { name, uid, annotations = {} } = object.metadata;
    if (this.#stripped.has(uid)) return undefined;
    // A pod that is there knows its row, whatever somebody made of the object.
    const pod = annotations[kilnAnnotation.podUid];
    const isGone = pod !== undefined && !this.#store.list('pods').some(({ metadata }) => metadata.uid === pod);
    const own = this.#rowOf(uid) ?? (table === IPS && isGone ? this.#rowOf(pod, name) : undefined);
    const key = userOf(object);
    return own ?? (table === IPS && this.#store.get('pods', key) === undefined ? this.#unownedPort(name, key) : undefined);
  }

  /** Who held it at the last rest and still does. */
  #holderOf(held: string): KubeObject | undefined {
    for (const uid of this.#holders.get(held) ?? []) {
      const [table, key] = this.#places.get(uid) ?? ['', ''];
      const now = this.#store.get(table, key);
      if (now?.metadata.uid !== uid || !this.#claimsOf(table, now).includes(held)) continue;
      return now;
    }
    return undefined;
  }

  #claimsOf(table: string, object: KubeObject): readonly string[] {
    return claimsOf(table, object, (of, name) => this.#rowOf(object.metadata.uid, name, of) !== undefined);
  }

  #addresses(): Map<string, string> {
    const had = new Map<string, string>();
    // One that is refused for its name says its address too.
    const [said, twice] = [new Set<string>(), new Set<string>()];
    for (const ip of this.#store.list(IPS)) {
      const { uid, finalizers = [], annotations = {}, deletionTimestamp } = ip.metadata;
      for (const address of addressesOf(ip)) {
        if (said.has(address)) twice.add(address);
        said.add(address);
        if (finalizers.includes(FINALIZER) && deletionTimestamp === undefined && annotations[kilnAnnotation.vip] === undefined)
          had.set(address, uid);
      }
    }
    for (const address of twice) had.delete(address);
    return had;
  }

  #claims(): Map<string, string> {
    const claims = new Map<string, string>();
    for (const subnet of this.#store.list(SUBNETS)) {
      const { namespaces = [], provider } = specOf(subnet);
      if (
        subnet.metadata.deletionTimestamp !== undefined ||
        subnet.metadata.name === DEFAULT_SUBNET ||
        (provider !== undefined && provider !== 'ovn')
      )
        continue;
      if (!isAccepted(subnet)) continue;
      for (const name of namespaces as readonly string[]) {
        const namespace = this.#store.get('namespaces', name);
        if (namespace !== undefined && !this.#isOfDefault(namespace))
          claims.set(name, `${subnet.metadata.uid} ${subnet.metadata.generation ?? 0} ${namespace.metadata.uid}`);
      }
    }
    return claims;
  }

  /** The default Subnet claims it as others do, and is the first of them by name: nobody falls back who is on it. */
  #isOfDefault({ metadata }: KubeObject): boolean {
    const subnet = this.#store.get(SUBNETS, DEFAULT_SUBNET);
    if (subnet === undefined) return false;
    const { namespaces = [], namespaceSelectors = [] } = specOf(subnet) as Pick<SubnetSpec, 'namespaces' | 'namespaceSelectors'>;
    return namespaces.includes(metadata.name) || namespaceSelectors.some((selector) => selectorMatches(selector, metadata.labels ?? {}));
  }

  /** A new pod of a Namespace that has a Subnet is on the default one. */
  #fellBack(): readonly Finding[] {
    const now = this.#claims();
    return this.#store.list('pods').flatMap(({ metadata }) => {
      const { uid, namespace = '', name, annotations = {}, ownerReferences = [] } = metadata;
      const on = annotations[podAnnotation('ovn', 'logical_switch')];
      const claim = this.#claimed.get(namespace);
      // Who keeps an address keeps its Subnet.
      const keeps =
        ownerReferences.length > 0 ||
        this.#store.get(IPS, `${name}.${namespace}`)?.metadata.labels?.['ovn.kubernetes.io/ip_reserved'] === 'true';
      if (
        this.#pods.has(uid) ||
        this.#restored.has(uid) ||
        this.#askedForIt.has(uid) ||
        keeps ||
        on !== DEFAULT_SUBNET ||
        claim === undefined ||
        now.get(namespace) !== claim
      )
        return [];
      return [
        { kind: 'I7 fallback', message: `I7: Pod ${namespace}/${name} is on ${DEFAULT_SUBNET}, and its Namespace has a Subnet of its own` },
      ];
    });
  }

  /** An IP object of a pod that is gone, kept by nobody. */
  #leaked(over: (pod: KubeObject) => boolean): readonly Finding[] {
    const pods = new Set(
      this.#store
        .list('pods')
        .filter((pod) => !over(pod))
        .map(({ metadata }) => metadata.uid),
    );
    return this.#store.list(IPS).flatMap((ip) => {
      const { name, annotations = {}, labels = {}, deletionTimestamp } = ip.metadata;
      const pod = annotations[kilnAnnotation.podUid];
      if (pod === undefined || pods.has(pod) || deletionTimestamp !== undefined) return [];
      // Whoever comes next is not the one that it was for.
      if (labels['ovn.kubernetes.io/ip_reserved'] === 'true')
        return [{ kind: 'I1 reserved', message: `I1: IP ${name}, which a person keeps, says the uid of a pod that is gone (${pod})` }];
      if (this.#isKept(ip)) return [];
      return [{ kind: 'I1 leaked', message: `I1: IP ${name} is of a pod that is gone (uid ${pod}), and nobody keeps it` }];
    });
  }

  /** A pod that is over has no row: its address is another's to have. */
  #lingering(over: (pod: KubeObject) => boolean): readonly Finding[] {
    return this.#store.list('pods').flatMap((pod) => {
      const row = over(pod) ? this.#rowOf(pod.metadata.uid) : undefined;
      return row === undefined ? [] : [{ kind: 'I1 lingering', message: `I1: Pod ${keyOf(pod)} is over, and its row ${row} is there` }];
    });
  }

  /** Containers that have ended and are started again, and pods that are given time to end: whose they are keeps its address meanwhile. */
  #dropped(now: number | undefined): readonly Finding[] {
    return this.#store.list('pods').flatMap((pod) => {
      const { name, namespace = '', uid, annotations = {}, deletionTimestamp } = pod.metadata;
      const { phase, conditions = [] } = (pod['status'] ?? {}) as { readonly phase?: string; readonly conditions?: readonly Said[] };
      const ends = phase === 'Succeeded' || phase === 'Failed' || deletionTimestamp !== undefined;
      if (!ends || isOver(pod, now === undefined ? undefined : now + 2 * LATE_MS) || this.#restored.has(uid)) return [];
      if (deletionTimestamp !== undefined && now === undefined) return [];
      const isTold = conditions.some(({ type, status }) => type === POD_CONDITION && status === 'False');
      const say = (suffix: 'allocated' | 'virtualmachine'): string => annotations[podAnnotation('ovn', suffix)] ?? '';
      if (isTold || say('allocated') !== 'true' || say('virtualmachine') !== '') return [];
      if (this.#store.get(IPS, `${name}.${namespace}`) !== undefined) return [];
      return [{ kind: 'I1 dropped', message: `I1: Pod ${namespace}/${name} is not over, and its IP object is gone` }];
    });
  }

  /** An address that an IP object has had for long is not given to a pod that came since. */
  #usurped(over: (pod: KubeObject) => boolean): readonly Finding[] {
    return this.#store.list('pods').flatMap((pod) => {
      const { uid, name, namespace = '', annotations = {} } = pod.metadata;
      const say = (suffix: 'allocated' | 'logical_switch' | 'ip_address' | 'virtualmachine'): string =>
        annotations[podAnnotation('ovn', suffix)] ?? '';
      if (this.#pods.has(uid) || this.#restored.has(uid) || over(pod) || say('allocated') !== 'true' || say('virtualmachine') !== '')
        return [];
      if (annotations['ovn.kubernetes.io/vip'] !== undefined) return [];
      return splitList(say('ip_address')).flatMap((address) => {
        const had = this.#had.get(`${say('logical_switch')} ${address}`);
        const ip = had === undefined ? undefined : this.#store.list(IPS).find(({ metadata }) => metadata.uid === had);
        if (ip === undefined || ip.metadata.name === `${name}.${namespace}` || this.#handled.has(ip.metadata.uid)) return [];
        if (!addressesOf(ip).includes(`${say('logical_switch')} ${address}`)) return [];
        return [
          { kind: 'I6 usurped', message: `I6: Pod ${namespace}/${name} was given ${address}, which IP ${ip.metadata.name} has had before` },
        ];
      });
    });
  }

  /** By a machine, by the next pod of its name, or by a StatefulSet that has the ordinal. */
  #isKept(ip: KubeObject): boolean {
    const { podType } = specOf(ip);
    const key = userOf(ip);
    const uid = ip.metadata.annotations?.[kilnAnnotation.ownerUid];
    if (podType === 'VirtualMachine') return !this.#isOfOlderMachine(key, uid) && this.#isMachineThere(key);
    if (podType !== 'StatefulSet') return text(podType) !== '';
    const pod = this.#store.get('pods', key);
    if (pod !== undefined && (uid === undefined || pod.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true)) return true;
    const [, set = '', ordinal = ''] = /^(.*)-(\d+)$/.exec(key) ?? [];
    const { metadata, spec = {} } = (this.#store.get('statefulsets', set) ?? {}) as Partial<KubeObject> & { readonly spec?: Field };
    if (uid !== undefined && metadata?.uid !== uid) return false;
    const first = Number((spec['ordinals'] as Field | undefined)?.['start'] ?? 0);
    const isWanted = Number(ordinal) >= first && Number(ordinal) < first + Number(spec['replicas'] ?? 1);
    return metadata !== undefined && metadata.deletionTimestamp === undefined && isWanted;
  }
  /** It can be started, or runs, or a pod of it is there. */
  #isMachineThere(key: string): boolean {
    const [namespace = '', name = ''] = key.split('/');
    const stays = ['virtualmachines.kubevirt.io', 'virtualmachineinstances.kubevirt.io'].some((table) => {
      const object = this.#store.get(table, key);
      return object !== undefined && object.metadata.deletionTimestamp === undefined;
    });
    return stays || this.#runs(namespace, name);
  }

  #runs(namespace: string, machine: string): boolean {
    return this.#store
      .list('pods', namespace)
      .some(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.kind === 'VirtualMachineInstance' && owner.name === machine));
  }

  /** Of its name there is another one, and no pod that runs either. */
  #isOfOlderMachine(key: string, uid: string | undefined): boolean {
    const machine = this.#store.get('virtualmachines.kubevirt.io', key)?.metadata;
    if (uid === undefined || machine === undefined || machine.uid === uid || machine.deletionTimestamp !== undefined) return false;
    const [namespace = '', name = ''] = key.split('/');
    return !this.#runs(namespace, name);
  }
}
