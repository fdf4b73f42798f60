/**
 * Objects whose kind Kiln does not carry out yet, and pods that ask for an interface it does not make: an Event on each says so,
 * because silence about a NetworkPolicy that nobody enforces is unsafe.
 */
import { annotationKey } from '../api/well-known.ts';
import type { Pod } from '../api/core.ts';
import { keysOf } from '../world/domain.ts';
import { traitsOf } from '../world/resources.ts';
import type { Rule } from './compiler.ts';

const REASON = 'NotCarriedOut';

export const unserved: Rule = {
  name: 'unserved',
  over: (world) => keysOf(world.unserved),
  run: (world, id) => {
    const object = world.unserved.get(id);
    if (object === undefined) return [];
    const { resource, key, uid, feature } = object;
    const message = `${traitsOf(resource).kind} ${key} is not carried out: this version of Kiln does not do ${feature}. Nothing in OVN follows from it`;
    return [{ kind: 'notice', resource, key, uid, type: 'Warning', reason: REASON, message }];
  },
};

export const podUnserved: Rule = {
  name: 'pod-unserved',
  over: (world) => keysOf(world.pods, (pod) => attachmentKey(pod) !== undefined),
  run: (world, key) => {
    const pod = world.pods.get(key);
    const annotation = pod === undefined ? undefined : attachmentKey(pod);
    if (pod === undefined || annotation === undefined) return [];
    const consequence =
      annotation === annotationKey.defaultNetworkAttachment ? 'the pod gets no interface' : 'the pod gets its own interface only';
    const message = `Pod ${key}: annotation ${annotation} asks for attached networks, which this version of Kiln does not carry out; ${consequence}`;
    return [{ kind: 'notice', resource: 'pods', key, uid: pod.metadata.uid, type: 'Warning', reason: REASON, message }];
  },
};

function attachmentKey({ metadata }: Pod): string | undefined {
  const { annotations = {} } = metadata;
  if (annotations[annotationKey.defaultNetworkAttachment] !== undefined) return annotationKey.defaultNetworkAttachment;
  return (annotations[annotationKey.networkAttachments] ?? '').trim() === '' ? undefined : annotationKey.networkAttachments;
}
