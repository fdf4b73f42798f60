/**
 * The port of who lives: no controller takes it away from a pod or a node that was there at the last rest, unless the pod is told why it has
 * none. What is made again a moment later was no less away. Read from rows and objects, by no rule.
 */
import { POD_CONDITION, podAnnotation } from '../../src/api/well-known.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';
import { OWNER_KEY, UID_KEY } from '../../src/nb/ownership.ts';
import { parseAddress } from '../../src/net/address.ts';
import { cidrContains, parseInterfaceAddress } from '../../src/net/cidr.ts';
import { splitList } from '../../src/net/dual.ts';
import type { StoredRow } from '../../src/ovsdb/testing/simulated/database.ts';
import { conditionOf } from '../../src/world/conditions.ts';
import type { Finding } from './judge.ts';
import { isOver } from './memory.ts';

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

  /** A controller took a router port away, and there is no other of its name: who has an address of its networks is cut off. */
  tookLink({ external_ids: ids, networks }: StoredRow): void {
    const [kind, , subnet = ''] = ids instanceof Map ? String(ids.get(OWNER_KEY)).split('/') : [];
    if (kind !== 'subnet' || this.#had.size === 0) return;
    const cidrs = [...(networks instanceof Set ? networks : [networks])].flatMap((text) => parseInterfaceAddress(String(text))?.cidr ?? []);
    for (const pod of this.#store.list('pods')) {
      const { uid, name, namespace = '', annotations = {} } = pod.metadata;
      if (!this.#had.has(uid) || annotations[podAnnotation('ovn', 'logical_switch')] !== subnet || !isAllocated(pod)) continue;
      const addresses = splitList(annotations[podAnnotation('ovn', 'ip_address')] ?? '').flatMap((text) => parseAddress(text) ?? []);
      const isIn = addresses.some((address) => cidrs.some((cidr) => cidr.family === address.family && cidrContains(cidr, address)));
      if (isIn && !isOver(pod, undefined))
        this.#taken.push({ table: 'pods', key: `${namespace}/${name}`, uid, port: `of the router of Subnet ${subnet}` });
    }
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
