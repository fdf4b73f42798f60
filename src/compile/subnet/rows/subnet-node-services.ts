/**
 * Services for the pods of an underlay Subnet that is connected to the overlay and has no load balancers of OVN (`enableLb: false`): what they
 * send to a network of Services goes to the node of each pod, whose kube-proxy answers. Only the default Vpc has the addresses of nodes.
 */
import { portGroupAddressSet, subnetNodePortGroup } from '../../../api/names.ts';
import type { Subnet } from '../../../api/kinds/subnet.ts';
import { parseCidr } from '../../../net/cidr.ts';
import { familiesOf, ofFamily, splitList } from '../../../net/dual.ts';
import type { Domain } from '../../../engine/domain.ts';
import { bothOf, keysOf, pairsOf, splitPair } from '../../../engine/domain.ts';
import type { World } from '../../../world/world.ts';
import type { Rule } from '../../rule.ts';
import type { RowOutput } from '../../output.ts';
import { policyRow } from '../../vpc/vpc-policy-routes.ts';
import { emittedSubnet } from '../validity/subnet-state.ts';
import { hasServicesByNode, subnetOwner } from '../validity/subnet-view.ts';
import { prefixOf } from './subnet-acls.ts';
import { nodeJoinAddresses, subnetNodeGroupId } from './subnet-gateway.ts';

const RULE = 'subnet-node-services';
const PRIORITY = 29_400;

export const subnetNodeServices: Rule = {
  name: RULE,
  over: (world) => pairsOf(interconnectedSubnets(world), keysOf(world.nodes)),
  run: (world, pair) => {
    const [subnet, node] = splitPair(pair);
    const view = emittedSubnet(world, subnet);
    if (view === undefined || !hasServicesByNode(view)) return [];
    const owner = subnetOwner(view);
    const group = subnetNodePortGroup(subnet, node);
    const joined = world.ask(nodeJoinAddresses, node);
    const services = splitList(world.settings.serviceCidr);
    const policies = familiesOf(view).flatMap((family): readonly RowOutput[] => {
      const nexthop = ofFamily(joined, family);
      if (nexthop === undefined) return [];
      return services
        .filter((cidr) => parseCidr(cidr)?.family === family)
        .map((cidr) => {
          const ip = prefixOf(family);
          const match = `${ip}.src == $${portGroupAddressSet(group, family)} && ${ip}.dst == ${cidr}`;
          return policyRow(view.vpc, { priority: PRIORITY, match, action: 'reroute', nexthops: [nexthop] }, owner, RULE, {
            ...{ subnet, node, svcCidr: cidr },
            ...{ isU2ORoutePolicy: 'true', isU2ONoLBRoutePolicy: 'true' },
          });
        });
    });
    const externalIds = { lr: view.vpc, ls: subnet, u2o: 'true' };
    return [{ kind: 'row', id: subnetNodeGroupId(subnet, node), owner, rule: RULE, columns: { name: group }, externalIds }, ...policies];
  },
};

/** Subnets that may have such rows. The domain has no pairs of other Subnets with nodes, so these cost nothing. */
function interconnectedSubnets(world: World): Domain {
  const may = ({ spec: { vlan = '', u2oInterconnection = false } }: Subnet): boolean => vlan !== '' && u2oInterconnection;
  return bothOf(keysOf(world.subnets, may), world.subnetVpcs.within(world.settings.defaultVpc));
}
