/**
 * Unproven claims: annotations that mark an interface as allocated without a proof. Their addresses are requests like any other. Until
 * these are granted, Kiln removes `allocated` and `routed`, since agents on the node act on them.
 */
import type { WrittenPodAnnotation } from '../../../api/annotations.ts';
import { podAnnotation } from '../../../api/well-known.ts';
import type { Output } from '../../output.ts';
import type { Binding } from '../address/pod-binding.ts';
import type { PodView } from '../view/pod-view.ts';

const CLAIMS: readonly WrittenPodAnnotation[] = ['allocated', 'routed'];

export function unprovenOutputs(pod: PodView, bindings: readonly Binding[]): readonly Output[] {
  const failed = bindings.filter(({ nic, durable, reservation }) => {
    return pod.unproven.includes(nic.provider) && durable === undefined && reservation?.kind !== 'granted';
  });
  if (failed.length === 0) return [];
  const keys = failed.flatMap(({ nic }) => CLAIMS.map((suffix) => podAnnotation(nic.provider, suffix)));
  return [{ kind: 'patch', resource: 'pods', key: pod.key, uid: pod.uid, annotations: Object.fromEntries(keys.map((key) => [key, null])) }];
}
