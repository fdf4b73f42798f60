/**
 * What each OvnFip, OvnSnatRule and OvnDnatRule, and the annotations of pods, ask OVN to translate, or why it cannot be: one derived table
 * for all of them, since a rule of one kind can conflict with those of another.
 */
import { keysOf, prefixed } from '../../engine/domain.ts';
import type { Domain } from '../../engine/domain.ts';
import { formerSpecs } from '../../kinds/ovn-fip/table/former-specs.ts';
import type { NatRule } from '../../world/nat-rules.ts';
import { splitKey, traitsOf } from '../../world/resources.ts';
import type { Indexes } from '../../engine/table.ts';
import type { World } from '../../world/world.ts';
import { defineTable } from '../../world/world.ts';
import type { RowOwner } from '../output.ts';
import { podOwner, podView } from '../pod/view/pod-view.ts';
import type { Translation } from './nat-pairs.ts';
import { isRowOf } from './nat-rows.ts';
import { isPodUse, POD_USES, podReservationProblem, podTranslation } from './pod-translation.ts';
import type { OvnNatRule } from './ovn-nat-rules.ts';
import { OVN_NAT_RULES } from './ovn-nat-rules.ts';
import type { Requested } from './requested-translation.ts';
import { translationOf } from './requested-translation.ts';

/** What a rule asks for that another one can ask for too. */
export interface Asked {
  /** Whose router translates; empty for a problem. */
  readonly vpc: string;
  /** What no other rule may translate. */
  readonly claims: readonly string[];
  /** Its external addresses, with their Subnet. */
  readonly addresses: readonly string[];
  /** What it sends from its external addresses: the inner ones with Vpc and external Subnet; empty for networks and OvnDnatRules. */
  readonly sends: readonly string[];
  /** No other rule may use the addresses of both sides: the node of a port answers for them, where all others need a gateway node to do so. */
  readonly exclusive: boolean;
}

export interface Entry extends Asked {
  readonly name: string;
  readonly owner: RowOwner;
  /** Identity and age of the rule, by which one of several new rules that conflict has precedence. */
  readonly age: string;
  readonly result: Requested;
  /** The spec cannot be carried out, and what its rows translate stays. */
  readonly isFormer: boolean;
  /** What the router sends outside for it, as matches; only of the default Vpc. */
  readonly outgoing: readonly string[];
}

const INDEXES: Indexes<Entry> = {
  claim: ({ claims }) => claims,
  address: ({ addresses }) => addresses,
  exclusive: ({ addresses, exclusive }) => (exclusive ? addresses : []),
  sends: ({ sends }) => sends,
  'sends-exclusive': ({ sends, exclusive }) => (exclusive ? sends : []),
  outgoing: ({ outgoing }) => outgoing,
  'vpc-family': ({ result }) => (result.kind === 'problem' ? [] : result.pairs.map(({ family }) => `${result.vpc} ${family}`)),
};

/**
 * Key: `<resource>/<name>`, or `<use>/<namespace>/<name>` of a pod. Index `claim`; `address`: external address; `exclusive`: the same of rules
 * that are exclusive; `sends`, `sends-exclusive`: the inner addresses; `outgoing`; `vpc-family`: whose router translates which family. A rule that is being deleted has no entry.
 */
export const translations = defineTable<Entry>(
  'nat-translations',
  (world) =>
    prefixed({
      ...ruleKeys(world),
      ...Object.fromEntries(
        Object.entries(POD_USES).map(([use, { annotation }]) => [
          `${use}/`,
          keysOf(world.pods, ({ metadata }) => metadata.annotations?.[annotation] !== undefined),
        ]),
      ),
    }),
  (world, key) => {
    if (isPodUse(splitKey(key).namespace)) return podEntry(world, key);
    const found = ruleOf(world, key);
    if (found === undefined) return undefined;
    const { resource, rule } = found;
    const requested = translationOf(world, resource, rule);
    const former = requested.kind === 'problem' ? formerOf(world, key, resource, rule) : undefined;
    if (requested.kind !== 'problem' || former === undefined) return entryOf(world, resource, named(resource, rule), requested);
    const reported = { ...requested, message: `${requested.message}. ${staysText(resource, former)}` };
    return { ...entryOf(world, resource, named(resource, rule), { ...former, reported }), isFormer: true };
  },
  INDEXES,
);

/**
 * What the rows of an edited rule translate, where its spec could be carried out and asks for something else: it stays in effect while
 * another rule or a row of another program has that. Key and indexes as above.
 */
export const formerTranslations = defineTable<Entry>(
  'nat-former-translations',
  (world) => prefixed(ruleKeys(world)),
  (world, key) => {
    // First what is hardly ever there: without it neither the rule nor its translation is read, and their changes run nothing here.
    if (world.derived(formerSpecs).get(key) === undefined) return undefined;
    const found = ruleOf(world, key);
    const entry = found === undefined ? undefined : world.derived(translations).get(key);
    if (found === undefined || entry === undefined || entry.isFormer || entry.result.kind === 'problem') return undefined;
    const { resource, rule } = found;
    const former = formerOf(world, key, resource, rule);
    return former === undefined || isSame(former, entry.result) ? undefined : entryOf(world, resource, named(resource, rule), former);
  },
  INDEXES,
);

function ruleKeys(world: World): Readonly<Record<string, Domain>> {
  return Object.fromEntries(OVN_NAT_RULES.map((resource) => [`${resource}/`, keysOf(world.natRules[resource])]));
}

/** Undefined for a rule that is missing or being deleted. */
function ruleOf(world: World, key: string): { readonly resource: OvnNatRule; readonly rule: NatRule } | undefined {
  const at = key.indexOf('/');
  const resource = key.slice(0, at) as OvnNatRule;
  const rule = world.natRules[resource].get(key.slice(at + 1));
  return rule === undefined || rule.metadata.deletionTimestamp !== undefined ? undefined : { resource, rule };
}

