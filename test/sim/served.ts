/**
 * Who is given an address newly has it of a Subnet that takes somebody: not of one that was being deleted before the pod came, also where an address there was kept for the pod before, and not of
 * one that has said for a while that it has no network. And of several that its pod asks for by name it is one, or the one that it names by itself, which goes before a list. Read from writes of
 * the API server, by no rule.
 */
import { annotationKey, DEFAULT_SUBNET, JOIN_SUBNET, labelKey, podAnnotation } from '../../src/api/well-known.ts';
import { launchedInstance } from '../../src/api/kubernetes/virtual-machine.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore, StoreEvent } from '../../src/lab/apiserver/store.ts';
import { parseAddress } from '../../src/net/address.ts';
import { splitList } from '../../src/net/dual.ts';
import { IPS, specOf, SUBNETS, text } from './holders.ts';
import type { Finding } from './judge.ts';

/** Of which everybody has heard by then, whatever was late. */
const KNOWN_MS = 5_000;
/** They serve on, whoever deletes them. */
const BUILT_IN: ReadonlySet<string> = new Set([DEFAULT_SUBNET, JOIN_SUBNET]);

export class Served {
  readonly #store: ObjectStore;
  readonly #now: () => number;
  readonly #hasSwitch: (uid: string, name: string) => boolean;
  readonly #findings: Finding[] = [];
  /** Since when each Subnet is being deleted, or has said that it has no network: by uid. */
  readonly #going = new Map<string, number>();
  readonly #idle = new Map<string, number>();
  /** When each pod came; those that were told what they have. */
  readonly #came = new Map<string, number>();
  readonly #told = new Set<string>();
  /** The addresses that each named by itself before it was told: one version may be read after another was written. */
  readonly #named = new Map<string, Set<string>>();

  /**
   * @param byHand whether a person acts now
   * @param now virtual time, milliseconds
   * @param hasSwitch whether a Subnet has a switch of its own
   */
  constructor(store: ObjectStore, byHand: () => boolean, now: () => number, hasSwitch: (uid: string, name: string) => boolean) {
    this.#store = store;
    this.#now = now;
    this.#hasSwitch = hasSwitch;
    store.watchAll((event) => {
      if (event.table === SUBNETS) this.#note(event);
      else if (event.table === 'pods') this.#look(event, byHand());
      else if (event.table === IPS && event.type === 'ADDED' && !byHand()) this.#made(event.object);
    });
  }

  judge(): readonly Finding[] {
    return this.#findings.splice(0);
  }

  #note({ type, object }: StoreEvent): void {
    const { uid, deletionTimestamp } = object.metadata;
    const isIdle = conditionsOf(object).some((one) => one.type === 'Ready' && one.status === 'False' && NO_NETWORK.has(one.reason ?? ''));
    for (const [since, is] of [
      [this.#going, deletionTimestamp !== undefined],
      [this.#idle, isIdle],
    ] as const)
      if (!is || type === 'DELETED') since.delete(uid);
      else if (!since.has(uid)) since.set(uid, this.#now());
  }

  #look({ type, object, previous }: StoreEvent, byHand: boolean): void {
    const { uid, name, namespace = '', annotations = {} } = object.metadata;
    if (type === 'ADDED') this.#came.set(uid, this.#now());
    else if (type === 'DELETED') {
      this.#came.delete(uid);
      this.#told.delete(uid);
      this.#named.delete(uid);
      return;
    }
    const told = podAnnotation('ovn', 'allocated');
    const has = splitList(annotations[podAnnotation('ovn', 'ip_address')] ?? '');
    const named = this.#named.get(uid) ?? new Set<string>();
    if (annotations[told] !== 'true') {
      this.#named.set(uid, new Set([...named, ...has]));
      return;
    }
    // Somebody may take it away for a moment; from a backup it comes with it.
    const isNew = !this.#told.has(uid) && previous?.metadata.annotations?.[told] !== 'true';
    this.#told.add(uid);
    if (byHand || type !== 'MODIFIED' || !isNew) return;
    const subnet = this.#subnet(annotations[podAnnotation('ovn', 'logical_switch')]);
    const since = this.#since(this.#going, subnet);
    const ip = this.#store.get(IPS, `${name}.${namespace}`);
    // What somebody asked to have kept for it is its own; a machine's pods follow the one that runs.
    const isKept = ip?.metadata.labels?.[labelKey.ipReserved] === 'true' || annotations[annotationKey.vip] !== undefined;
    if (isKept || launchedInstance(object.metadata) !== undefined) return;
    const asked = splitList((annotations[podAnnotation('ovn', 'ip_pool')] ?? '').replaceAll(';', ','));
    const isAsked = (one: string): boolean => asked.includes(one) || named.has(one);
    if (asked.length > 0 && asked.every((one) => parseAddress(one) !== undefined) && !has.some(isAsked))
      this.#findings.push({
        kind: 'I1 not what it asks for',
        message: `I1: Pod ${namespace}/${name} asks for one of ${asked.join(', ')}, and is given ${has.join(',')}`,
      });
    if (since !== undefined && (this.#came.get(uid) ?? -Infinity) >= since + KNOWN_MS)
      this.#findings.push({
        kind: 'I5 served by one that goes',
        message: `I5: Pod ${namespace}/${name} came when Subnet ${subnet?.metadata.name ?? ''} was being deleted, and is told that it is in it`,
      });
  }

  /** An IP object for a pod that is told of no address yet. */
  #made(ip: KubeObject): void {
    const { subnet: named, podName, namespace } = specOf(ip);
    const pod = this.#store.get('pods', `${text(namespace)}/${text(podName)}`)?.metadata;
    const subnet = this.#subnet(named);
    const since = this.#since(this.#idle, subnet);
    if (pod === undefined || pod.annotations?.[podAnnotation('ovn', 'allocated')] === 'true' || since === undefined) return;
    if (since > this.#now() - KNOWN_MS || (pod.ownerReferences ?? []).length > 0) return;
    if (subnet === undefined || this.#hasSwitch(subnet.metadata.uid, subnet.metadata.name)) return;
    this.#findings.push({
      kind: 'I7 served by one without a network',
      message: `I7: Pod ${text(namespace)}/${text(podName)} is given an address of Subnet ${text(named)}, which says that it has no network`,
    });
  }

  #subnet(name: unknown): KubeObject | undefined {
    return typeof name !== 'string' || BUILT_IN.has(name) ? undefined : this.#store.get(SUBNETS, name);
  }

  #since(when: ReadonlyMap<string, number>, subnet: KubeObject | undefined): number | undefined {
    return subnet === undefined ? undefined : when.get(subnet.metadata.uid);
  }
}

/** Why there may be no switch of its own. */
const NO_NETWORK: ReadonlySet<string> = new Set(['RowConflict', 'SwitchPending']);

interface Said {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
}

function conditionsOf({ status }: KubeObject): readonly Said[] {
  return ((status ?? {}) as { readonly conditions?: readonly Said[] }).conditions ?? [];
}
