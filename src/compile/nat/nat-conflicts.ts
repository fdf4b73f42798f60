/**
 * NAT rules that translate the same. The first of them is in effect; each rule that conflicts with one in effect waits. All of them say so.
 * What an edited rule still translates, since its spec cannot be carried out, is in a table of its own, and conflicts as well.
 */
import type { NatRule } from '../../world/nat-rules.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Problem } from './external-problem.ts';
import { describeRule, isOfPod, overlapText, ruleText } from './nat-conflict-text.ts';
import type { OvnNatRule } from './ovn-nat-rules.ts';
import { isAsItIs, precedence } from './nat-precedence.ts';
import { translationOf } from './requested-translation.ts';
import type { Asked } from './translation.ts';
import { askedBy, formerTranslations, translations } from './translation.ts';

type Translations = typeof translations;

/** Keys of the other rules that ask for something of it, or whose former translation has it, in the order of precedence. */
function rivalsOf(world: World, key: string, asked: Asked, table: Translations): readonly string[] {
  const keys = new Set(rivalKeys(world, asked, table));
  const rank = (one: string): string => world.ask(precedence, one);
  return [...keys].filter((one) => one !== key).toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

/** Keys of all rules that translate something of it. */
function rivalKeys(world: World, { vpc, claims, addresses, sends, exclusive }: Asked, definition: Translations): readonly string[] {
  const table = world.derived(definition);
  const elsewhere = definition === translations ? vpcsOfAddress : formerVpcsOfAddress;
  return [
    ...claims.flatMap((claim) => [...table.bucket('claim', claim)]),
    ...addresses.flatMap((address) => [...table.bucket(exclusive ? 'address' : 'exclusive', address)]),
    ...sends.flatMap((inner) => [...table.bucket(exclusive ? 'sends' : 'sends-exclusive', inner)]),
    // Two routers would both answer for an address.
    ...addresses.flatMap((address) =>
      world.ask(elsewhere, address).every((one) => one === vpc)
        ? []
        : [...table.bucket('address', address)].filter((key) => table.get(key)?.vpc !== vpc),
    ),
  ];
}

/** The Vpcs whose rules use an external address, sorted: one, as a rule. */
const vpcsOfAddress: Query<readonly string[]> = defineQuery('nat-vpcs-of-address', (world, address) =>
  vpcsIn(world, address, translations),
);
const formerVpcsOfAddress: Query<readonly string[]> = defineQuery('nat-former-vpcs-of-address', (world, address) =>
  vpcsIn(world, address, formerTranslations),
);

function vpcsIn(world: World, address: string, definition: Translations): readonly string[] {
  const table = world.derived(definition);
  return [...new Set([...table.bucket('address', address)].map((key) => table.get(key)?.vpc ?? ''))].toSorted();
}

/**
 * The rule in effect that translates the same as this one; empty if there is none. It reads rules that go first alone, so it ends. What an
 * edited rule still translates goes before all but what others have in effect as they ask for it.
 */
export const precedingRule: Query<string> = defineQuery('nat-preceding-rule', (world, key) => {
  const entry = world.derived(translations).get(key);
  if (entry === undefined) return '';
  const rivals = rivalsOf(world, key, entry, translations);
  const rank = rivals.length === 0 ? '' : world.ask(precedence, key);
  const preceding = rivals.filter((one) => world.ask(precedence, one) < rank).find((one) => world.ask(precedingRule, one) === '');
  if (preceding !== undefined) return preceding;
  const former = rivalsOf(world, key, entry, formerTranslations);
  if (former.length === 0 || isAsItIs(world, key)) return '';
  return former.find((one) => world.ask(precedingFormer, one) === '') ?? '';
});

/** The same for what an edited rule still translates. */
export const precedingFormer: Query<string> = defineQuery('nat-preceding-former', (world, key) => {
  const entry = world.derived(formerTranslations).get(key);
  if (entry === undefined) return '';
  const present = rivalsOf(world, key, entry, translations).filter((one) => isAsItIs(world, one));
  const former = rivalsOf(world, key, entry, formerTranslations).filter(
    (one) => (world.derived(formerTranslations).get(one)?.age ?? '') < entry.age,
  );
  return present.find((one) => world.ask(precedingRule, one) === '') ?? former.find((one) => world.ask(precedingFormer, one) === '') ?? '';
});

/** The rules that wait for this one, as kind and name. */
export function waitingRules(world: World, key: string): readonly string[] {
  const found = [translations, formerTranslations].flatMap((definition) => {
    const entry = world.derived(definition).get(key);
    return entry === undefined ? [] : rivalsOf(world, key, entry, translations);
  });
  return [...new Set(found)].filter((one) => world.ask(precedingRule, one) === key).map(ruleText);
}

/**
 * Why a rule that is about to be written would conflict with one in effect; undefined if it would not.
 * @param before what it asks for now; undefined for a new one
 */
export function conflictOfNew(world: World, resource: OvnNatRule, rule: NatRule, before?: NatRule): Problem | undefined {
  const key = `${resource}/${rule.metadata.name}`;
  const askedOf = (one: NatRule | undefined): Asked | undefined => {
    const result = one === undefined ? undefined : translationOf(world, resource, one);
    return result?.kind === 'translation' ? askedBy(resource, result) : undefined;
  };
  const [now, had] = [askedOf(rule), askedOf(before)];
  if (now === undefined) return undefined;
  for (const [table, preceding] of [
    [translations, precedingRule],
    [formerTranslations, precedingFormer],
  ] as const) {
    const known = new Set(had === undefined ? [] : rivalKeys(world, had, table));
    // A pod gives way to a rule.
    const others = rivalKeys(world, now, table).filter((one) => one !== key && !known.has(one) && !isOfPod(one));
    const other = others.toSorted().find((one) => world.ask(preceding, one) === '');
    const entry = other === undefined ? undefined : world.derived(table).get(other);
    if (other === undefined || entry === undefined) continue;
    const sentence = `${ruleText(key)}: ${overlapText(now, other, entry)}`;
    return {
      reason: 'NatConflict',
      message: `${sentence}; change or delete that one first, or request something else; ${describeRule(other)}`,
    };
  }
  return undefined;
}

/** The sentence about the rule that has precedence over this one. */
export function conflictText(world: World, key: string, other: string): string {
  const asked = world.derived(translations).get(key);
  const isRival = (table: Translations): boolean => asked !== undefined && rivalsOf(world, key, asked, table).includes(other);
  const table = isRival(translations) && world.ask(precedingRule, other) === '' ? translations : formerTranslations;
  const entry = world.derived(table).get(other);
  const what = asked === undefined || entry === undefined ? `${ruleText(other)} translates the same` : overlapText(asked, other, entry);
  const still = table === formerTranslations ? ', as before its edit, which cannot be carried out either' : '';
  return `${what}${still}; of two such rules the one in effect stays, and of two new ones the older one; the other waits until it is gone or changed; ${describeRule(other)}`;
}
