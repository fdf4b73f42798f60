/** Pods with annotations that Kiln does not implement get a condition. */
import type { Pod } from '../../../api/kubernetes/core.ts';
import { annotationKey, POD_UNIMPLEMENTED } from '../../../api/well-known.ts';
import { conditionOf } from '../../../world/conditions.ts';
import { keysOf } from '../../../engine/domain.ts';
import type { Rule } from '../../rule.ts';

const REASON = 'NotCarriedOut';

/** Suffixes of annotations for single interfaces that Kiln does not implement, with the consequence. */
const UNIMPLEMENTED_SUFFIXES: readonly (readonly [string, string])[] = [
  ['.kubernetes.io/security_groups', 'no rule of a SecurityGroup is enforced'],
];

/** Annotations for the whole pod, likewise. */
const UNIMPLEMENTED_ANNOTATIONS: readonly (readonly [string, string])[] = [
  [annotationKey.northGateway, 'no traffic is sent through that gateway, nor through its node where its Subnet has distributed gateways'],
];

/** Pods with unimplemented annotations. The domain has only these pods, and those with the condition. */
export const podAnnotationUnimplemented: Rule = {
  name: 'pod-annotation-unimplemented',
  over: (world) =>
    keysOf(
      world.pods,
      (pod) =>
        pod.spec.hostNetwork !== true && (unimplementedIn(pod).length > 0 || conditionOf('pods', pod, POD_UNIMPLEMENTED) !== undefined),
    ),
  run: (world, key) => {
    const pod = world.pods.get(key);
    if (pod === undefined) return [];
    const patch = { kind: 'patch', resource: 'pods', key, uid: pod.metadata.uid } as const;
    const unimplemented = unimplementedIn(pod);
    if (unimplemented.length === 0) return [{ ...patch, withoutConditions: [POD_UNIMPLEMENTED] }];
    const message = unimplemented
      .map(([annotation, consequence]) => `Pod ${key}: annotation ${annotation} is not implemented by this version of Kiln: ${consequence}`)
      .join('. ');
    return [{ ...patch, conditions: [{ type: POD_UNIMPLEMENTED, status: 'True', reason: REASON, message, event: 'Warning' }] }];
  },
};

function unimplementedIn({ metadata }: Pod): readonly (readonly [string, string])[] {
  const { annotations } = metadata;
  if (annotations === undefined) return [];
  return Object.keys(annotations).flatMap((key) => {
    if ((annotations[key] ?? '').trim() === '') return [];
    const found =
      UNIMPLEMENTED_ANNOTATIONS.find(([known]) => key === known) ?? UNIMPLEMENTED_SUFFIXES.find(([suffix]) => key.endsWith(suffix));
    return found === undefined ? [] : [[key, found[1]] as const];
  });
}
