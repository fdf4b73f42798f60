/** Condition `NetworkUnavailable` of the Node: as long as it is True, Kubernetes schedules no pods on it. */
import type { Rule } from '../../../engine/compiler.ts';
import { ONCE } from '../../../engine/domain.ts';
import type { NodeWorld } from '../../../agent/world/node-world.ts';
import type { ObjectConditionOutput, NodeOutput } from '../../../agent/world/outputs.ts';
import { INSTALLED } from '../../../agent/world/port-keys.ts';
import { joinNetwork, NODE_DEVICE } from './node-interface.ts';
import type { NodeSettings } from '../../../agent/rules/node-settings.ts';

export function nodeCondition(settings: NodeSettings): Rule<NodeWorld, NodeOutput> {
  return {
    name: 'node-condition',
    over: () => ONCE,
    run(world) {
      const node = world.nodes.get(settings.node);
      if (node === undefined) return [];
      const isJoined = joinNetwork(node) !== undefined;
      // An agent that starts has not read it yet: what the Node says stays.
      if (isJoined && world.ports.has(NODE_DEVICE) && !world.devices.has(NODE_DEVICE)) return [];
      const missing = missingOf(world, isJoined);
      const state: Pick<ObjectConditionOutput, 'status' | 'reason' | 'message'> =
        missing === undefined
          ? { status: 'False', reason: 'JoinSubnetGatewayReachable', message: `${NODE_DEVICE} is in the join network` }
          : { status: 'True', reason: 'JoinSubnetGatewayUnreachable', message: missing };
      return [{ kind: 'object-condition', resource: 'nodes', name: settings.node, type: 'NetworkUnavailable', ...state }];
    },
  };
}

/** Why the node is not in the join network; undefined if it is. A later restart of ovn-controller changes nothing of it. */
function missingOf(world: NodeWorld, isJoined: boolean): string | undefined {
  if (!isJoined) return 'the controller has given the node no address in the join network yet';
  const port = world.ports.get(NODE_DEVICE);
  if (port === undefined) return `port ${NODE_DEVICE} is not in Open vSwitch yet`;
  if (port.error !== '') return `Open vSwitch cannot use port ${NODE_DEVICE}: ${port.error}`;
  if (port.externalIds[INSTALLED] !== 'true') return `ovn-controller has not installed the flows of ${NODE_DEVICE} yet`;
  const device = world.devices.get(NODE_DEVICE);
  if (device?.kind !== 'present' || !device.up || device.addresses.length === 0) return `device ${NODE_DEVICE} has no address yet`;
  return undefined;
}
