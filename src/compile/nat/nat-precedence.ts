/** Which of several rules that translate the same goes first: one in effect keeps its traffic, whatever comes, and else the older one. */
import { splitKey } from '../../world/resources.ts';
import { labelledAddresses } from '../../world/nat-rules.ts';
import type { NatRule } from '../../world/nat-rules.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Translation } from './nat-pairs.ts';
import { natId } from './nat-pairs.ts';
import type { OvnNatRule } from './ovn-nat-rules.ts';
import { isPodUse } from './pod-translation.ts';
import { addressesOf, claimsOf, sendsOf, translations } from './translation.ts';

/**
 * Key: that of `translations`. A text for comparison: the smaller one goes first. What is in effect is in the status, which follows the rows
 * and outlives the database. Pods come after all rules.
 */
export const precedence: Query<string> = defineQuery('nat-precedence', (world, key) => {
  const entry = world.derived(translations).get(key);
  const { namespace: resource, name } = splitKey(key);
  if (entry === undefined || isPodUse(resource) || entry.result.kind === 'problem') return entry?.age ?? '';
  if (entry.isFormer) return `${AS_IT_IS} ${entry.age}`;
  const rule = world.natRules[resource as OvnNatRule].get(name);
  return `${rule === undefined ? NEW : rank(world, resource as OvnNatRule, rule, entry.result)} ${entry.age}`;
});

const [AS_IT_IS, EDITED, NEW] = ['0', '1', '2'] as const;

/** Whether a rule translates what it asks for already, as far as others could be asking for the same. */
export function isAsItIs(world: World, key: string): boolean {
  return world.ask(precedence, key).startsWith(`${AS_IT_IS} `);
}

function rank(world: World, resource: OvnNatRule, rule: NatRule, now: Translation): string {
  const had = presentTranslation(rule, now);
  const has = (of: (resource: OvnNatRule, one: Translation) => readonly string[]): boolean => {
    const before = new Set(of(resource, had));
    return of(resource, now).every((one) => before.has(one));
  };
  if (!has(claimsOf)) return NEW;
  return has((_, one) => addressesOf(one)) && has(sendsOf) && (!now.distributed || isDistributed(world, now)) ? AS_IT_IS : EDITED;
}

/** What the status says that is translated. */
function presentTranslation(rule: NatRule, now: Translation): Translation {
  const { vpc = '', v4Eip, v6Eip, v4Ip, v6Ip, v4IpCidr, v6IpCidr, protocol = '', externalPort = '' } = rule.status ?? {};
  const pairs = (
    [
      [4, v4Eip, v4Ip ?? v4IpCidr],
      [6, v6Eip, v6Ip ?? v6IpCidr],
    ] as const
  ).flatMap(([family, external = '', inner = '']) => (external === '' || inner === '' ? [] : [{ family, external, inner }]));
  const { subnet } = labelledAddresses(rule);
  return { ...now, vpc, external: subnet === '' ? now.external : subnet, pairs, protocol, externalPort };
}

function isDistributed(world: World, { vpc, pairs }: Translation): boolean {
  return pairs.every(({ external, inner }) => {
    const options = world.rows.column(natId(vpc, 'dnat_and_snat', external, inner), 'options');
    return options instanceof Map && options.get('stateless') === 'true';
  });
}
