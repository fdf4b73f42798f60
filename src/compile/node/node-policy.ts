/** Pods reach a node's InternalIP through its port in the join Subnet: one policy of the default Vpc's router for each family. */
import { parseAddress } from '../../net/address.ts';
import { policyId } from '../../nb/tables.ts';
import { keysOf } from '../../engine/domain.ts';
import type { Rule } from '../rule.ts';
import { isOfOlderNode } from './node-addresses.ts';
import { joinAddresses } from './node-join.ts';
import { nodeOwner, nodeView } from './node-view.ts';
import type { Output } from '../output.ts';
import { routerId } from '../vpc/vpc-view.ts';

const RULE = 'node-policy';
const PRIORITY = 30_000;

export const nodePolicy: Rule = {
  name: RULE,
  over: (world) => keysOf(world.nodes),
  run: (world, name) => {
    const node = world.ask(nodeView, name);
    const join = node === undefined ? undefined : joinAddresses(world, node);
    if (node === undefined || join === undefined) return [];
    const router = world.settings.defaultVpc;
    return [...new Set(node.internalIps)].flatMap((address): Output[] => {
      const family = parseAddress(address)?.family;
      const nexthop = family === 4 ? join.v4 : join.v6;
      if (family === undefined || nexthop === '' || isOfOlderNode(world, node, address)) return [];
      const match = `ip${family}.dst == ${address}`;
      return [
        {
          kind: 'row',
          id: policyId(router, PRIORITY, match),
          owner: nodeOwner(node),
          rule: RULE,
          parent: { id: routerId(router), column: 'policies' },
          columns: { priority: PRIORITY, match, action: 'reroute', nexthops: [nexthop] },
          externalIds: { node: name, 'address-family': String(family) },
        },
      ];
    });
  },
};
