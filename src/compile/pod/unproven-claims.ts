/**
 * Annotations of a pod that say an interface is allocated, which nothing proves: the addresses in them are asked for like any others. While
 * they are not granted, `allocated` and `routed` are taken away, since agents on the node act on them.
 */
import type { WrittenPodAnnotation } from '../../api/annotations.ts';
import { podAnnotation } from '../../api/well-known.ts';
import type { Output } from '../output.ts';
import type { Binding } from './pod-binding.ts';
import type { PodView } from './pod-view.ts';

const CLAIMS: readonly WrittenPodAnnotation[] = ['allocated', 'routed'];

export function unprovenOutputs(pod: PodView, bindings: readonly Binding[]): readonly Output[] {
  const refused = bindings.filter(({ nic, bound, reservation }) => {
    return pod.unproven.includes(nic.provider) && bound === undefined && reservation?.kind !== 'granted';
  });
  if (refused.length === 0) return [];
  const keys = refused.flatMap(({ nic }) => CLAIMS.map((suffix) => podAnnotation(nic.provider, suffix)));
  return [{ kind: 'patch', resource: 'pods', key: pod.key, uid: pod.uid, annotations: Object.fromEntries(keys.map((key) => [key, null])) }];
}
