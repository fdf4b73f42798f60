/**
 * What of a NAT rule, or of the annotation of a pod, is in effect: what it asks for; or, while another rule or a row of another program has
 * that, what the rows of an edited rule translated before.
 */
import { splitKey } from '../../world/resources.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Problem } from './external-problem.ts';
import { foreignNat } from './foreign-nat.ts';
import { conflictText, precedingFormer, precedingRule } from './nat-conflicts.ts';
import type { Translation } from './nat-pairs.ts';
import { hasSomeRow } from './nat-rows.ts';
import type { OvnNatRule } from './ovn-nat-rules.ts';
import { isPodUse } from './pod-translation.ts';
import type { Entry } from './translation.ts';
import { formerTranslations, translations } from './translation.ts';

export type EntryInEffect = Entry & { readonly result: Translation };

/** The kind of rules whose rows the translation of a key is like. */
export function rowsLike(key: string): OvnNatRule {
  const { namespace } = splitKey(key);
  if (!isPodUse(namespace)) return key.slice(0, key.indexOf('/')) as OvnNatRule;
  return namespace === 'pod-eip' ? 'ovn-fips' : 'ovn-snat-rules';
}

/** Why another rule or program has what a rule asks for, without its name in front; undefined if none has. Key: that of `translations`. */
export const obstacle: Query<Problem | undefined> = defineQuery('nat-obstacle', (world, key) => {
  const entry = world.derived(translations).get(key);
  if (entry === undefined || !isTranslated(entry)) return undefined;
  const preceding = world.ask(precedingRule, key);
  if (preceding !== '') return { reason: 'NatConflict', message: conflictText(world, key, preceding) };
  const foreign = foreignNat(world, rowsLike(key), entry.result, entry.owner);
  // What is in effect already stays, and says so.
  if (foreign === undefined || hasSomeRow(world, rowsLike(key), entry.result, entry.owner)) return undefined;
  return { reason: 'RowConflict', message: foreign };
});

const isInEffectAs: Query<'asked' | 'former' | 'nothing'> = defineQuery('nat-in-effect-as', (world, key) => {
  const entry = world.derived(translations).get(key);
  if (entry === undefined || !isTranslated(entry)) return 'nothing';
  if (world.ask(obstacle, key) === undefined) return 'asked';
  return world.derived(formerTranslations).has(key) && world.ask(precedingFormer, key) === '' ? 'former' : 'nothing';
});

/** Undefined while nothing of it is in effect. */
export function inEffect(world: World, key: string): EntryInEffect | undefined {
  const as = world.ask(isInEffectAs, key);
  const entry = as === 'nothing' ? undefined : world.derived(as === 'asked' ? translations : formerTranslations).get(key);
  return entry !== undefined && isTranslated(entry) ? entry : undefined;
}

function isTranslated(entry: Entry): entry is EntryInEffect {
  return entry.result.kind === 'translation';
}
