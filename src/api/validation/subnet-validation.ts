/** Rules for a Subnet's spec alone. Rules between objects are in `subnet-conflicts.ts`. */

import type { Reason } from '../reasons.ts';
import { databaseTextProblem } from '../values/database-text.ts';
import { addressProblem, parseAddress, sameAddress } from '../../net/address.ts';
import type { Address } from '../../net/address.ts';
import { cidrContains, cidrProblem, firstUsable, formatCidr, isUsable, lastUsable, parseCidr } from '../../net/cidr.ts';
import type { Cidr } from '../../net/cidr.ts';
import { familiesOf, formatDualCidr, ofFamily, parseDualAddress, parseDualCidr, splitList } from '../../net/dual.ts';
import type { Dual } from '../../net/dual.ts';
import { formatRange, rangeProblem } from '../../net/range.ts';
import { Findings } from './finding.ts';
import type { Finding } from './finding.ts';
import { selectorProblem } from '../kubernetes/label-selector.ts';
import { isMacOnly, subnetCidrs } from '../defaults/subnet-defaults.ts';
import type { NamedSubnet } from '../defaults/subnet-defaults.ts';
import { aclMatchBreach } from '../values/match-text.ts';
import type { OptionsFor } from '../values/option-text.ts';
import { optionProblems } from '../values/option-text.ts';
import { specialNetworkIn } from '../values/special-cidr.ts';
import type { SubnetSpec } from '../kinds/subnet.ts';

/** Smallest MTU of IPv4 (RFC 791) and of IPv6 (RFC 8200 section 5); largest packet of either. */
const MTU_MINIMUM = { 4: 68, 6: 1280 } as const;
const MTU_MAXIMUM = 65_535;
/** Range of `priority` in OVN's ACL table. */
const ACL_PRIORITY_MAXIMUM = 32_767;
const aclDirections = ['from-lport', 'to-lport'];
const aclActions = ['allow', 'allow-related', 'allow-stateless', 'drop', 'reject', 'pass'];

/** The rules that the spec breaks; empty if it is valid. What `subnetDefaults` corrects breaks no rule. */
export const subnetFindings = ({ name, spec }: NamedSubnet): readonly Finding[] => {
  const findings = new Findings({ kind: 'Subnet', name });
  if (name === spec.vpc)
    findings.add({
      code: 'SubnetNamedAsVpc',
      field: 'metadata.name',
      value: name,
      problem: 'is also the name of its Vpc',
      rule: 'a Subnet and a Vpc need different names, because ports between them are named after both',
    });
  if (name.length > LONGEST_LABEL)
    findings.add({
      code: 'SubnetNameTooLong',
      field: 'metadata.name',
      value: name,
      problem: `has ${name.length} characters`,
      rule: `a Subnet's name is a label of its IP objects, and a label has at most ${LONGEST_LABEL} characters`,
    });
  if (isMacOnly(spec)) addressesOfMacOnly(findings, spec);
  else {
    const cidrs = cidrsOf(findings, spec);
    if (cidrs !== undefined) addresses(findings, spec, cidrs);
  }
  choices(findings, spec);
  routing(findings, spec);
  acls(findings, spec);
  for (const [field, of] of Object.entries(OPTION_FIELDS))
    options(findings, `spec.${field}`, spec[field as keyof typeof OPTION_FIELDS], of);
  selectors(findings, spec);
  return findings.list;
};

/** Longest label key without prefix, and longest label value, in Kubernetes. */
const LONGEST_LABEL = 63;

const isSet = (text: string | undefined): text is string => text !== undefined && text !== '';

const addressesOfMacOnly = (findings: Findings, spec: SubnetSpec): void => {
  const { gateway = '', excludeIps = [], vips = [], u2oInterconnectionIP = '' } = spec;
  const fields = { gateway, excludeIps: excludeIps.join(','), vips: vips.join(','), u2oInterconnectionIP };
  for (const [field, value] of Object.entries(fields))
    if (value !== '')
      findings.add({
        code: 'SubnetMacOnlyWithAddresses',
        field: `spec.${field}`,
        value,
        problem: 'is given without a network',
        rule: 'an underlay Subnet without spec.cidrBlock has no addresses',
      });
};

