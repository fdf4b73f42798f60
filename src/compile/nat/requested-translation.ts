/** What an OvnFip, OvnSnatRule or OvnDnatRule asks OVN to translate, or why it cannot be. */
import { findingOf } from '../../api/validation/finding.ts';
import { enabledGatewayConfig } from '../../kinds/external-gateway-config/table/gateway-config.ts';
import { commandText } from '../../text/command-text.ts';
import { requestedExternals } from '../../world/external-subnets.ts';
import { specRecord } from '../../kinds/ovn-fip/table/former-specs.ts';
import type { NatRule } from '../../world/nat-rules.ts';
import { eipOfRule } from '../../world/nat-rules.ts';
import { traitsOf } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';
import { subnetBasics } from '../subnet/validity/spec-in-effect.ts';
import type { Problem } from './external-problem.ts';
import { eipOf } from './nat-eip.ts';
import type { Pair, Translation } from './nat-pairs.ts';
import { targetOf } from './nat-target.ts';
import type { OvnNatRule } from './ovn-nat-rules.ts';

export type Requested = Translation | ({ readonly kind: 'problem' } & Problem);

/**
 * What a rule asks for, or why it cannot have it.
 * @param isFormer with the spec that its rows carry out, after an edit
 */
export function translationOf(world: World, resource: OvnNatRule, rule: NatRule, isFormer = false): Requested {
  const invalid = portProblem(resource, rule);
  if (invalid !== undefined) return { kind: 'problem', ...invalid };
  const eip = eipOf(world, resource, rule, isFormer);
  if ('reason' in eip) return { kind: 'problem', ...eip };
  const target = targetOf(world, resource, rule);
  if ('reason' in target) return { kind: 'problem', ...target };
  const problem = (reason: Problem['reason'], field: string, value: string, text: string, advice: string): Requested => {
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
    if (isInside(world, eip.subnet, target.vpc))
      return problem(
        'VpcNotConnected',
        'spec.ovnEip',
        eipOfRule(rule),
        `is from Subnet ${eip.subnet}, which is inside of Vpc ${target.vpc}`,
        commandText`an address outside is one of an external Subnet of the Vpc; name an OvnEip of such a Subnet: kubectl get ovn-eips`,
      );
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
  const missing = eip.missing ?? target.missing;
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
    spec: specRecord(rule),
    ...(missing !== undefined && { reported: missing }),
    ...(target.outside !== undefined && { outside: target.outside }),
  };
}

/** Whether a Subnet has its gateway in the router of the Vpc: no Vpc can be connected to it. */
function isInside(world: World, subnet: string, vpc: string): boolean {
  const basics = world.ask(subnetBasics, subnet);
  return basics !== undefined && basics.vpc === vpc && basics.routed;
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
