/**
 * Gateway policies of a distributed Subnet for further source addresses of ports: Vips that a pod declares (`aaps`) and addresses of
 * `port_vips`. northd's address set of a port group has only the ports' own addresses, so no gateway policy of Kube-OVN's layout matches
 * these, and the default route would drop their packets. Each node gets an address set and a policy for them.
 */
import { furtherAddressSet } from '../../../api/names.ts';
import { annotationKey } from '../../../api/well-known.ts';
import type { Address } from '../../../net/address.ts';
import { formatAddress } from '../../../net/address.ts';
import { cidrContains, parseCidr } from '../../../net/cidr.ts';
import { familiesOf, ofFamily } from '../../../net/dual.ts';
import { rowId } from '../../../nb/row-id.ts';
import { splitPair, valuesOf } from '../../../engine/domain.ts';
import type { World } from '../../../world/world.ts';
import type { Rule } from '../../rule.ts';
import type { RowOutput } from '../../output.ts';
import { GATEWAY_PRIORITY, isDistributed, nodeJoinAddresses } from '../../subnet/rows/subnet-gateway.ts';
import { emittedSubnet } from '../../subnet/validity/subnet-state.ts';
import { subnetOwner } from '../../subnet/validity/subnet-view.ts';
import { policyRow } from '../../vpc/vpc-policy-routes.ts';
import { heldBy } from '../address/held-addresses.ts';
import { interfacesOf } from '../interface/pod-interfaces.ts';
import { podView } from '../view/pod-view.ts';
import { furtherSourceAddresses } from '../address/pod-vip.ts';

const RULE = 'pod-further-gateway';

/** One key for each pair of Subnet and node with such a pod; none in other clusters. */
export const furtherSourcePolicies: Rule = {
  name: RULE,
  over: (world) => valuesOf(world.pods, 'furtherAt'),
  run: (world, pair): readonly RowOutput[] => {
    const [subnet, node] = splitPair(pair);
    const view = emittedSubnet(world, subnet);
    if (view === undefined || !isDistributed(view)) return [];
    const addresses = addressesAt(world, pair, subnet);
    const joined = world.ask(nodeJoinAddresses, node);
    const owner = subnetOwner(view);
    return familiesOf(view).flatMap((family): readonly RowOutput[] => {
      const network = parseCidr(ofFamily(view, family)?.cidr ?? '');
      const nexthop = ofFamily(joined, family);
      // An address outside would also reroute traffic of other Subnets.
      const found = addresses.filter((address) => network !== undefined && cidrContains(network, address));
      const inside = [...new Set(found.map(formatAddress))];
      if (inside.length === 0 || nexthop === undefined) return [];
      const set = furtherAddressSet(subnet, node, family);
      const externalIds = { subnet, node };
      const match = `ip${family}.src == $${set}`;
      return [
        {
          kind: 'row',
          id: rowId('Address_Set', set),
          owner,
          rule: RULE,
          columns: { name: set, addresses: inside.toSorted() },
          externalIds,
        },
        policyRow(view.vpc, { priority: GATEWAY_PRIORITY, match, action: 'reroute', nexthops: [nexthop] }, owner, RULE, externalIds),
      ];
    });
  },
};

/** Further addresses of the ports of a Subnet on a node, of pods that have a port there, whatever their annotations are. */
function addressesAt(world: World, pair: string, subnet: string): readonly Address[] {
  const found: Address[] = [];
  for (const key of world.pods.bucket('furtherAt', pair)) {
    const pod = world.ask(podView, key);
    if (pod === undefined || !pod.alive || (pod.annotations[annotationKey.northGateway] ?? '') !== '') continue;
    for (const nic of interfacesOf(world, pod).interfaces) {
      const { ownRow, addresses } = heldBy(world, nic);
      if (ownRow && addresses?.subnet === subnet) found.push(...furtherSourceAddresses(world, nic, subnet));
    }
  }
  return found;
}