type Of = Pick<Entry, 'name' | 'owner' | 'age'>;

function named(resource: OvnNatRule, { metadata: { name, creationTimestamp: created, uid } }: NatRule): Of {
  const owner = { kind: traitsOf(resource).kind.toLowerCase(), namespace: '', name, uid, created };
  return { name, owner, age: `${created} ${uid}` };
}

/**
 * What the rows of an edited rule translate; undefined if they are as the spec says, or if what they translate is not the rule's any
 * longer: its former target or OvnEip is gone, or has another address.
 */
function formerOf(world: World, key: string, resource: OvnNatRule, rule: NatRule): Translation | undefined {
  const former = world.derived(formerSpecs).get(key);
  if (former === undefined) return undefined;
  const before = translationOf(world, resource, { ...rule, spec: former.spec }, true);
  if (before.kind === 'problem' || !isRowOf(world, resource, before, former.row)) return undefined;
  const { outside: _ofFormerSpec, ...translation } = before;
  return translation;
}

function isSame(one: Translation, other: Translation): boolean {
  const text = ({ spec: _spec, outside: _outside, reported: _reported, ...translated }: Translation): string => JSON.stringify(translated);
  return text(one) === text(other);
}

/** The sentence about what stays in effect. */
export function staysText(resource: OvnNatRule, { vpc, eip, pairs, protocol, externalPort, internalPort }: Translation): string {
  const texts = pairs.map(({ external, inner }) => {
    if (resource === 'ovn-snat-rules') return `${inner} to ${external}`;
    if (resource === 'ovn-fips') return `${external} to ${inner}`;
    return `${protocol} port ${externalPort} of ${external} to port ${internalPort} of ${inner}`;
  });
  return `Until then router ${vpc} translates as before the edit: ${texts.join(', ')} (OvnEip ${eip})`;
}

function entryOf(world: World, as: OvnNatRule, of: Of, result: Requested): Entry {
  const isFormer = false;
  if (result.kind === 'problem')
    return { ...of, result, isFormer, vpc: '', claims: [], addresses: [], sends: [], exclusive: false, outgoing: [] };
  return {
    ...of,
    result,
    isFormer,
    ...askedBy(as, result),
    outgoing: result.vpc === world.settings.defaultVpc ? outgoingMatches(as, result) : [],
  };
}

export function askedBy(as: OvnNatRule, translation: Translation): Asked {
  return {
    vpc: translation.vpc,
    claims: claimsOf(as, translation),
    addresses: addressesOf(translation),
    sends: sendsOf(as, translation),
    exclusive: translation.distributed,
  };
}

/** Objects have precedence over pods, whose annotations tenants write; of two pods the one with rows has it. */
function podEntry(world: World, key: string): Entry | undefined {
  const { namespace: use, name } = splitKey(key);
  const pod = world.ask(podView, name);
  const found = world.ask(podTranslation, key);
  if (pod === undefined || found === undefined || !isPodUse(use)) return undefined;
  const as = use === 'pod-eip' ? 'ovn-fips' : 'ovn-snat-rules';
  const of = {
    name,
    owner: podOwner(pod),
    age: `~ ${'placed' in found && found.placed ? 'placed' : 'requested'} ${pod.created} ${pod.uid}`,
  };
  const problem = 'reason' in found ? found : podReservationProblem(world, use, pod, found);
  if (problem !== undefined) return entryOf(world, as, of, { kind: 'problem', ...problem });
  return 'translation' in found ? entryOf(world, as, of, found.translation) : undefined;
}

/** The external addresses of a translation, with their Subnet. */
export function addressesOf({ external, pairs }: Translation): readonly string[] {
  return pairs.map((pair) => `${external} ${pair.external}`);
}

/**
 * The inner addresses that the translation gives an external address to. A distributed OvnFip translates each packet by itself, answers too:
 * with a second rule of the same address OVN would choose one of the two for all.
 */
export function sendsOf(as: OvnNatRule, { vpc, external, pairs }: Translation): readonly string[] {
  if (as === 'ovn-dnat-rules') return [];
  return pairs.map(({ inner }) => hostOf(inner)).flatMap((inner) => (inner.includes('/') ? [] : [`${vpc} ${external} ${inner}`]));
}

/** A network of one address as that address. */
function hostOf(inner: string): string {
  return inner.replace(inner.includes(':') ? /\/128$/ : /\/32$/, '');
}

/**
 * What goes outside by the translation, as matches of policies. Of an OvnDnatRule the replies alone: its target sends all else by the
 * gateway of its Subnet.
 */
export function outgoingMatches(as: OvnNatRule, { pairs, protocol, internalPort }: Translation): readonly string[] {
  const replies = as === 'ovn-dnat-rules' ? ` && ${protocol}.src == ${Number(internalPort)}` : '';
  return pairs.map(({ family, inner }) => `ip${family}.src == ${inner}${replies}`);
}

/**
 * What no other rule may translate: with an address, a protocol and a port of an EIP; all that comes to the address of an OvnFip; what one
 * network or address sends through one external Subnet.
 */
export function claimsOf(resource: OvnNatRule, { vpc, external, pairs, protocol, externalPort }: Translation): readonly string[] {
  return pairs.map(({ external: address, inner }) => {
    if (resource === 'ovn-fips') return `fip ${external} ${address}`;
    return resource === 'ovn-dnat-rules'
      ? `dnat ${external} ${address} ${protocol} ${Number(externalPort)}`
      : `snat ${vpc} ${external} ${hostOf(inner)}`;
  });
}
