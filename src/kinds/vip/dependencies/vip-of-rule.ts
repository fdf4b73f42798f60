/** The Vip that a NAT rule translates to: it is in use until the rule names another target or is gone. */
import type { NatRule, NatRuleResource } from '../../../world/nat-rules.ts';
import { formerSpecs } from '../../ovn-fip/table/former-specs.ts';
import { translationsOf, vipOfRule } from '../../../world/nat-rules.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';

/**
 * The Vip that a rule names, unless the deletion of that began before the rule came, and the one that its rows still translate to. Key:
 * `<resource>/<name>` of the rule.
 */
export const vipsInUseBy: Query<readonly string[]> = defineQuery('nat-vips-in-use', (world, key) => {
  const at = key.indexOf('/');
  const rule = world.natRules[key.slice(0, at) as NatRuleResource].get(key.slice(at + 1));
  const former = world.derived(formerSpecs).get(key);
  const named = rule === undefined || isLateForVip(world, rule) ? '' : vipOfRule(rule);
  return [...new Set([named, former === undefined ? '' : vipOfRule(former)])].filter((vip) => vip !== '');
});

/** The rules of a kind whose rows still translate to a Vip that they no longer name. */
export function formerRulesOf(world: World, resource: NatRuleResource, vip: string): readonly string[] {
  return [...world.derived(formerSpecs).bucket('vip', `${resource}/${vip}`)].map((key) => key.slice(resource.length + 1)).toSorted();
}

/**
 * A NAT rule does not block the deletion of a Vip if it was created afterwards, or edited afterwards to name the Vip: else the deletion
 * would never end. One that translates to the Vip's address blocks it. Both times are the API server's, in whole seconds.
 */
export function isLateForVip(world: World, rule: NatRule): boolean {
  const vip = vipOfRule(rule);
  const { deleted, addresses } = vip === '' ? NOT_DELETED : world.ask(vipInDeletion, vip);
  if (deleted === '') return false;
  const translated = translationsOf(rule).map(([, inner]) => inner);
  if (translated.some((inner) => addresses.includes(inner))) return false;
  const { v4Ip = '', v6Ip = '' } = rule.spec;
  const isEdited = translated.length > 0 && v4Ip === '' && v6Ip === '';
  return isEdited || rule.metadata.creationTimestamp > deleted;
}

interface VipInDeletion {
  /** When its deletion began; empty if it did not. */
  readonly deleted: string;
  readonly addresses: readonly string[];
}

const NOT_DELETED: VipInDeletion = { deleted: '', addresses: [] };

const vipInDeletion: Query<VipInDeletion> = defineQuery('vip-in-deletion', (world, name) => {
  const deleted = world.vips.get(name)?.metadata.deletionTimestamp;
  const held = deleted === undefined ? undefined : world.addressObject('vips', name)?.held;
  return deleted === undefined ? NOT_DELETED : { deleted, addresses: [held?.v4 ?? '', held?.v6 ?? ''] };
});
