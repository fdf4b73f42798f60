/**
 * Policies of the default Vpc's router that send outside what a NAT rule translates. Policies of Subnets would send it to a node (priority
 * 29000); those to Subnets and nodes (30000 and above) come first. Kube-OVN has them for the annotations of pods alone, beside routes by
 * source: in OVN as released such a route also takes the traffic to other Subnets.
 */
import type { World } from '../../world/world.ts';
import type { RowOutput, RowOwner } from '../output.ts';
import { policyRow } from '../vpc/vpc-policy-routes.ts';
import { outsideNextHop } from './gateway-next-hop.ts';
import type { EntryInEffect } from './nat-in-effect.ts';
import { inEffect } from './nat-in-effect.ts';
import { formerTranslations, translations } from './translation.ts';

const RULE = 'nat-outgoing';
/** That of Kube-OVN's annotation `north_gateway`. */
const PRIORITY = 29_250;

/** Of several rules with one match, the oldest in effect has the policy. @param key of the rule, of which `entry` is in effect */
export function outgoingPolicies(
  world: World,
  key: string,
  { result, outgoing, age }: EntryInEffect,
  owner: RowOwner,
): readonly RowOutput[] {
  const { vpc, external, pairs } = result;
  return outgoing.flatMap((match, at): readonly RowOutput[] => {
    const nexthop = outsideNextHop(world, external, pairs[at]?.family ?? 4);
    if (nexthop === '' || isOfOlder(world, key, age, match)) return [];
    return [policyRow(vpc, { priority: PRIORITY, match, action: 'reroute', nexthops: [nexthop] }, owner, RULE)];
  });
}

function isOfOlder(world: World, key: string, age: string, match: string): boolean {
  const keys = [translations, formerTranslations].flatMap((table) => [...world.derived(table).bucket('outgoing', match)]);
  return keys.some((one) => {
    const other = one === key ? undefined : inEffect(world, one);
    return other !== undefined && other.age < age && other.outgoing.includes(match);
  });
}
