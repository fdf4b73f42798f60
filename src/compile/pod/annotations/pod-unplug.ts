/**
 * An interface that its pod no longer has: when its port is gone, the annotations of its provider are removed, and no others.
 */
import { DEFAULT_PROVIDER, podAnnotation } from '../../../api/well-known.ts';
import { WRITTEN_POD_ANNOTATIONS } from '../../../api/annotations.ts';
import type { World } from '../../../world/world.ts';
import type { Output } from '../../output.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { portId, portOf } from '../interface/pod-interface.ts';
import type { PodView } from '../view/pod-view.ts';
import { allocatedProviders, podOwner } from '../view/pod-view.ts';
import { isOurs } from '../../vpc/vpc-view.ts';

export function unplugOutputs(world: World, pod: PodView, interfaces: readonly PodInterface[]): readonly Output[] {
  const annotations: Record<string, null> = {};
  for (const provider of [...allocatedProviders(pod), ...pod.unproven]) {
    if (interfaces.some((nic) => nic.provider === provider) || isOurs(world, portId(portOf(pod, provider)), podOwner(pod))) continue;
    for (const suffix of WRITTEN_POD_ANNOTATIONS) annotations[podAnnotation(provider, suffix)] = null;
    if (provider === DEFAULT_PROVIDER) continue;
    const prefix = podAnnotation(provider, 'allocated').slice(0, -'allocated'.length);
    for (const key of Object.keys(pod.annotations)) if (key.startsWith(prefix)) annotations[key] = null;
  }
  if (Object.keys(annotations).length === 0) return [];
  return [{ kind: 'patch', resource: 'pods', key: pod.key, uid: pod.uid, annotations }];
}
