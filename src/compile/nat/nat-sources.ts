/**
 * Rules that give one inner address several external ones. All of them work from outside; for what the inner address sends first, OVN takes
 * one of them.
 */
import type { NatRule } from '../../world/nat-rules.ts';
import type { World } from '../../world/world.ts';
import { describeRule, ruleText } from './nat-conflict-text.ts';
import { inEffect } from './nat-in-effect.ts';
import type { OvnNatRule } from './ovn-nat-rules.ts';
import { translationOf } from './requested-translation.ts';
import { formerTranslations, sendsOf, translations } from './translation.ts';

/** The other rules in effect that give an inner address of this one an external address, as keys. */
export function otherSources(world: World, key: string): readonly string[] {
  return sourcesOf(world, key, inEffect(world, key)?.sends ?? []);
}

function sourcesOf(world: World, key: string, sends: readonly string[]): readonly string[] {
  const keys = [translations, formerTranslations].flatMap((table) =>
    sends.flatMap((inner) => [...world.derived(table).bucket('sends', inner)]),
  );
  return [...new Set(keys)]
    .filter((one) => one !== key && inEffect(world, one)?.sends.some((inner) => sends.includes(inner)) === true)
    .toSorted();
}

/** The sentence about them; empty for none. */
export function otherSourcesText(world: World, key: string): string {
  const [first, ...others] = otherSources(world, key);
  if (first === undefined) return '';
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `${ruleText(first)}${more} ${others.length === 0 ? 'has' : 'have'} the same address inside: each works from outside, and for what that address sends OVN takes either external address; change or delete one of them; ${describeRule(first)}`;
}

/** For the webhook: the same for a rule that is about to be written, unless it has such a one already. */
export function sourcesOfNew(world: World, resource: OvnNatRule, rule: NatRule): string {
  const key = `${resource}/${rule.metadata.name}`;
  const result = translationOf(world, resource, rule);
  if (result.kind !== 'translation' || otherSources(world, key).length > 0) return '';
  const [other] = sourcesOf(world, key, sendsOf(resource, result));
  if (other === undefined) return '';
  return `${ruleText(key)}: ${ruleText(other)} has the same address inside: for what that address sends OVN takes either external address`;
}
