/**
 * Compares with the state at the last check: changes that must not follow from it. A rule that is wrong in the same way in each process
 * leaves nothing for a fresh controller to change. This check reads what happened, and uses no rule.
 */
import type { KubeObject } from '../../../lab/apiserver/object.ts';
import type { ObjectStore, StoreEvent } from '../../../lab/apiserver/store.ts';
import { annotationKey, DEFAULT_SUBNET, FINALIZER, kilnAnnotation, POD_CONDITION, podAnnotation } from '../../../src/api/well-known.ts';
import { splitList } from '../../../src/net/dual.ts';
import { selectorMatches } from '../../../src/api/kubernetes/label-selector.ts';
import type { SubnetSpec } from '../../../src/api/kinds/subnet.ts';
import type { Field } from './dependents.ts';
import { DEPENDENCY_TABLES, DEPENDENT_TABLES, dependenciesOf, IPS, isAccepted, specOf, SUBNETS, text } from './dependents.ts';
import { EPOCH } from '../cluster/virtual-time.ts';
import type { Finding, Check, ConvergedCluster } from './check.ts';

function asksForEvictions({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[kilnAnnotation.misbound]?.trim() === 'evict';
}

/** `<Subnet> <address>` for each address in its spec. */
function addressesOf(ip: KubeObject): readonly string[] {
  const { subnet, v4IpAddress, v6IpAddress } = specOf(ip);
  return [v4IpAddress, v6IpAddress].flatMap((one) => (text(one) === '' ? [] : [`${text(subnet)} ${text(one)}`]));
}

/** The pod that an IP object names in its spec; for a node the namespace is empty. */
function podKeyOf(ip: KubeObject): string {
  const { podName, namespace } = specOf(ip);
  return `${text(namespace)}/${text(podName)}`;
}

/** How late a controller may notice that a deadline has passed: it checks its clock only now and then. */
const LATE_MS = 3_000;

/**
 * Whether the pod's containers have ended for good, or its grace period is over. @param now virtual time; undefined if the wall clock of
 * some process differs
 */
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

interface PodStatusCondition {
  readonly type: string;
  readonly status: string;
}

/** Finds a row whose row owner has this uid: in all tables, or with this name; then among ports if no table is named. */
type RowOf = (uid: string, name?: string, table?: string) => string | undefined;

/** Finds a port of this name and pod without a row owner, as Kube-OVN leaves it. */
type UnownedPort = (name: string, pod: string) => string | undefined;

export class Lifecycle implements Check {
  readonly #store: ObjectStore;
  readonly #rowOf: RowOf;
  readonly #unownedPort: UnownedPort;
  readonly findings: Finding[] = [];
  /** Uids of the dependents at the last check, by dependency (`<table> <name>`). */
  #dependents = new Map<string, string[]>();
  /** Table and key of each of these dependents. */
  #keys = new Map<string, readonly [table: string, key: string]>();
  /** Uids of objects that are being deleted. */
  readonly #deleting = new Set<string>();
  /** Namespaces that a Subnet listed at the last check, with uid and generation of the Subnet and uid of the Namespace. */
  #listing = new Map<string, string>();
  #pods = new Set<string>();
  /** Uids of IP objects by `<Subnet> <address>`, for addresses that only one IP object had at the last check. */
  #heldBy = new Map<string, string>();
  /** Uids of IP objects that a user edited since. */
  readonly #edited = new Set<string>();
  /** Namespaces that ask for evictions, or did since the last check: a controller may not have observed yet that one stopped asking. */
  #evicting = new Set<string>();
  /** Uids of pods created with network annotations, as from a backup: they keep these, and a condition reports it. */
  readonly #restored = new Set<string>();
  /** Uids of pods whose containers have ended for good, even if a user set them to running since. */
  readonly #ended = new Set<string>();
  /** Uids of pods that named a Vip when they were created, or the default Subnet before Kiln wrote it into them. */
  readonly #namedDefault = new Set<string>();
  /** Uids of pods that Kiln wrote the default Subnet into first. */
  readonly #gotDefault = new Set<string>();
  /** Uids of objects whose finalizers a user removed: their rows are collected after them. */
  readonly #withoutFinalizers = new Set<string>();
  /** Whether a user acts now: deletions are then that user's. */
  readonly #byHand: () => boolean;

  constructor(store: ObjectStore, byHand: () => boolean, rowOf: RowOf, unownedPort: UnownedPort) {
    this.#store = store;
    this.#byHand = byHand;
    this.#rowOf = rowOf;
    this.#unownedPort = unownedPort;
    store.watchAll((event) => this.#look(event));
  }

  /** Called once everything has converged and the checks found nothing. */
  baseline(): void {
    this.#dependents = new Map();
    this.#keys = new Map();
    for (const table of DEPENDENT_TABLES) {
      for (const object of this.#store.list(table)) {
        for (const dependency of this.#dependenciesOf(table, object)) {
          this.#keys.set(object.metadata.uid, [table, keyOf(object)]);
          this.#dependents.set(dependency, [...(this.#dependents.get(dependency) ?? []), object.metadata.uid]);
        }
      }
    }
    this.#heldBy = this.#addresses();
    this.#edited.clear();
    this.#listing = this.#listings();
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

  /** @returns changes since the last check that must not happen */
  whenConverged({ cluster }: ConvergedCluster): readonly Finding[] {
    // Undefined if the wall clock of some process differs.
    const now = cluster.dateJumped ? undefined : EPOCH + cluster.time.now;
    const over = (pod: KubeObject): boolean => isOver(pod, now);
    return [
      ...this.findings.splice(0),
      ...this.#onDefaultSubnet(),
      ...this.#leakedIps(over),
      ...this.#leakedPorts(over),
      ...this.#lostIps(now),
      ...this.#stolenAddresses(over),
    ];
  }

  hasEnded(uid: string | undefined): boolean {
    return uid !== undefined && this.#ended.has(uid);
  }

  /** A user may request a Subnet until the pod has one. */
  #lookAtSubnet({ metadata: { uid, annotations = {} } }: KubeObject): void {
    if (annotations[podAnnotation('ovn', 'logical_switch')] !== DEFAULT_SUBNET) return;
    if (!this.#byHand()) this.#gotDefault.add(uid);
    else if (!this.#gotDefault.has(uid)) this.#namedDefault.add(uid);
  }

  /** A dependency is deleted only after its last dependent, and Kiln deletes no object that is in use. */
  #look({ type, table, object }: StoreEvent): void {
    if (table === 'pods' && isOver(object, undefined)) this.#ended.add(object.metadata.uid);
    if (table === 'namespaces' && asksForEvictions(object)) this.#evicting.add(object.metadata.name);
    if (type === 'DELETED') this.#deleting.delete(object.metadata.uid);
    if (type === 'ADDED' && table === 'pods') {
      const { uid, annotations = {} } = object.metadata;
      if (annotations[podAnnotation('ovn', 'allocated')] === 'true') this.#restored.add(uid);
      if ((annotations[annotationKey.vip] ?? '') !== '') this.#namedDefault.add(uid);
    }
    if (type !== 'DELETED' && table === 'pods') this.#lookAtSubnet(object);
    if ((object.metadata.finalizers ?? []).length > 0) this.#withoutFinalizers.delete(object.metadata.uid);
    else if (this.#byHand()) this.#withoutFinalizers.add(object.metadata.uid);
    if (this.#byHand() && table === IPS) this.#edited.add(object.metadata.uid);
    if (this.#byHand() || !DEPENDENCY_TABLES.has(table)) {
      if (object.metadata.deletionTimestamp !== undefined) this.#deleting.add(object.metadata.uid);
      return;
    }
    const { name, uid, deletionTimestamp } = object.metadata;
    const begun = type !== 'DELETED' && deletionTimestamp !== undefined && !this.#deleting.has(uid);
    if (begun) this.#deleting.add(uid);
    if (type !== 'DELETED' && !begun) return;
    const left = type === 'DELETED' ? this.#remainingRowOf(table, object) : undefined;
    if (left !== undefined)
      this.findings.push({
        kind: `I5 rows ${object.kind}`,
        message: `I5: ${object.kind} ${name} lost its finalizer while its row ${left} existed`,
      });
    const dependent = this.#dependentOf(`${table} ${name}`);
    // A user edited the IP object: it belongs to another pod now, and its former pod has one of its own.
    if (
      dependent === undefined ||
      (table === IPS && podKeyOf(object) !== `${dependent.metadata.namespace ?? ''}/${dependent.metadata.name}`)
    )
      return;
    const by = `${dependent.kind} ${keyOf(dependent)}`;
    this.findings.push(
      begun
        ? { kind: `I1 taken ${object.kind}`, message: `I1: ${object.kind} ${name} is deleted by a controller while ${by} depends on it` }
        : { kind: `I5 early ${object.kind}`, message: `I5: ${object.kind} ${name} was deleted while ${by} depends on it` },
    );
  }

  /** An object whose finalizer is removed leaves no row behind, not even for a moment: its row owner would no longer exist. */
  #remainingRowOf(table: string, object: KubeObject): string | undefined {
    const { name, uid, annotations = {} } = object.metadata;
    if (this.#withoutFinalizers.has(uid)) return undefined;
    // A running pod keeps its row, whatever a user did to the IP object.
    const pod = annotations[kilnAnnotation.podUid];
    const isGone = pod !== undefined && !this.#store.list('pods').some(({ metadata }) => metadata.uid === pod);
    const own = this.#rowOf(uid) ?? (table === IPS && isGone ? this.#rowOf(pod, name) : undefined);
    const key = podKeyOf(object);
    return own ?? (table === IPS && this.#store.get('pods', key) === undefined ? this.#unownedPort(name, key) : undefined);
  }

  /** An object that depended on it at the last check and still does. */
  #dependentOf(dependency: string): KubeObject | undefined {
    for (const uid of this.#dependents.get(dependency) ?? []) {
      const [table, key] = this.#keys.get(uid) ?? ['', ''];
      const now = this.#store.get(table, key);
      if (now?.metadata.uid !== uid || !this.#dependenciesOf(table, now).includes(dependency)) continue;
      return now;
    }
    return undefined;
  }

  #dependenciesOf(table: string, object: KubeObject): readonly string[] {
    return dependenciesOf(table, object, (of, name) => this.#rowOf(object.metadata.uid, name, of) !== undefined);
  }

  #addresses(): Map<string, string> {
    const holders = new Map<string, string>();
    // An IP object that is invalid because of its name has an address in its spec too.
    const [seen, twice] = [new Set<string>(), new Set<string>()];
    for (const ip of this.#store.list(IPS)) {
      const { uid, finalizers = [], annotations = {}, deletionTimestamp } = ip.metadata;
      for (const address of addressesOf(ip)) {
        if (seen.has(address)) twice.add(address);
        seen.add(address);
        if (finalizers.includes(FINALIZER) && deletionTimestamp === undefined && annotations[kilnAnnotation.vip] === undefined)
          holders.set(address, uid);
      }
    }
    for (const address of twice) holders.delete(address);
    return holders;
  }

  #listings(): Map<string, string> {
    const listings = new Map<string, string>();
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
          listings.set(name, `${subnet.metadata.uid} ${subnet.metadata.generation ?? 0} ${namespace.metadata.uid}`);
      }
    }
    return listings;
  }

  /** The default Subnet names the Namespace as well: then a pod on it did not fall back. */
  #isOfDefault({ metadata }: KubeObject): boolean {
    const subnet = this.#store.get(SUBNETS, DEFAULT_SUBNET);
    if (subnet === undefined) return false;
    const { namespaces = [], namespaceSelectors = [] } = specOf(subnet) as Pick<SubnetSpec, 'namespaces' | 'namespaceSelectors'>;
    return namespaces.includes(metadata.name) || namespaceSelectors.some((selector) => selectorMatches(selector, metadata.labels ?? {}));
  }

  /** New pods that are on the default Subnet although their Namespace has one of its own. */
  #onDefaultSubnet(): readonly Finding[] {
    const now = this.#listings();
    return this.#store.list('pods').flatMap(({ metadata }) => {
      const { uid, namespace = '', name, annotations = {}, ownerReferences = [] } = metadata;
      const on = annotations[podAnnotation('ovn', 'logical_switch')];
      const listing = this.#listing.get(namespace);
      // A pod that keeps an address keeps its Subnet.
      const keeps =
        ownerReferences.length > 0 ||
        this.#store.get(IPS, `${name}.${namespace}`)?.metadata.labels?.['ovn.kubernetes.io/ip_reserved'] === 'true';
      if (
        this.#pods.has(uid) ||
        this.#restored.has(uid) ||
        this.#namedDefault.has(uid) ||
        keeps ||
        on !== DEFAULT_SUBNET ||
        listing === undefined ||
        now.get(namespace) !== listing
      )
        return [];
      return [
        { kind: 'I7 fallback', message: `I7: Pod ${namespace}/${name} is on ${DEFAULT_SUBNET}, and its Namespace has a Subnet of its own` },
      ];
    });
  }

  /** IP objects of deleted pods that nothing retains. */
  #leakedIps(over: (pod: KubeObject) => boolean): readonly Finding[] {
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
      // The next pod of the name is not the one of that uid.
      if (labels['ovn.kubernetes.io/ip_reserved'] === 'true')
        return [{ kind: 'I1 reserved', message: `I1: IP ${name}, which is reserved, has the uid of a pod that was deleted (${pod})` }];
      if (this.#isRetained(ip)) return [];
      return [{ kind: 'I1 leaked', message: `I1: IP ${name} belongs to a pod that was deleted (uid ${pod}), and nothing retains it` }];
    });
  }

  /** A pod that is over has no row: its address is free for others. */
  #leakedPorts(over: (pod: KubeObject) => boolean): readonly Finding[] {
    return this.#store.list('pods').flatMap((pod) => {
      const row = over(pod) ? this.#rowOf(pod.metadata.uid) : undefined;
      return row === undefined ? [] : [{ kind: 'I1 lingering', message: `I1: Pod ${keyOf(pod)} has ended, and its row ${row} exists` }];
    });
  }

  /** Pods whose containers are restarted after they ended, and pods within their grace period keep their address. */
  #lostIps(now: number | undefined): readonly Finding[] {
    return this.#store.list('pods').flatMap((pod) => {
      const { name, namespace = '', uid, annotations = {}, deletionTimestamp } = pod.metadata;
      const { phase, conditions = [] } = (pod['status'] ?? {}) as {
        readonly phase?: string;
        readonly conditions?: readonly PodStatusCondition[];
      };
      const ends = phase === 'Succeeded' || phase === 'Failed' || deletionTimestamp !== undefined;
      if (!ends || isOver(pod, now === undefined ? undefined : now + 2 * LATE_MS) || this.#restored.has(uid)) return [];
      if (deletionTimestamp !== undefined && now === undefined) return [];
      const isReported = conditions.some(({ type, status }) => type === POD_CONDITION && status === 'False');
      const annotation = (suffix: 'allocated' | 'virtualmachine'): string => annotations[podAnnotation('ovn', suffix)] ?? '';
      if (isReported || annotation('allocated') !== 'true' || annotation('virtualmachine') !== '') return [];
      if (this.#store.get(IPS, `${name}.${namespace}`) !== undefined) return [];
      return [{ kind: 'I1 dropped', message: `I1: Pod ${namespace}/${name} has not ended, and its IP object was deleted` }];
    });
  }

  /** An address that an IP object had at the last check is not given to a pod that was created since. */
  #stolenAddresses(over: (pod: KubeObject) => boolean): readonly Finding[] {
    return this.#store.list('pods').flatMap((pod) => {
      const { uid, name, namespace = '', annotations = {} } = pod.metadata;
      const annotation = (suffix: 'allocated' | 'logical_switch' | 'ip_address' | 'virtualmachine'): string =>
        annotations[podAnnotation('ovn', suffix)] ?? '';
      if (
        this.#pods.has(uid) ||
        this.#restored.has(uid) ||
        over(pod) ||
        annotation('allocated') !== 'true' ||
        annotation('virtualmachine') !== ''
      )
        return [];
      if (annotations['ovn.kubernetes.io/vip'] !== undefined) return [];
      return splitList(annotation('ip_address')).flatMap((address) => {
        const holder = this.#heldBy.get(`${annotation('logical_switch')} ${address}`);
        const ip = holder === undefined ? undefined : this.#store.list(IPS).find(({ metadata }) => metadata.uid === holder);
        if (ip === undefined || ip.metadata.name === `${name}.${namespace}` || this.#edited.has(ip.metadata.uid)) return [];
        if (!addressesOf(ip).includes(`${annotation('logical_switch')} ${address}`)) return [];
        return [{ kind: 'I6 usurped', message: `I6: Pod ${namespace}/${name} got ${address}, which IP ${ip.metadata.name} held before` }];
      });
    });
  }

  /** Whether a virtual machine retains it, the next pod of its name, or a StatefulSet that has the ordinal. */
  #isRetained(ip: KubeObject): boolean {
    const { podType } = specOf(ip);
    const key = podKeyOf(ip);
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
  /** Whether the machine, its instance or a pod of it exists. */
  #isMachineThere(key: string): boolean {
    const [namespace = '', name = ''] = key.split('/');
    const exists = ['virtualmachines.kubevirt.io', 'virtualmachineinstances.kubevirt.io'].some((table) => {
      const object = this.#store.get(table, key);
      return object !== undefined && object.metadata.deletionTimestamp === undefined;
    });
    return exists || this.#runs(namespace, name);
  }

  #runs(namespace: string, machine: string): boolean {
    return this.#store
      .list('pods', namespace)
      .some(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.kind === 'VirtualMachineInstance' && owner.name === machine));
  }

  /** Whether another machine has the name now, and no pod of either runs. */
  #isOfOlderMachine(key: string, uid: string | undefined): boolean {
    const machine = this.#store.get('virtualmachines.kubevirt.io', key)?.metadata;
    if (uid === undefined || machine === undefined || machine.uid === uid || machine.deletionTimestamp !== undefined) return false;
    const [namespace = '', name = ''] = key.split('/');
    return !this.#runs(namespace, name);
  }
}
