/**
 * Policies of the default Vpc's router that send outside what a NAT rule translates. Policies of Subnets would send it to a node (priority
 * 29000); those to Subnets and nodes (30000 and above) come first. Kube-OVN has them for the annotations of pods alone, beside routes by
 * source: in OVN as released such a route also takes the traffic to other Subnets.
 */
import { splitKey } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';
import type { RowOutput, RowOwner } from '../output.ts';
import { policyRow } from '../vpc/vpc-policy-routes.ts';
import { outsideNextHop } from './gateway-next-hop.ts';
import type { EntryInEffect } from './nat-in-effect.ts';
import type { Translation } from './nat-pairs.ts';
import { inEffect } from './nat-in-effect.ts';
import { formerTranslations, outgoingMatches, translations } from './translation.ts';
import type { WaysOut } from './ways-out.ts';
import { waysOut, waysOutText } from './ways-out.ts';

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
  return policiesOf(world, key, result, outgoing).flatMap(({ match, nexthop }): readonly RowOutput[] => {
    if (isOfOlder(world, key, { age, match, outgoing })) return [];
    return [policyRow(result.vpc, { priority: PRIORITY, match, action: 'reroute', nexthops: [nexthop] }, owner, RULE)];
  });
}

type Outgoing = WaysOut['policies'];

function policiesOf(world: World, key: string, result: Translation, outgoing: readonly string[]): Outgoing {
  const everything = allOf(world, result, outgoing);
  const { namespace: resource, name } = splitKey(key);
  return resource === 'ovn-snat-rules' && outgoing.length > 0 ? waysOut(world, name, result, everything).policies : everything;
}

function allOf(world: World, { external, pairs }: Translation, outgoing: readonly string[]): Outgoing {
  return outgoing.flatMap((match, at) => {
    const nexthop = outsideNextHop(world, external, pairs[at]?.family ?? 4);
    return nexthop === '' ? [] : [{ match, nexthop }];
  });
}

/** What leads to the external Subnet of an OvnSnatRule of the default Vpc, as a sentence; empty for other rules. */
export function outgoingText(world: World, key: string, result: Translation): string {
  const { namespace: resource, name } = splitKey(key);
  if (resource !== 'ovn-snat-rules' || result.vpc !== world.settings.defaultVpc) return '';
  const everything = allOf(world, result, outgoingMatches(resource, result));
  return waysOutText(waysOut(world, name, result, everything), result);
}

function isOfOlder(
  world: World,
  key: string,
  { age, match, outgoing }: { readonly age: string; readonly match: string; readonly outgoing: readonly string[] },
): boolean {
  const tables = [translations, formerTranslations];
  const keys = outgoing.flatMap((source) => tables.flatMap((table) => [...world.derived(table).bucket('outgoing', source)]));
  return keys.some((one) => {
    const other = one === key ? undefined : inEffect(world, one);
    if (other === undefined || other.age >= age) return false;
    return policiesOf(world, one, other.result, other.outgoing).some((policy) => policy.match === match);
  });
}