const cidrsOf = (findings: Findings, spec: SubnetSpec): Dual<Cidr> | undefined => {
  const value = spec.cidrBlock ?? '';
  const rule = 'spec.cidrBlock is an IPv4 or IPv6 network, or one of each with a comma';
  const result = parseDualCidr(value);
  const breach = (problem: string, why = rule): void =>
    findings.add({ code: 'SubnetCidrInvalid', field: 'spec.cidrBlock', value, problem, rule: why });
  if (!result.ok) {
    breach(result.problem);
    return undefined;
  }
  const cidrs = subnetCidrs(spec);
  for (const family of familiesOf(cidrs)) {
    const cidr = ofFamily(cidrs, family);
    if (cidr === undefined) continue;
    if (cidr.prefix === (family === 4 ? 32 : 128))
      breach(`has ${formatCidr(cidr)}, a single address`, 'a Subnet needs room for a gateway and a pod: /31 or /127 at least');
    const special = specialNetworkIn(cidr);
    if (special !== undefined)
      breach(`has ${formatCidr(cidr)}, in which lies ${special}`, 'the addresses of a Subnet must be fit for hosts');
  }
  return cidrs;
};

/** Checks an address of the Subnet; returns it if a host can have it. */
const hostAddress = (
  findings: Findings,
  field: string,
  value: string,
  text: string,
  cidrs: Dual<Cidr>,
  code: Reason,
): Address | undefined => {
  const breach = (problem: string, rule: string): undefined => {
    findings.add({ code, field, value, problem, rule });
    return undefined;
  };
  const address = parseAddress(text);
  if (address === undefined) return breach(`${addressProblem(text)}`, `${field} takes addresses`);
  const cidr = ofFamily(cidrs, address.family);
  if (cidr === undefined || !cidrContains(cidr, address))
    return breach(`is outside of spec.cidrBlock ${formatDualCidr(cidrs)}`, `${field} must lie in the Subnet`);
  if (!isUsable(cidr, address)) {
    const usable = formatRange({ family: cidr.family, first: firstUsable(cidr).value, last: lastUsable(cidr).value });
    return breach(
      `is ${cidr.family === 4 ? 'the first or last' : 'the first'} address of ${formatCidr(cidr)}`,
      `hosts of this network can have ${usable}`,
    );
  }
  return address;
};

/** Checks one address or one of each family; a host must be able to have each. */
const dualAddress = (findings: Findings, field: string, value: string, cidrs: Dual<Cidr>, code: Reason): readonly Address[] => {
  const result = parseDualAddress(value);
  if (result.ok) return splitList(value).flatMap((text) => hostAddress(findings, field, value, text, cidrs, code) ?? []);
  findings.add({ code, field, value, problem: result.problem, rule: `${field} is one address, or one of each family with a comma` });
  return [];
};

const addresses = (findings: Findings, spec: SubnetSpec, cidrs: Dual<Cidr>): void => {
  const gateway = isSet(spec.gateway) ? dualAddress(findings, 'spec.gateway', spec.gateway, cidrs, 'SubnetGatewayInvalid') : [];
  const isGateway = (address: Address): boolean => gateway.some((other) => sameAddress(other, address));
  for (const [index, item] of (spec.excludeIps ?? []).entries()) {
    const problem = rangeProblem(item);
    if (problem !== undefined)
      findings.add({
        code: 'SubnetExcludeIpsInvalid',
        field: `spec.excludeIps[${index}]`,
        value: item,
        problem,
        rule: 'an excluded item is an address, or a range written first..last',
      });
  }
  for (const [index, vip] of (spec.vips ?? []).entries()) {
    const field = `spec.vips[${index}]`;
    const address = hostAddress(findings, field, vip, vip, cidrs, 'SubnetVipInvalid');
    if (address !== undefined && isGateway(address))
      findings.add({
        code: 'SubnetVipInvalid',
        field,
        value: vip,
        problem: 'is the gateway',
        rule: 'a virtual address belongs to no other port',
      });
  }
  if (isSet(spec.u2oInterconnectionIP)) {
    const field = 'spec.u2oInterconnectionIP';
    const value = spec.u2oInterconnectionIP;
    if (dualAddress(findings, field, value, cidrs, 'SubnetU2oIpInvalid').some(isGateway))
      findings.add({
        code: 'SubnetU2oIpInvalid',
        field,
        value,
        problem: 'is the gateway',
        rule: 'the physical gateway keeps its address: choose another, or none to have one chosen',
      });
  }
  egressGateway(findings, spec, cidrs);
  mtu(findings, spec, cidrs);
};

