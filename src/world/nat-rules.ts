/**
 * Objects that translate addresses by way of an EIP. Their address stays booked as long as one of them names it, whatever becomes of the EIP.
 */
import type { Condition, KubeObject } from '../api/meta.ts';
import { addressLabelValue, annotationKey, labelKey } from '../api/well-known.ts';
import type { AddressObject, AddressResource } from './address-objects.ts';

export const NAT_RULES = [
  'ovn-fips',
  'ovn-snat-rules',
  'ovn-dnat-rules',
  'iptables-fip-rules',
  'iptables-snat-rules',
  'iptables-dnat-rules',
] as const;
export type NatRuleResource = (typeof NAT_RULES)[number];

export function isNatRule(resource: string): resource is NatRuleResource {
  return (NAT_RULES as readonly string[]).includes(resource);
}

/** Of a rule, what says which address it uses, and what it was told. */
export type NatRule = KubeObject<
  { readonly ovnEip?: string; readonly eip?: string; readonly ipName?: string; readonly ipType?: string },
  { readonly v4Eip?: string; readonly v6Eip?: string; readonly conditions?: readonly Condition[] }
>;

/** How `status.nat` of an EIP calls the rules of a kind. */
export const NAT_USE: Readonly<Record<NatRuleResource, 'dnat' | 'fip' | 'snat'>> = {
  'ovn-fips': 'fip',
  'ovn-snat-rules': 'snat',
  'ovn-dnat-rules': 'dnat',
  'iptables-fip-rules': 'fip',
  'iptables-snat-rules': 'snat',
  'iptables-dnat-rules': 'dnat',
};

export function eipResourceOf(resource: NatRuleResource): Extract<AddressResource, 'ovn-eips' | 'iptables-eips'> {
  return resource.startsWith('ovn-') ? 'ovn-eips' : 'iptables-eips';
}

export function eipKindOf(resource: NatRuleResource): AddressObject['kind'] {
  return resource.startsWith('ovn-') ? 'OvnEip' : 'IptablesEIP';
}

export function natRulesOf(eips: AddressResource): readonly NatRuleResource[] {
  return NAT_RULES.filter((rule) => eipResourceOf(rule) === eips);
}

/** Name of the EIP that a rule names; empty for none. */
export function eipOfRule({ spec }: Pick<NatRule, 'spec'>): string {
  return spec.ovnEip ?? spec.eip ?? '';
}

/** The EIP that a rule is marked with: what it named when Kiln last saw it, empty where that was refused; undefined for one not seen yet. */
export function eipSeenBy({ metadata }: Pick<NatRule, 'metadata'>): string | undefined {
  return metadata.annotations?.[annotationKey.vpcEip];
}

/** The Subnet and the addresses that a rule is marked with; its labels outlive the EIP. */
export function bookedByRule({ metadata, status }: NatRule): { readonly subnet: string; readonly addresses: readonly string[] } {
  const { labels = {} } = metadata;
  const v4 = labels[labelKey.eipV4] ?? status?.v4Eip ?? '';
  const v6 = labels[labelKey.eipV6] ?? '';
  return {
    subnet: labels[labelKey.subnet] ?? '',
    addresses: [v4, v6 === '' ? (status?.v6Eip ?? '') : addressOfLabel(v6)].filter((text) => text !== ''),
  };
}

/** What a rule holds: the addresses that it was marked with, while it still names the EIP that they are of. */
export interface RuleHold {
  readonly eip: string;
  readonly subnet: string;
  readonly addresses: readonly string[];
}

export function heldByRule(rule: NatRule): RuleHold | undefined {
  const eip = eipOfRule(rule);
  const { subnet, addresses } = bookedByRule(rule);
  const marked = eipSeenBy(rule) ?? eip;
  return eip === '' || marked !== eip || subnet === '' || addresses.length === 0 ? undefined : { eip, subnet, addresses };
}

/** The address behind a label value: what `addressLabelValue` made of it. */
export function addressOfLabel(value: string): string {
  const whole = value.replace(/^0-/, '-').replace(/-0$/, '-').replaceAll('-', ':');
  return addressLabelValue(whole) === value ? whole : value.replaceAll('-', ':');
}
