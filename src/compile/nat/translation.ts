/**
 * What each OvnFip, OvnSnatRule and OvnDnatRule, and the annotations of pods, ask OVN to translate, or why it cannot be: one derived table
 * for all of them, since a rule of one kind can conflict with those of another.
 */
import { findingOf } from '../../api/validation/finding.ts';
import { commandText } from '../../text/command-text.ts';
import { enabledGatewayConfig } from '../../kinds/external-gateway-config/table/gateway-config.ts';
import { keysOf, prefixed } from '../../world/domain.ts';
import { requestedExternals } from '../../world/external-subnets.ts';
import type { NatRule } from '../../world/nat-rules.ts';
import { eipOfRule } from '../../world/nat-rules.ts';
import { splitKey, traitsOf } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';
import { defineTable } from '../../world/world.ts';
import { podView } from '../pod/view/pod-view.ts';
import type { Problem } from './external-problem.ts';
import { eipOf } from './nat-eip.ts';
import type { Pair, Translation } from './nat-pairs.ts';
import { targetOf } from './nat-target.ts';
import { isPodUse, POD_USES, podReservationProblem, podTranslation } from './pod-translation.ts';
import type { OvnNatRule } from './ovn-nat-rules.ts';
import { OVN_NAT_RULES } from './ovn-nat-rules.ts';

interface Entry {
  readonly name: string;
  /** Identity and age of the rule, by which one of several new rules that conflict has precedence. */
  readonly age: string;
  readonly result: Translation | ({ readonly kind: 'problem' } & Problem);
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
  /** What the router sends outside for it, as matches; only of the default Vpc. */
  readonly outgoing: readonly string[];
}

/**
 * Key: `<resource>/<name>`, or `<use>/<namespace>/<name>` of a pod. Index `claim`; `address`: external address; `exclusive`: the same of rules
 * that are exclusive; `sends`, `sends-exclusive`: the inner addresses; `outgoing`. A rule that is being deleted has no entry.
 */
export const translations = defineTable<Entry>(
  'nat-translations',
  (world) =>
    prefixed({
      ...Object.fromEntries(OVN_NAT_RULES.map((resource) => [`${resource}/`, keysOf(world.natRules[resource])])),
      ...Object.fromEntries(
        Object.entries(POD_USES).map(([use, { annotation }]) => [
          `${use}/`,
          keysOf(world.pods, ({ metadata }) => metadata.annotations?.[annotation] !== undefined),
        ]),
      ),
    }),
  (world, key) => {
    const at = key.indexOf('/');
    if (isPodUse(key.slice(0, at))) return podEntry(world, key);
    const resource = key.slice(0, at) as OvnNatRule;
    const rule = world.natRules[resource].get(key.slice(at + 1));
    if (rule === undefined || rule.metadata.deletionTimestamp !== undefined) return undefined;
    const { creationTimestamp, uid } = rule.metadata;
    return entryOf(world, resource, { name: rule.metadata.name, age: `${creationTimestamp} ${uid}` }, translationOf(world, resource, rule));
  },
  {
    claim: ({ claims }) => claims,
    address: ({ addresses }) => addresses,
    exclusive: ({ addresses, exclusive }) => (exclusive ? addresses : []),
    sends: ({ sends }) => sends,
    'sends-exclusive': ({ sends, exclusive }) => (exclusive ? sends : []),
    outgoing: ({ outgoing }) => outgoing,
  },
);

function entryOf(world: World, as: OvnNatRule, of: Pick<Entry, 'name' | 'age'>, result: Entry['result']): Entry {
  if (result.kind === 'problem') return { ...of, result, vpc: '', claims: [], addresses: [], sends: [], exclusive: false, outgoing: [] };
  return {
    ...of,
    result,
    vpc: result.vpc,
    claims: claimsOf(as, result),
    addresses: addressesOf(result),
    sends: sendsOf(as, result),
    exclusive: result.distributed,
    outgoing: result.vpc === world.settings.defaultVpc ? outgoingMatches(as, result) : [],
  };
}

