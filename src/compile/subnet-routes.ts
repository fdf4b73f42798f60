/**
 * How the router of its Vpc treats a Subnet's traffic. Default Vpc: what goes to the Subnet is routed, not sent to a gateway
 * (policy 31000). Custom Vpc: what comes from it goes to its gateway, in its route table.
 *
 * That source route is left out where the Vpc has a Subnet with a larger network: the longer prefix would win over the route to
 * that Subnet, and the two could not talk.
 */
import type { Family } from '../net/address.ts';
import { familiesOf, ofFamily } from '../net/dual.ts';
import { keysOf } from '../world/domain.ts';
import type { Query } from '../world/world.ts';
import { defineQuery } from '../world/world.ts';
import type { Rule } from './compiler.ts';
import type { Output } from './output.ts';
import { prefixOf } from './subnet-acls.ts';
import { statedSubnet } from './subnet-state.ts';
import { claimantOfSubnet, subnetView } from './subnet-view.ts';
import { policyRow } from './vpc-policy-routes.ts';
import { routeRow } from './vpc-static-routes.ts';

const RULE = 'subnet-routes';
const SUBNET_PRIORITY = 31000;

export const subnetRoutes: Rule = {
  name: RULE,
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const view = statedSubnet(world, name);
    if (view === undefined || !view.routed) return [];
    const owner = claimantOfSubnet(view);
    return familiesOf(view).flatMap((family): Output[] => {
      const network = ofFamily(view, family);
      if (network === undefined) return [];
      const { cidr, gateway } = network;
      if (view.inDefaultVpc) {
        const match = `${prefixOf(family)}.dst == ${cidr}`;
        return [policyRow(view.vpc, { priority: SUBNET_PRIORITY, match, action: 'allow', nexthops: [] }, owner, RULE, { subnet: name })];
      }
      if (world.ask(largestNetworks, view.vpc)[family] < lengthOf(cidr)) return [];
      return [routeRow(view.vpc, { table: view.routeTable, policy: 'src-ip', prefix: cidr, nexthop: gateway }, owner, RULE)];
    });
  },
};

/** Of a Vpc: the shortest prefix length of each family among its routed Subnets. */
const largestNetworks: Query<Readonly<Record<Family, number>>> = defineQuery('vpc-largest-networks', (world, vpc) => {
  const shortest = { 4: 32, 6: 128 };
  for (const name of world.subnets.bucket('vpc', vpc)) {
    const view = world.ask(subnetView, name);
    if (view === undefined || !view.routed) continue;
    for (const family of familiesOf(view)) shortest[family] = Math.min(shortest[family], lengthOf(ofFamily(view, family)?.cidr ?? ''));
  }
  return shortest;
});

function lengthOf(cidr: string): number {
  return Number(cidr.slice(cidr.indexOf('/') + 1));
}
