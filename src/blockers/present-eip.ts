/** The EIP that a NAT rule still translates although its spec names another one. */
import type { NatRuleResource } from '../world/nat-rules.ts';
import { annotatedEip, eipOfRule, eipResourceOf } from '../world/nat-rules.ts';
import type { Query } from '../world/world.ts';
import { defineQuery } from '../world/world.ts';
import { isLateForEip } from './late-nat-rules.ts';

/**
 * The EIP whose addresses the status of a rule of OVN has, and which the rule no longer names; empty for none. It is in use until the
 * status has those of the next one: else another object would get an address that OVN still translates. Key: `<resource>/<name>`.
 */
export const presentEip: Query<string> = defineQuery('nat-present-eip', (world, key) => {
  const at = key.indexOf('/');
  const resource = key.slice(0, at) as NatRuleResource;
  const rule = world.natRules[resource].get(key.slice(at + 1));
  if (rule === undefined) return '';
  const [before, now] = [annotatedEip(rule) ?? '', eipOfRule(rule)];
  if (before === '' || before === now) return '';
  const held = world.addressObject(eipResourceOf(resource), before)?.held;
  const translated = [rule.status?.v4Eip ?? '', rule.status?.v6Eip ?? ''].filter((one) => one !== '');
  return held !== undefined && translated.length > 0 && translated.every((one) => [held.v4, held.v6].includes(one)) ? before : '';
});

/** The EIPs that a rule uses: the one that it names, if that accepts it, and its present one. */
export const eipsOfRule: Query<readonly string[]> = defineQuery('nat-eips-of-rule', (world, key) => {
  const at = key.indexOf('/');
  const rule = world.natRules[key.slice(0, at) as NatRuleResource].get(key.slice(at + 1));
  if (rule === undefined) return [];
  const named = world.ask(isLateForEip, key) ? '' : eipOfRule(rule);
  return [named, world.ask(presentEip, key)].filter((eip) => eip !== '');
});
