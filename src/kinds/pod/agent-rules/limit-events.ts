/** Limits of a pod that runs and that are not in effect, as Events about it: nothing else tells its owner. */
import type { Attachment, DeviceName } from '../../../agent/world/attachment.ts';
import type { NodeWorld } from '../../../agent/world/node-world.ts';
import type { ObjectEventOutput } from '../../../agent/world/outputs.ts';
import type { NodeSettings } from '../../../agent/rules/node-settings.ts';
import type { NodePod } from '../agent-table.ts';
import { LIMITS_NOT_IN_EFFECT } from '../agent-writes.ts';
import type { PodLimits } from './pod-limits.ts';

export function limitEvents(
  world: NodeWorld,
  { interfaceName, pod }: Attachment,
  device: DeviceName,
  { uid }: NodePod,
  limits: PodLimits,
  { datapath, node }: NodeSettings,
): readonly ObjectEventOutput[] {
  const { policing, queue, ignored = [] } = limits;
  const lost = queue === undefined ? undefined : world.failures.get(`queue of ${device}`);
  const messages = [
    ...(lost === undefined ? [] : [lost]),
    ...(policing !== undefined && datapath === 'netdev'
      ? [
          `egress_rate and egress_burst of interface ${interfaceName} have no effect: Open vSwitch limits what a pod sends in the kernel's datapath alone, and node ${node} has that of userspace; take the annotations away, or run the pod on another node`,
        ]
      : []),
    ...(ignored.length > 0
      ? [
          `${ignored.join(', ')} of interface ${interfaceName} have no effect beside ingress_rate: a port has one queue; take one or the other away`,
        ]
      : []),
  ];
  return messages.map((message) => limitEvent(pod, uid, message));
}

/** An annotation that cannot be read: the pod keeps the limits that it has. */
export function unreadLimits({ pod }: Attachment, { uid }: NodePod, problem: string): ObjectEventOutput {
  return limitEvent(pod, uid, `the limits of the pod stay as they were: ${problem}`);
}

function limitEvent({ namespace, name }: Attachment['pod'], uid: string, message: string): ObjectEventOutput {
  return { kind: 'object-event', resource: 'pods', namespace, name, uid, reason: LIMITS_NOT_IN_EFFECT, message };
}
