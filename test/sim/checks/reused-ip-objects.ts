/**
 * An IP object belongs to its pod: it is deleted with its address once the pod is gone, and the next pod of the name gets one of its own.
 * Only one that a StatefulSet, a virtual machine or a user retains passes to another pod. A node's IP object has the owner reference that
 * the garbage collector acts on. Read from writes to the API server, without a rule.
 */
import { nodePortName } from '../../../src/api/names.ts';
import { kilnAnnotation, labelKey } from '../../../src/api/well-known.ts';
import type { KubeObject } from '../../../lab/apiserver/object.ts';
import type { ObjectStore } from '../../../lab/apiserver/store.ts';
import type { Finding, Check } from './check.ts';

export class ReusedIpObjects implements Check {
  readonly #findings: Finding[] = [];

  /** @param byHand whether a user acts now */
  constructor(store: ObjectStore, byHand: () => boolean) {
    store.watchAll(({ type, table, object, previous }) => {
      if (type === 'ADDED' && table === 'ips.kubeovn.io' && !byHand()) this.#checkNodeIp(object);
      if (type !== 'MODIFIED' || table !== 'ips.kubeovn.io' || previous?.metadata.uid !== object.metadata.uid || byHand()) return;
      const [before, after] = [podOf(previous), podOf(object)];
      if (before === undefined || after === undefined || before === after || isRetained(previous) || isRetained(object)) return;
      this.#findings.push({
        kind: 'I6 reused',
        message: `I6: IP ${object.metadata.name} belonged to pod ${before}, and belongs to another pod of that name now, ${after}`,
      });
    });
  }

  #checkNodeIp({ metadata: { name, ownerReferences = [] }, ...object }: KubeObject): void {
    const { podName = '', namespace = '' } = (object['spec'] ?? {}) as { readonly podName?: string; readonly namespace?: string };
    if (namespace !== '' || name !== nodePortName(podName)) return;
    if (!ownerReferences.some((owner) => owner.kind === 'Node' && owner.name === podName))
      this.#findings.push({
        kind: 'I6 without Node',
        message: `I6: IP ${name} was created for Node ${podName}, and has no owner reference to it`,
      });
  }

  whenConverged(): readonly Finding[] {
    return this.#findings.splice(0);
  }
}

function podOf({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[kilnAnnotation.podUid];
}

function isRetained({ metadata, ...object }: KubeObject): boolean {
  const { podType = '' } = (object['spec'] ?? {}) as { readonly podType?: string };
  return podType !== '' || metadata.labels?.[labelKey.ipReserved] === 'true';
}