const egressGateway = (findings: Findings, spec: SubnetSpec, cidrs: Dual<Cidr>): void => {
  const value = spec.externalEgressGateway;
  if (!isSet(value)) return;
  const breach = (problem: string, rule: string): void =>
    findings.add({ code: 'SubnetExternalEgressGatewayInvalid', field: 'spec.externalEgressGateway', value, problem, rule });
  if (spec.natOutgoing === true)
    breach('is given together with spec.natOutgoing', 'traffic leaves through the gateway or translated by the node, not both');
  const result = parseDualAddress(value);
  if (!result.ok) breach(result.problem, 'spec.externalEgressGateway is one address, or one of each family with a comma');
  else
    for (const family of familiesOf(result))
      if (ofFamily(cidrs, family) === undefined)
        breach(`has an IPv${family} address`, `the next hop must be of a family that the Subnet has (${formatDualCidr(cidrs)})`);
};

const mtu = (findings: Findings, spec: SubnetSpec, cidrs: Dual<Cidr>): void => {
  const value = spec.mtu ?? 0;
  const minimum = MTU_MINIMUM[cidrs.v6 === undefined ? 4 : 6];
  if (value !== 0 && (value < minimum || value > MTU_MAXIMUM))
    findings.add({
      code: 'SubnetMtuInvalid',
      field: 'spec.mtu',
      value: String(value),
      problem: 'is out of range',
      rule: `the MTU of this Subnet is from ${minimum} to ${MTU_MAXIMUM} bytes, or 0 for the default`,
    });
};

/** Fields with a fixed set of values. */
const choices = (findings: Findings, spec: SubnetSpec): void => {
  const fields = {
    gatewayType: { code: 'SubnetGatewayTypeInvalid', words: ['distributed', 'centralized'] },
    protocol: { code: 'SubnetProtocolInvalid', words: ['IPv4', 'IPv6', 'Dual', 'Mac'] },
  } as const;
  for (const [field, { code, words }] of Object.entries(fields)) {
    const value = spec[field as keyof typeof fields] ?? '';
    if (value !== '' && !(words as readonly string[]).includes(value))
      findings.add({ code, field: `spec.${field}`, value, problem: 'is not known', rule: `it is one of ${words.join(', ')}, or empty` });
  }
};

const routing = (findings: Findings, spec: SubnetSpec): void => {
  for (const [index, item] of (spec.allowSubnets ?? []).entries()) {
    const problem = cidrProblem(item);
    if (problem !== undefined)
      findings.add({
        code: 'SubnetAllowSubnetsInvalid',
        field: `spec.allowSubnets[${index}]`,
        value: item,
        problem,
        rule: 'networks that may reach a private Subnet are written as address/prefix',
      });
  }
  if (spec.logicalGateway === true && spec.u2oInterconnection === true)
    findings.add({
      code: 'SubnetU2oWithLogicalGateway',
      field: 'spec.u2oInterconnection',
      value: 'true',
      problem: 'is set together with spec.logicalGateway',
      rule: 'an underlay Subnet has a gateway in OVN, or a physical one that is connected to the overlay, not both',
    });
  if (spec.u2oFeatures?.overlayOnlyRouting === true && (spec.u2oInterconnection !== true || !isSet(spec.vlan)))
    findings.add({
      code: 'SubnetOverlayOnlyWithoutU2o',
      field: 'spec.u2oFeatures.overlayOnlyRouting',
      value: 'true',
      problem: 'is set without a connection to the overlay',
      rule: 'it needs spec.vlan and spec.u2oInterconnection: true',
    });
  for (const [index, rule] of (spec.natOutgoingPolicyRules ?? []).entries())
    natRule(findings, `spec.natOutgoingPolicyRules[${index}]`, rule);
  for (const item of splitList(spec.gatewayNode ?? '')) {
    const colon = item.indexOf(':');
    const egress = colon < 0 ? undefined : item.slice(colon + 1);
    if (item === '' || colon === 0 || (egress !== undefined && parseAddress(egress) === undefined))
      findings.add({
        code: 'SubnetGatewayNodeInvalid',
        field: 'spec.gatewayNode',
        value: spec.gatewayNode ?? '',
        problem: `has the item "${item}"`,
        rule: 'gateway nodes are written node or node:address, with commas between them',
      });
  }
};

