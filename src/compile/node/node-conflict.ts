/**
 * The Event of a node whose InternalIP lies in the CIDR of a Subnet, with Kube-OVN's reason and sentence. The Subnet's conditions have the
 * rest.
 */
import { keysOf } from '../../engine/domain.ts';
import type { Rule } from '../rule.ts';
import { nodeInSubnet } from '../subnet/validity/subnet-conflicts.ts';
import { nodeView } from './node-view.ts';

export const nodeConflict: Rule = {
  name: 'node-conflict',
  over: (world) => keysOf(world.subnets),
  run: (world, subnet) => {
    const node = world.ask(nodeInSubnet, subnet);
    const uid = node === undefined ? undefined : world.ask(nodeView, node)?.uid;
    if (node === undefined || uid === undefined) return [];
    const message = `internal IP address of node ${node} is in CIDR of subnet ${subnet}, this may result in network issues`;
    return [{ kind: 'report', resource: 'nodes', key: node, uid, type: 'Warning', reason: 'NodeAddressConflictWithSubnet', message }];
  },
};
