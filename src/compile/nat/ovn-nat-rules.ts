/** The kinds of NAT rules that OVN carries out. */
export const OVN_NAT_RULES = ['ovn-fips', 'ovn-snat-rules', 'ovn-dnat-rules'] as const;
export type OvnNatRule = (typeof OVN_NAT_RULES)[number];

export function isOvnNatRule(resource: string): resource is OvnNatRule {
  return (OVN_NAT_RULES as readonly string[]).includes(resource);
}
