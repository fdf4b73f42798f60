/**
 * What a controller gives (an address, a MAC) nobody else has: whoever was given it before, and was not touched by anybody since, keeps it, and
 * the next one waits. That both say afterwards that they conflict is no excuse. Read from writes of the API server, by no rule.
 */
import { annotationKey, FINALIZER, kilnAnnotation, labelKey, podAnnotation } from '../../src/api/well-known.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';
import { splitList } from '../../src/net/dual.ts';
import { isAccepted, specOf, SUBNETS, text } from './holders.ts';
import type { Finding } from './judge.ts';

const IPS = 'ips.kubeovn.io';
const KINDS: ReadonlySet<string> = new Set([IPS, 'vips.kubeovn.io', 'ovn-eips.kubeovn.io', 'iptables-eips.kubeovn.io']);

const USERS: ReadonlySet<string> = new Set(['pods', 'nodes']);

/** The leader made it itself, or has listed it since it leads. */
const KNOWN_MS = 500;

const MAC = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/i;

/** For so long a watch may be late. */
const UNHEARD_MS = 5_000;

interface Had {
  readonly who: string;
  readonly since: number;
}

export class GivenFree {
  readonly #store: ObjectStore;
  readonly #gatewayMacs: (subnet: string) => readonly string[];
  readonly #findings: Finding[] = [];
  /** By what was given (`<Subnet> <address>`), and uid of who has it. */
  readonly #had = new Map<string, Map<string, Had>>();
  /** Uids of what came with a finalizer, as from a backup: it keeps what it says, and both are told. */
  readonly #restored = new Set<string>();
  /** Pods and nodes as they were before they went, or were edited, just now: an IP object is made for one by what was seen of it. */
  readonly #gone = new Map<string, readonly { readonly user: KubeObject; readonly at: number }[]>();

  /**
   * @param byHand whether a person acts now
   * @param now virtual time, milliseconds
   * @param gatewayMacs MACs of the router ports of a Subnet
   */
  constructor(store: ObjectStore, byHand: () => boolean, now: () => number, gatewayMacs: (subnet: string) => readonly string[]) {
    this.#store = store;
    this.#gatewayMacs = gatewayMacs;
    store.watchAll(({ type, table, object, previous }) => {
      if (USERS.has(table) && (type === 'DELETED' || byHand())) {
        const user = previous ?? object;
        this.#gone.set(userKey(user), [...this.#goneJustNow(userKey(user), now()), { user, at: now() }]);
      }
      if (!KINDS.has(table)) return;
      const { uid, deletionTimestamp, finalizers = [] } = object.metadata;
      if (type === 'ADDED' && byHand() && finalizers.length > 0) this.#restored.add(uid);
      const before = previous === undefined ? [] : givenTo(table, previous);
      const after = type === 'DELETED' || deletionTimestamp !== undefined ? [] : givenTo(table, object);
      for (const given of before) if (byHand() || !after.includes(given)) this.#had.get(given)?.delete(uid);
      // What a person asked to have kept is said to be so before it has the finalizer.
      const isGiven = table !== IPS || finalizers.includes(FINALIZER) || object.metadata.labels?.[labelKey.ipReserved] === 'true';
      if (byHand() || !isGiven) return;
      for (const given of after) {
        if (before.includes(given)) continue;
        if (!this.#brought(table, object, given, now())) this.#look(object, given, now());
        if (this.#restored.has(uid)) continue;
        const all = this.#had.get(given) ?? new Map<string, Had>();
        this.#had.set(given, all.set(uid, { who: `${object.kind} ${object.metadata.name}`, since: now() }));
      }
    });
  }

  judge(): readonly Finding[] {
    return this.#findings.splice(0);
  }

  #look({ kind, metadata: { uid, name } }: KubeObject, given: string, now: number): void {
    const [subnet = '', address = ''] = given.split(' ');
    if (this.#isGateway(subnet, address))
      this.#findings.push({
        kind: `I1 gateway given ${kind}`,
        message: `I1: ${kind} ${name} was given ${address}, which is the gateway of Subnet ${subnet}`,
      });
    for (const [other, { who, since }] of this.#had.get(given) ?? []) {
      if (other === uid || since > now - KNOWN_MS) continue;
      const message = `I1: ${kind} ${name} was given ${address} of Subnet ${subnet}, which ${who} has had for ${Math.round((now - since) / 1000)} s`;
      this.#findings.push({ kind: `I1 given twice ${kind}`, message });
    }
  }

  /** As its spec has had it since all was carried out. */
  #isGateway(name: string, address: string): boolean {
    const subnet = this.#store.get(SUBNETS, name);
    if (subnet === undefined || !isAccepted(subnet)) return false;
    const { gateway } = specOf(subnet);
    if (MAC.test(address)) return this.#gatewayMacs(name).includes(address.toLowerCase());
    return splitList(text(gateway)).includes(address);
  }

  /** It came with it, or it is its pod's, or its node's, already. */
  #brought(table: string, object: KubeObject, given: string, now: number): boolean {
    if (this.#restored.has(object.metadata.uid)) return true;
    if (table !== IPS) return false;
    const { podName = '', namespace = '' } = object['spec'] as Readonly<Record<string, string | undefined>>;
    const key = namespace === '' ? podName : `${namespace}/${podName}`;
    const there = this.#store.get(namespace === '' ? 'nodes' : 'pods', key);
    const users = [...(there === undefined ? [] : [there]), ...this.#goneJustNow(key, now).map(({ user }) => user)];
    return users.some(({ metadata: { annotations = {} } }) => {
      const said = (suffix: 'ip_address' | 'mac_address'): readonly string[] => splitList(annotations[podAnnotation('ovn', suffix)] ?? '');
      return (
        annotations[podAnnotation('ovn', 'allocated')] === 'true' &&
        [...said('ip_address'), ...said('mac_address')].includes(given.replace(/.* /, ''))
      );
    });
  }

  #goneJustNow(key: string, now: number): readonly { readonly user: KubeObject; readonly at: number }[] {
    return (this.#gone.get(key) ?? []).filter(({ at }) => at > now - UNHEARD_MS);
  }
}

function userKey({ metadata: { namespace = '', name } }: KubeObject): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** What it says to have, where it shares that with nobody. */
function givenTo(table: string, { metadata: { annotations = {} }, spec, status }: KubeObject): readonly string[] {
  if (annotations[kilnAnnotation.vip] !== undefined || annotations[annotationKey.vip] !== undefined) return [];
  const asked = (spec ?? {}) as Readonly<Record<string, string | undefined>>;
  const has = { ...((table === IPS ? asked : (status ?? {})) as Record<string, string | undefined>) };
  const subnet = asked['subnet'] ?? asked['externalSubnet'] ?? '';
  // The MAC of one for Services is that of the router's port, for all of them.
  if (has['type'] === 'switch_lb_vip') delete has['mac'];
  const fields = table === IPS ? ['v4IpAddress', 'v6IpAddress', 'macAddress'] : ['v4ip', 'v6ip', 'v4Ip', 'v6Ip', 'ip', 'macAddress', 'mac'];
  return subnet === '' ? [] : [...new Set(fields.flatMap((field) => ((has[field] ?? '') === '' ? [] : [`${subnet} ${has[field] ?? ''}`])))];
}