type NatRule = NonNullable<SubnetSpec['natOutgoingPolicyRules']>[number];

const natRule = (findings: Findings, path: string, { action = '', match = {} }: NatRule): void => {
  const breach = (field: string, value: string, problem: string, rule: string): void =>
    findings.add({ code: 'SubnetNatOutgoingPolicyRuleInvalid', field: `${path}.${field}`, value, problem, rule });
  if (action !== 'nat' && action !== 'forward') breach('action', action, 'is not known', 'it is nat or forward');
  const families = new Set<number>();
  for (const field of ['srcIPs', 'dstIPs'] as const)
    for (const item of splitList(match[field] ?? '')) {
      const family = (parseAddress(item) ?? parseCidr(item))?.family;
      if (family === undefined)
        breach(
          `match.${field}`,
          item,
          `${item.includes('/') ? cidrProblem(item) : addressProblem(item)}`,
          'a rule matches addresses and networks',
        );
      else families.add(family);
    }
  if (families.size > 1)
    breach('match', `${match.srcIPs ?? ''} to ${match.dstIPs ?? ''}`, 'mixes IPv4 and IPv6', 'write one rule for each family');
};

/** Whether a finding is about one ACL or one option: Kiln omits that one and implements the rest of the Subnet. */
export const isLeftOut = ({ code }: Pick<Finding, 'code'>): boolean => code === 'SubnetAclInvalid' || code === 'SubnetOptionsInvalid';

/**
 * If the database rejected one ACL, it would reject the whole transaction; an ACL that ovn-controller cannot parse is dropped on each node.
 */
const acls = (findings: Findings, spec: SubnetSpec): void => {
  const seen = new Map<string, { readonly index: number; readonly action: string }>();
  for (const [index, { direction = '', action = '', match = '', priority = 0 }] of (spec.acls ?? []).entries()) {
    const breach = (field: string, value: string, rule: string, problem = 'is not accepted by OVN'): void =>
      findings.add({ code: 'SubnetAclInvalid', field: `spec.acls[${index}].${field}`, value, problem, rule });
    if (!aclDirections.includes(direction)) breach('direction', direction, `it is ${aclDirections.join(' or ')}`);
    if (!aclActions.includes(action)) breach('action', action, `it is one of ${aclActions.join(', ')}`);
    aclMatch(match, (problem, rule, shown = match) => breach('match', shown, rule, problem));
    if (priority < 0 || priority > ACL_PRIORITY_MAXIMUM) breach('priority', String(priority), `it is from 0 to ${ACL_PRIORITY_MAXIMUM}`);
    const key = `${direction} ${priority} ${match.trim()}`;
    const first = seen.get(key);
    if (first === undefined) seen.set(key, { index, action });
    else if (first.action !== action)
      breach('action', action, 'ACLs of one direction, priority and match have one action', `contradicts spec.acls[${first.index}]`);
  }
};

const aclMatch = (match: string, breach: (problem: string, rule: string, shown?: string) => void): void => {
  const unfit = databaseTextProblem(match);
  if (match.trim() === '') breach('is empty', 'an empty match matches nothing; write 1 to match everything');
  else if (unfit !== undefined) breach(unfit.problem, unfit.rule, unfit.shown);
  else {
    const wrong = aclMatchBreach(match);
    if (wrong !== undefined) breach(wrong.problem, wrong.rule);
  }
};

const OPTION_FIELDS = { dhcpV4Options: 'DHCPv4', dhcpV6Options: 'DHCPv6', ipv6RAConfigs: 'RA' } as const;

const options = (findings: Findings, field: string, value = '', of: OptionsFor): void => {
  const shown = databaseTextProblem(value)?.shown ?? value;
  for (const { problem, rule } of optionProblems(value, of))
    findings.add({ code: 'SubnetOptionsInvalid', field, value: shown, problem, rule });
};

const selectors = (findings: Findings, spec: SubnetSpec): void => {
  for (const field of ['namespaceSelectors', 'gatewayNodeSelectors'] as const)
    for (const [index, selector] of (spec[field] ?? []).entries()) {
      const problem = selectorProblem(selector);
      if (problem !== undefined)
        findings.add({
          code: 'SubnetSelectorInvalid',
          field: `spec.${field}[${index}]`,
          value: JSON.stringify(selector),
          problem,
          rule: 'operators are In and NotIn, with values, and Exists and DoesNotExist, without',
        });
    }
};