/** Objects have precedence over pods, whose annotations tenants write; of two pods the one with rows has it. */
function podEntry(world: World, key: string): Entry | undefined {
  const { namespace: use, name } = splitKey(key);
  const pod = world.ask(podView, name);
  const found = world.ask(podTranslation, key);
  if (pod === undefined || found === undefined || !isPodUse(use)) return undefined;
  const as = use === 'pod-eip' ? 'ovn-fips' : 'ovn-snat-rules';
  const of = { name, age: `~ ${'placed' in found && found.placed ? 'placed' : 'requested'} ${pod.created} ${pod.uid}` };
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

/** What a rule asks for, or why it cannot have it. */
export function translationOf(world: World, resource: OvnNatRule, rule: NatRule): Entry['result'] {
  const invalid = portProblem(resource, rule);
  if (invalid !== undefined) return { kind: 'problem', ...invalid };
  const eip = eipOf(world, resource, rule);
  if ('reason' in eip) return { kind: 'problem', ...eip };
  const target = targetOf(world, resource, rule);
  if ('reason' in target) return { kind: 'problem', ...target };
  const problem = (reason: Problem['reason'], field: string, value: string, text: string, advice: string): Entry['result'] => {
    const subject = { kind: traitsOf(resource).kind, name: rule.metadata.name };
    return { kind: 'problem', reason, message: findingOf(subject, { code: reason, field, value, problem: text, rule: advice }).message };
  };
  const pairs = ([4, 6] as const).flatMap((family): readonly Pair[] => {
    const [external, inner] = family === 4 ? [eip.v4, target.v4] : [eip.v6, target.v6];
    return external === '' || inner === '' ? [] : [{ family, external, inner }];
  });
  const { spec } = rule;
  if (pairs.length === 0) {
    const has = (texts: { readonly v4: string; readonly v6: string }): string =>
      [texts.v4, texts.v6].filter((text) => text !== '').join(',');
    return problem(
      'NatFamilyMismatch',
      'spec.ovnEip',
      eipOfRule(rule),
      `has ${has(eip)}, and the rule translates ${has(target)}`,
      'both need an address of one family',
    );
  }
  if (!world.ask(requestedExternals, target.vpc).includes(eip.subnet)) {
    const next = commandText`kubectl edit vpc ${target.vpc}`;
    const advice = `the router needs a port there: set spec.enableExternal and, for a Subnet other than ${world.settings.externalSubnet}, spec.extraExternalSubnets of the Vpc; ${next}`;
    return problem(
      'VpcNotConnected',
      'spec.ovnEip',
      eipOfRule(rule),
      `is from Subnet ${eip.subnet}, which Vpc ${target.vpc} is not connected to`,
      advice,
    );
  }
  if (eip.portOf !== undefined && eip.portOf !== target.vpc)
    return problem(
      'EipTypeInvalid',
      'spec.ovnEip',
      eipOfRule(rule),
      `has type lrp: it is the port of the router of Vpc ${eip.portOf}, and the rule is of Vpc ${target.vpc}`,
      'two routers would answer for its address; use an OvnEip of type nat',
    );
  const isFip = resource === 'ovn-fips';
  const isDnat = resource === 'ovn-dnat-rules';
  return {
    kind: 'translation',
    vpc: target.vpc,
    eip: eip.name,
    external: eip.subnet,
    pairs,
    mac: isFip ? target.mac : '',
    port: isFip ? (spec.ipName ?? '') : '',
    distributed: isFip && isDistributed(world, spec.type ?? ''),
    protocol: isDnat ? (spec.protocol ?? '').toLowerCase() : '',
    externalPort: isDnat ? (spec.externalPort ?? '') : '',
    internalPort: isDnat ? (spec.internalPort ?? '') : '',
    ...(eip.missing !== undefined && { reported: eip.missing }),
    ...(target.outside !== undefined && { outside: target.outside }),
  };
}

/** Without a type of its own an OvnFip has that of the external gateway's ConfigMap, also in other Vpcs, as with Kube-OVN. */
function isDistributed(world: World, type: string): boolean {
  return type === 'distributed' || (type === '' && enabledGatewayConfig(world)?.distributed === true);
}

/** Whether one of the fields with a fixed set of values is wrong. */
function portProblem(resource: OvnNatRule, { metadata: { name }, spec }: NatRule): Problem | undefined {
  const problem = (field: string, value: string, text: string, advice: string): Problem => {
    const finding = findingOf(
      { kind: traitsOf(resource).kind, name },
      { code: 'NatRuleInvalid', field, value, problem: text, rule: advice },
    );
    return { reason: 'NatRuleInvalid', message: finding.message, ...(value === '' && { incomplete: true as const }) };
  };
  if (resource === 'ovn-fips') {
    const { type = '' } = spec;
    return ['', 'centralized', 'distributed'].includes(type)
      ? undefined
      : problem('spec.type', type, 'is not known', 'it is centralized, distributed or empty');
  }
  if (resource === 'ovn-snat-rules') return undefined;
  const { protocol = '' } = spec;
  if (!['tcp', 'udp'].includes(protocol.toLowerCase())) return problem('spec.protocol', protocol, 'is not known', 'it is tcp or udp');
  for (const field of ['externalPort', 'internalPort'] as const) {
    const value = spec[field] ?? '';
    const port = /^\d{1,5}$/.test(value) ? Number(value) : 0;
    if (port < 1 || port > 65_535) return problem(`spec.${field}`, value, 'is no port', 'it is a number from 1 to 65535');
  }
  return undefined;
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
