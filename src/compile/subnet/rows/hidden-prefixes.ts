/** Prefix lengths of a Vpc's networks and routes: in OVN as released a source route hides each route with a shorter prefix. */
import type { Family } from '../../../net/address.ts';
import { parseCidr } from '../../../net/cidr.ts';
import { familiesOf, ofFamily } from '../../../net/dual.ts';
import type { Query } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { vpcSpec } from '../../vpc/vpc-view.ts';
import { subnetRows } from '../validity/subnet-state.ts';
import { subnetView } from '../validity/subnet-view.ts';

/** The shortest prefix length of each family among a Vpc's routed Subnets; a Subnet without rows does not count. */
export const largestNetworks: Query<Readonly<Record<Family, number>>> = defineQuery('vpc-largest-networks', (world, vpc) => {
  const shortest = { 4: 32, 6: 128 };
  for (const name of world.subnetVpcs.in(vpc)) {
    const view = world.ask(subnetView, name);
    if (view === undefined || !view.routed || world.ask(subnetRows, name) === 'none') continue;
    for (const family of familiesOf(view)) shortest[family] = Math.min(shortest[family], lengthOf(ofFamily(view, family)?.cidr ?? ''));
  }
  return shortest;
});

/** The shortest prefix length among the static routes of a Vpc's spec, by `<route table> <family>`. */
export const shortestPrefixes: Query<Readonly<Record<string, number>>> = defineQuery('vpc-shortest-prefixes', (world, vpc) => {
  const shortest: Record<string, number> = {};
  for (const { cidr = '', routeTable = '' } of world.ask(vpcSpec, vpc)?.staticRoutes ?? []) {
    const network = parseCidr(cidr);
    if (network === undefined) continue;
    const key = `${routeTable} ${network.family}`;
    shortest[key] = Math.min(shortest[key] ?? network.prefix, network.prefix);
  }
  return shortest;
});

export function lengthOf(cidr: string): number {
  return Number(cidr.slice(cidr.indexOf('/') + 1));
}
