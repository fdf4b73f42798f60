/**
 * The port of who lives: no controller takes it away from a pod or a node that was there at the last rest, unless the pod is told why it has
 * none. What is made again a moment later was no less away. Read from rows and objects, by no rule.
 */
import { POD_CONDITION, podAnnotation } from '../../src/api/well-known.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';
import { OWNER_KEY, UID_KEY } from '../../src/nb/ownership.ts';
import type { Address } from '../../src/net/address.ts';
import { parseAddress } from '../../src/net/address.ts';
import type { Cidr } from '../../src/net/cidr.ts';
import { cidrContains, parseInterfaceAddress } from '../../src/net/cidr.ts';
import { splitList } from '../../src/net/dual.ts';
import type { StoredRow } from '../../src/ovsdb/testing/simulated/database.ts';
import { conditionOf } from '../../src/world/conditions.ts';
import type { Finding } from './judge.ts';
import { isOver } from './memory.ts';
import { mapOf, textOf } from './reading.ts';

interface Taken {
  readonly table: 'pods' | 'nodes';
  readonly key: string;
  readonly uid: string;
  readonly port: string;
}

export class TakenPorts {
  readonly #store: ObjectStore;
  /** Uids of those who had a port of their own at the last rest, and to whom nobody did anything since. */
  #had = new Set<string>();
  #taken: Taken[] = [];

  /** @param byHand whether a person acts now */
  constructor(store: ObjectStore, byHand: () => boolean) {
    this.#store = store;
    store.watchAll(({ type, table, object, previous }) => {
      if (!byHand() || (table !== 'pods' && table !== 'nodes')) return;
      if (type !== 'MODIFIED' || !isBared(object, previous)) this.#had.delete(object.metadata.uid);
    });
  }

  /** All is quiet and judged. */
  remember(): void {
    this.#had = new Set(
      (['pods', 'nodes'] as const).flatMap((table) =>
        this.#store.list(table).flatMap((object) => (isAllocated(object) && !isTold(table, object) ? [object.metadata.uid] : [])),
      ),
    );
  }

  /** A controller took this row away, and there is no other of its name. */
  took({ name, external_ids: ids }: StoredRow): void {
    if (!(ids instanceof Map) || typeof name !== 'string') return;
    const uid = String(ids.get(UID_KEY));
    if (!this.#had.has(uid)) return;
    const [kind = '', namespace = '', own = ''] = String(ids.get(OWNER_KEY)).split('/');
    const [table, key, port]: readonly ['pods' | 'nodes', string, string] =
      kind === 'node' ? ['nodes', own, `node-${own}`] : ['pods', `${namespace}/${own}`, `${own}.${namespace}`];
    const object = this.#store.get(table, key);
    if (object?.metadata.uid === uid && port === name && isAllocated(object) && !isOver(object, undefined))
      this.#taken.push({ table, key, uid, port });
  }

  /**
   * A controller took a router port away, and there is no other of its name: who has an address of its networks is cut off, but where the Subnet
   * was made again in another Vpc and took the network along.
   * @param there router ports as the same transaction left them
   */
  tookLink(port: StoredRow, there: Iterable<StoredRow>): void {
    const [kind, , subnet = ''] = textOf(mapOf(port['external_ids']).get(OWNER_KEY)).split('/');
    if (kind !== 'subnet' || this.#had.size === 0) return;
    const cidrs = cidrsOf(port);
    const taken = this.#cidrsMadeAgain(subnet, port, there);
    for (const pod of this.#store.list('pods')) {
      const { uid, name, namespace = '', annotations = {} } = pod.metadata;
      if (!this.#had.has(uid) || annotations[podAnnotation('ovn', 'logical_switch')] !== subnet || !isAllocated(pod)) continue;
      const addresses = splitList(annotations[podAnnotation('ovn', 'ip_address')] ?? '').flatMap((text) => parseAddress(text) ?? []);
      const isCutOff = addresses.some((address) => isIn(address, cidrs) && !isIn(address, taken));
      if (isCutOff && !isOver(pod, undefined))
        this.#taken.push({ table: 'pods', key: `${namespace}/${name}`, uid, port: `of the router of Subnet ${subnet}` });
    }
  }

  /** Networks of the router port of another Subnet of the name: one that is edited alone stays where it is. */
  #cidrsMadeAgain(subnet: string, before: StoredRow, there: Iterable<StoredRow>): readonly Cidr[] {
    const uid = this.#store.get('subnets.kubeovn.io', subnet)?.metadata.uid;
    if (uid === undefined || mapOf(before['external_ids']).get(UID_KEY) === uid) return [];
    return [...there].filter((port) => mapOf(port['external_ids']).get(UID_KEY) === uid).flatMap(cidrsOf);
  }

  judge(): readonly Finding[] {
    const taken = this.#taken;
    this.#taken = [];
    return taken.flatMap(({ table, key, uid, port }) => {
      const object = this.#store.get(table, key);
      if (object?.metadata.uid !== uid || !isAllocated(object) || isOver(object, undefined) || isTold(table, object)) return [];
      const whose = `${table === 'nodes' ? 'Node' : 'Pod'} ${key}`;
      return [{ kind: `I3 taken ${table}`, message: `I3: port ${port} of ${whose}, which lives, was taken away, and nobody told it` }];
    });
  }
}

function cidrsOf({ networks }: StoredRow): readonly Cidr[] {
  return [...(networks instanceof Set ? networks : [networks])].flatMap((text) => parseInterfaceAddress(String(text))?.cidr ?? []);
}

function isIn(address: Address, cidrs: readonly Cidr[]): boolean {
  return cidrs.some((cidr) => cidr.family === address.family && cidrContains(cidr, address));
}

/** Somebody took away what it was told, all but where it is: it runs on with what it has. */
function isBared({ metadata, spec }: KubeObject, previous: KubeObject | undefined): boolean {
  const before = previous?.metadata;
  const [now, then] = [metadata.annotations ?? {}, before?.annotations ?? {}];
  const isLess = Object.entries(now).every(([key, value]) => then[key] === value);
  const stays = isLess && now[podAnnotation('ovn', 'logical_switch')] === then[podAnnotation('ovn', 'logical_switch')];
  return (
    stays && spec === previous?.['spec'] && metadata.labels === before?.labels && metadata.deletionTimestamp === before?.deletionTimestamp
  );
}

function isAllocated({ metadata: { annotations = {}, deletionTimestamp } }: KubeObject): boolean {
  return deletionTimestamp === undefined && annotations[podAnnotation('ovn', 'allocated')] === 'true';
}

function isTold(table: 'pods' | 'nodes', object: KubeObject): boolean {
  return conditionOf(table, object, POD_CONDITION)?.status === 'False';
}
