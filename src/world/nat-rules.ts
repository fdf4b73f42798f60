/** NAT rules: objects that use an EIP. They hold its address as long as they name it, also after the EIP is gone. */
import type { Condition, KubeObject } from '../api/kubernetes/meta.ts';
import { addressLabelValue, annotationKey, labelKey } from '../api/well-known.ts';
import type { AddressResource } from './address-objects.ts';
import type { ResourceOfFamily } from './resources.ts';
import { RESOURCES, resourcesOfFamily, traitsOf } from './resources.ts';

export type NatRuleResource = ResourceOfFamily<'NAT rule'>;
export const NAT_RULES: readonly NatRuleResource[] = resourcesOfFamily('NAT rule');

export function isNatRule(resource: string): resource is NatRuleResource {
  return (NAT_RULES as readonly string[]).includes(resource);
}

/** The fields of all kinds of NAT rules that rules read. Each kind has some of them; `trimmedRule` keeps these and no others. */
export interface NatRuleSpec {
  readonly ovnEip?: string;
  readonly eip?: string;
  readonly ipName?: string;
  readonly ipType?: string;
  readonly vpc?: string;
  readonly vpcSubnet?: string;
  readonly v4Ip?: string;
  readonly v6Ip?: string;
  readonly v4IpCidr?: string;
  readonly v6IpCidr?: string;
  readonly type?: string;
  readonly protocol?: string;
  readonly internalPort?: string;
  readonly externalPort?: string;
}

export const SPEC_FIELDS = [
  ...['ovnEip', 'eip', 'ipName', 'ipType', 'vpc', 'vpcSubnet', 'v4Ip', 'v6Ip', 'v4IpCidr', 'v6IpCidr'],
  ...['type', 'protocol', 'internalPort', 'externalPort'],
] as const;

/** Fields of the status, without the conditions. */
export const STATUS_FIELDS = [
  ...['ready', 'vpc', 'v4Eip', 'v6Eip', 'v4Ip', 'v6Ip', 'v4IpCidr', 'v6IpCidr', 'macAddress'],
  ...['ipName', 'protocol', 'internalPort', 'externalPort'],
] as const;

/** The fields of a NAT rule that rules read, and its conditions. */
export type NatRule = KubeObject<
  NatRuleSpec,
  {
    readonly ready?: boolean;
    /** The Vpc whose router has its rows. */
    readonly vpc?: string;
    readonly v4Eip?: string;
    readonly v6Eip?: string;
    /** What Kube-OVN translates: an address, or the network of a Subnet. */
    readonly v4Ip?: string;
    readonly v6Ip?: string;
    readonly v4IpCidr?: string;
    readonly v6IpCidr?: string;
    readonly protocol?: string;
    readonly externalPort?: string;
    readonly conditions?: readonly Condition[];
  }
>;

/** The name of a kind of rule in `status.nat` of an EIP. */
export function natUseOf(resource: NatRuleResource): 'dnat' | 'fip' | 'snat' {
  return RESOURCES[resource].nat.use;
}

export function eipResourceOf(resource: NatRuleResource): (typeof RESOURCES)[NatRuleResource]['nat']['eips'] {
  return RESOURCES[resource].nat.eips;
}

export function eipKindOf(resource: NatRuleResource): string {
  return traitsOf(eipResourceOf(resource)).kind;
}

export function natRulesOf(eips: AddressResource): readonly NatRuleResource[] {
  return NAT_RULES.filter((rule) => eipResourceOf(rule) === eips);
}

/** The EIP that a NAT rule names; empty for none. */
export function eipOfRule({ spec }: Pick<NatRule, 'spec'>): string {
  return spec.ovnEip ?? spec.eip ?? '';
}

/** The Vip that a NAT rule names as what it translates; empty for none. */
export function vipOfRule({ spec }: Pick<NatRule, 'spec'>): string {
  return spec.ipType === 'vip' ? (spec.ipName ?? '') : '';
}

/** External and internal address or network, of each family that the NAT rule translates. */
export function translationsOf({ status = {} }: Pick<NatRule, 'status'>): readonly (readonly [external: string, inner: string])[] {
  const { v4Eip = '', v6Eip = '', v4Ip, v6Ip, v4IpCidr = '', v6IpCidr = '' } = status;
  return (
    [
      [v4Eip, v4Ip ?? v4IpCidr],
      [v6Eip, v6Ip ?? v6IpCidr],
    ] as const
  ).filter(([external, inner]) => external !== '' && inner !== '');
}

/**
 * The EIP in the annotation of a NAT rule: the one that the rule named when Kiln last observed it, empty if it was not accepted; undefined
 * for a new NAT rule.
 */
export function annotatedEip({ metadata }: Pick<NatRule, 'metadata'>): string | undefined {
  return metadata.annotations?.[annotationKey.vpcEip];
}

/** The Subnet and the addresses in the labels of a NAT rule, which outlive the EIP. */
export function labelledAddresses({ metadata, status }: NatRule): { readonly subnet: string; readonly addresses: readonly string[] } {
  const { labels = {} } = metadata;
  const v4 = labels[labelKey.eipV4] ?? status?.v4Eip ?? '';
  const v6 = labels[labelKey.eipV6] ?? '';
  return {
    subnet: labels[labelKey.subnet] ?? '',
    addresses: [v4, v6 === '' ? (status?.v6Eip ?? '') : addressOfLabel(v6)].filter((text) => text !== ''),
  };
}

/** What a NAT rule holds: the addresses in its labels, as long as it names the EIP that they came from. */
export interface HeldEip {
  readonly eip: string;
  readonly subnet: string;
  readonly addresses: readonly string[];
}

export function heldByRule(rule: NatRule): HeldEip | undefined {
  const eip = eipOfRule(rule);
  const { subnet, addresses } = labelledAddresses(rule);
  const annotated = annotatedEip(rule) ?? eip;
  return eip === '' || annotated !== eip || subnet === '' || addresses.length === 0 ? undefined : { eip, subnet, addresses };
}

/** The address of a label value: the inverse of `addressLabelValue`. */
export function addressOfLabel(value: string): string {
  const whole = value.replace(/^0-/, '-').replace(/-0$/, '-').replaceAll('-', ':');
  return addressLabelValue(whole) === value ? whole : value.replaceAll('-', ':');
}
