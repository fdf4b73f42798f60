/**
 * What a person asks to have kept (an IP object made to reserve an address, a Vip, an EIP) stays until somebody takes it away, or its lease ends: no
 * controller deletes it. Read from writes of the API server, by no rule.
 */
import type { IP } from '../../src/api/kinds/ip.ts';
import { FINALIZER, kilnAnnotation, labelKey } from '../../src/api/well-known.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';
import type { Finding } from './judge.ts';

const IPS = 'ips.kubeovn.io';
const KINDS: ReadonlySet<string> = new Set([IPS, 'vips.kubeovn.io', 'ovn-eips.kubeovn.io', 'iptables-eips.kubeovn.io']);

export class AskedKept {
  readonly #findings: Finding[] = [];
  /** Uids of what nobody has touched since it was asked for. */
  readonly #asked = new Set<string>();

  /** @param byHand whether a person acts now */
  constructor(store: ObjectStore, byHand: () => boolean) {
    store.watchAll(({ type, table, object, previous }) => {
      if (!KINDS.has(table)) return;
      const { uid, name, deletionTimestamp } = object.metadata;
      if (type === 'ADDED') {
        if (byHand() && isAsked(table, object)) this.#asked.add(uid);
        return;
      }
      if (!byHand() && type === 'MODIFIED' && table === IPS && isOfPod(object)) this.#asked.delete(uid);
      if (!this.#asked.has(uid)) return;
      const going = type === 'DELETED' || (deletionTimestamp !== undefined && previous?.metadata.deletionTimestamp === undefined);
      if (!byHand() && !going) return;
      this.#asked.delete(uid);
      if (!byHand())
        this.#findings.push({
          kind: `I1 asked ${object.kind}`,
          message: `I1: ${object.kind} ${name} was asked for, and a controller deleted it`,
        });
    });
  }

  judge(): readonly Finding[] {
    return this.#findings.splice(0);
  }
}

/** A pod of its name was there before anybody had completed it, maybe in a network whose Subnet is gone: it is that pod's. */
function isOfPod({ metadata: { annotations = {}, labels = {}, finalizers = [] } }: KubeObject): boolean {
  return labels[labelKey.ipReserved] === undefined && (annotations[kilnAnnotation.podUid] !== undefined || finalizers.includes(FINALIZER));
}

/** Without a lease. An IP object that comes from a backup, or is made again by hand, has more of its own, and is that of a pod. */
function isAsked(table: string, { metadata, spec }: KubeObject): boolean {
  const { annotations = {}, finalizers = [], labels = {} } = metadata;
  if (annotations[kilnAnnotation.lease] !== undefined) return false;
  if (table !== IPS) return true;
  const { podType = '', v4IpAddress = '', v6IpAddress = '' } = (spec ?? {}) as IP['spec'];
  return (
    `${podType}${v4IpAddress}${v6IpAddress}` === '' &&
    annotations[kilnAnnotation.podUid] === undefined &&
    finalizers.length + Object.keys(labels).length === 0
  );
}
