/**
 * NAT rules that translate the same. The first of them is in effect; each rule that conflicts with one in effect waits. All of them say so.
 */
import { commandText, nameArgument } from '../../text/command-text.ts';
import type { NatRule } from '../../world/nat-rules.ts';
import { splitKey, traitsOf } from '../../world/resources.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Problem } from './external-problem.ts';
import type { OvnNatRule } from './ovn-nat-rules.ts';
import { isPodUse, POD_USES } from './pod-translation.ts';
import { precedence } from './nat-precedence.ts';
import { addressesOf, claimsOf, sendsOf, translationOf, translations } from './translation.ts';

/** Keys of the other rules with a claim of this one, in the order of precedence. */
function rivalsOf(world: World, key: string): readonly string[] {
  const table = world.derived(translations);
  const entry = table.get(key);
  const keys = entry === undefined ? new Set<string>() : new Set(rivalKeys(world, entry));
  const rank = (one: string): string => world.ask(precedence, one);
  return [...keys].filter((one) => one !== key).toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

/** Keys of all rules that translate something of this one. */
function rivalKeys(
  world: World,
  {
    vpc,
    claims,
    addresses,
    sends,
    exclusive,
  }: {
    readonly vpc: string;
    readonly claims: readonly string[];
    readonly addresses: readonly string[];
    readonly sends: readonly string[];
    readonly exclusive: boolean;
  },
): readonly string[] {
  const table = world.derived(translations);
  return [
    ...claims.flatMap((claim) => [...table.bucket('claim', claim)]),
    ...addresses.flatMap((address) => [...table.bucket(exclusive ? 'address' : 'exclusive', address)]),
    ...sends.flatMap((inner) => [...table.bucket(exclusive ? 'sends' : 'sends-exclusive', inner)]),
    ...addresses.flatMap((address) => elsewhere(world, address, vpc)),
  ];
}

/** The Vpcs whose rules use an external address, sorted: one, as a rule. */
const vpcsOfAddress: Query<readonly string[]> = defineQuery('nat-vpcs-of-address', (world, address) => {
  const table = world.derived(translations);
  return [...new Set([...table.bucket('address', address)].map((key) => table.get(key)?.vpc ?? ''))].toSorted();
});

/** The rules of other Vpcs with an external address: two routers would both answer for it. */
function elsewhere(world: World, address: string, vpc: string): readonly string[] {
  if (world.ask(vpcsOfAddress, address).every((one) => one === vpc)) return [];
  const table = world.derived(translations);
  return [...table.bucket('address', address)].filter((key) => table.get(key)?.vpc !== vpc);
}

/** The rule in effect that translates the same as this one; empty if there is none. It reads rules that go first alone, so it ends. */
export const precedingRule: Query<string> = defineQuery('nat-preceding-rule', (world, key) => {
  const rivals = rivalsOf(world, key);
  if (rivals.length === 0) return '';
  const rank = world.ask(precedence, key);
  return rivals.filter((one) => world.ask(precedence, one) < rank).find((one) => world.ask(precedingRule, one) === '') ?? '';
});

/**
 * The other rules in effect that give an inner address of this one an external address, as keys. All of them work from outside; for what the
 * inner address sends first, OVN takes one of them.
 */
export function otherSources(world: World, key: string): readonly string[] {
  const table = world.derived(translations);
  const sends = table.get(key)?.sends ?? [];
  return [...new Set(sends.flatMap((inner) => [...table.bucket('sends', inner)]))]
    .filter((one) => one !== key && world.ask(precedingRule, one) === '')
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
  const table = world.derived(translations);
  const others = sendsOf(resource, result).flatMap((inner) => [...table.bucket('sends', inner)]);
  const other = others.toSorted().find((one) => one !== key && world.ask(precedingRule, one) === '');
  if (other === undefined) return '';
  return `${ruleText(key)}: ${ruleText(other)} has the same address inside: for what that address sends OVN takes either external address`;
}

/** The rules that wait for this one, as kind and name. */
export function waitingRules(world: World, key: string): readonly string[] {
  return rivalsOf(world, key)
    .filter((one) => world.ask(precedingRule, one) === key)
    .map(ruleText);
}

/**
 * Why a rule that is about to be written would conflict with one in effect; undefined if it would not.
 * @param before what it asks for now; undefined for a new one
 */
export function conflictOfNew(world: World, resource: OvnNatRule, rule: NatRule, before?: NatRule): Problem | undefined {
  const rivals = (one: NatRule | undefined): readonly string[] => {
    const result = one === undefined ? undefined : translationOf(world, resource, one);
    if (result?.kind !== 'translation') return [];
    const { vpc, distributed: exclusive } = result;
    return rivalKeys(world, {
      vpc,
      claims: claimsOf(resource, result),
      addresses: addressesOf(result),
      sends: sendsOf(resource, result),
      exclusive,
    });
  };
  const had = new Set(rivals(before));
  const key = `${resource}/${rule.metadata.name}`;
  // A pod gives way to a rule.
  const others = rivals(rule).filter((one) => !had.has(one) && !isOfPod(one));
  const other = others.toSorted().find((one) => one !== key && world.ask(precedingRule, one) === '');
  if (other === undefined) return undefined;
  const result = translationOf(world, resource, rule);
  const vpc = result.kind === 'translation' ? result.vpc : '';
  const sentence = `${ruleText(key)}: ${overlapText(world, vpc, other)}`;
  return {
    reason: 'NatConflict',
    message: `${sentence}; change or delete that one first, or request something else; ${describeRule(other)}`,
  };
}

/** @param vpc whose router is to translate for the rule */
export function conflictSentence(
  world: World,
  resource: OvnNatRule,
  { name, vpc }: { readonly name: string; readonly vpc: string },
  other: string,
): string {
  return `${traitsOf(resource).kind} ${name}: ${conflictText(world, vpc, other)}`;
}

/** The sentence about the rule that has precedence. */
export function conflictText(world: World, vpc: string, other: string): string {
  return `${overlapText(world, vpc, other)}; of two such rules the one in effect stays, and of two new ones the older one; the other waits until it is gone or changed; ${describeRule(other)}`;
}

function overlapText(world: World, vpc: string, other: string): string {
  const its = world.derived(translations).get(other)?.vpc ?? vpc;
  const what = its === vpc ? 'translates the same' : `has its address in Vpc ${its}, and two routers cannot both answer for it`;
  return `${ruleText(other)} ${what}`;
}

function isOfPod(key: string): boolean {
  return isPodUse(splitKey(key).namespace);
}

export function ruleText(key: string): string {
  const { namespace: resource, name } = splitKey(key);
  if (isPodUse(resource)) return `Pod ${name} (annotation ${POD_USES[resource].annotation})`;
  return `${traitsOf(resource as OvnNatRule).kind} ${name}`;
}

/** The command that shows a rule. */
export function describeRule(key: string): string {
  const { namespace: resource, name } = splitKey(key);
  if (isPodUse(resource)) {
    const pod = splitKey(name);
    return commandText`${['kubectl', 'describe', 'pod', '-n', nameArgument(pod.namespace), nameArgument(pod.name)]}`;
  }
  const { plural, group } = traitsOf(resource as OvnNatRule);
  return commandText`kubectl describe ${plural}.${group} ${name}`;
}
