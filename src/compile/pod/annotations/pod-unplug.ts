/**
 * An interface that its pod no longer has: when its port is gone, the annotations of its provider are removed, and no others.
 */
import { DEFAULT_PROVIDER, podAnnotation } from '../../../api/well-known.ts';
import { WRITTEN_POD_ANNOTATIONS } from '../../../api/annotations.ts';
import type { World } from '../../../world/world.ts';
import type { EventOutput, Output } from '../../output.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { portId, portOf } from '../interface/pod-interface.ts';
import type { PodView } from '../view/pod-view.ts';
import { allocatedProviders, podOwner } from '../view/pod-view.ts';
import { isOurs } from '../../vpc/vpc-view.ts';

export function unplugOutputs(world: World, pod: PodView, interfaces: readonly PodInterface[]): readonly Output[] {
  const annotations: Record<string, null> = {};
  const removed: string[] = [];
  for (const provider of [...allocatedProviders(pod), ...pod.unproven]) {
    if (interfaces.some((nic) => nic.provider === provider) || isOurs(world, portId(portOf(pod, provider)), podOwner(pod))) continue;
    if (!pod.unproven.includes(provider)) removed.push(sentenceOf(pod, provider));
    for (const suffix of WRITTEN_POD_ANNOTATIONS) annotations[podAnnotation(provider, suffix)] = null;
    if (provider === DEFAULT_PROVIDER) continue;
    const prefix = podAnnotation(provider, 'allocated').slice(0, -'allocated'.length);
    for (const key of Object.keys(pod.annotations)) if (key.startsWith(prefix)) annotations[key] = null;
  }
  if (Object.keys(annotations).length === 0) return [];
  const event: EventOutput = { type: 'Normal', reason: 'PodNetworkUpdated', message: removed.join('; ') };
  return [{ kind: 'patch', resource: 'pods', key: pod.key, uid: pod.uid, annotations, ...(removed.length > 0 && { event }) }];
}

/** Details of Kube-OVN's Event, from the annotations. */
function sentenceOf(pod: PodView, provider: string): string {
  const [subnet, ip, mac] = (['logical_switch', 'ip_address', 'mac_address'] as const).map(
    (suffix) => pod.annotations[podAnnotation(provider, suffix)] ?? '',
  );
  return `provider=${provider} subnet=${subnet} ip=${ip} mac=${mac} logicalSwitchPort=${portOf(pod, provider)}`;
}
