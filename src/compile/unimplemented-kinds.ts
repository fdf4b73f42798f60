/**
 * Objects of kinds that Kiln does not implement get a condition, or an Event if their kind has no conditions; so do pods with annotations
 * that Kiln does not implement. A NetworkPolicy that is silently not enforced would be unsafe.
 */
import { annotationKey, POD_UNIMPLEMENTED } from '../api/well-known.ts';
import type { Pod } from '../api/kubernetes/core.ts';
import { conditionOf } from '../world/conditions.ts';
import { keysOf } from '../world/domain.ts';
import { traitsOf } from '../world/resources.ts';
import type { Rule } from './compiler.ts';
import type { UnimplementedObject } from '../world/world.ts';
import type { ConditionOutput, PatchOutput } from './output.ts';

const REASON = 'NotCarriedOut';

export const unimplemented: Rule = {
  name: 'unimplemented',
  over: (world) => keysOf(world.unimplemented),
  run: (world, id) => {
    const object = world.unimplemented.get(id);
    if (object === undefined) return [];
    const { resource, key, uid, feature, broken, terminating } = object;
    const { kind, conditions: place } = traitsOf(resource);
    const message = `${kind} ${key} is not implemented: this version of Kiln does not implement ${feature}. It has no effect in OVN`;
    if (place === 'none') {
      // The API server creates this Service in every cluster: a warning about it is not needed.
      const type = resource === 'services' && key === 'default/kubernetes' ? 'Normal' : 'Warning';
      return [{ kind: 'report', resource, key, uid, type, reason: REASON, message }];
    }
    const ready: ConditionOutput = { type: 'Ready', status: 'False', reason: REASON, message, event: 'Warning' };
    const conditions = [ready, ...(broken === undefined ? [] : [validated(broken)])];
    return [{ kind: 'patch', resource, key, uid, conditions, ...(terminating === true && released(object)) }];
  },
};

/** Kube-OVN's controller put a finalizer on it, which no other program would remove. */
function released({ resource, key }: UnimplementedObject): Pick<PatchOutput, 'finalizer' | 'event'> {
  const subject = `${traitsOf(resource).kind} ${key}`;
  const message = `${subject} is deleted. Its configuration that Kube-OVN made on nodes remains, and so do its leftover rows in OVN: this version of Kiln does not implement the kind; kiln status`;
  return { finalizer: false, event: { type: 'Warning', reason: REASON, message } };
}

function validated(broken: readonly string[]): ConditionOutput {
  if (broken.length === 0) return { type: 'Validated', status: 'True', reason: 'Accepted', message: '' };
  return { type: 'Validated', status: 'False', reason: 'Invalid', message: broken.join('; '), event: 'Warning' };
}

/** Suffixes of annotations for single interfaces that Kiln does not implement, with the consequence. */
const UNIMPLEMENTED_SUFFIXES: readonly (readonly [string, string])[] = [
  ['.kubernetes.io/security_groups', 'no rule of a SecurityGroup is enforced'],
];

/** Annotations for the whole pod, likewise. */
const UNIMPLEMENTED_ANNOTATIONS: readonly (readonly [string, string])[] = [
  [annotationKey.northGateway, 'no traffic is sent through that gateway, nor through its node where its Subnet has distributed gateways'],
  [annotationKey.podEip, 'no NAT rule is created for the pod'],
  [annotationKey.podSnat, 'no NAT rule is created for the pod'],
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
