/**
 * Kinds that Kiln does not implement yet. Each object of them gets a report, because silence about an unenforced policy is unsafe.
 */
import { celFindings } from '../../api/cel/cel-rules.ts';
import type { Service } from '../../api/kubernetes/core.ts';
import { dnsNameResolverKind } from '../../api/kinds/dns-name-resolver.ts';
import type { Kind } from '../../api/schema/kind.ts';
import { vpcEgressGatewayKind } from '../../api/kinds/vpc-egress-gateway.ts';
import type { ResourceName } from '../../world/resources.ts';
import type { Untrimmed } from './trim.ts';

export interface UnimplementedKind {
  readonly resource: ResourceName;
  /** What is not implemented for this object; undefined: it requests nothing. */
  readonly feature: (object: Untrimmed) => string | undefined;
  /** Its definition, if that has rules that only newer API servers enforce. */
  readonly kind?: Kind<unknown, unknown>;
}

/** What is kept of an object of such a kind, beside its identity. */
export interface ObservedOnly {
  readonly feature?: string;
  readonly broken?: readonly string[];
  /** Of the API server's Service. */
  readonly addresses?: readonly string[];
  /** Of a Service. */
  readonly vips?: readonly string[];
}

function always(resource: ResourceName, feature: string): UnimplementedKind {
  return { resource, feature: () => feature };
}

export const UNIMPLEMENTED_KINDS: readonly UnimplementedKind[] = [
  {
    resource: 'services',
    feature: (object) => {
      const { type, clusterIP } = (object as Service).spec;
      if (type === 'ExternalName' || clusterIP === 'None') return undefined;
      return 'load balancing of Services in OVN';
    },
  },
  always('networkpolicies', 'NetworkPolicy: traffic that it should deny is still allowed'),
  always('ovn-fips', 'floating addresses (OvnFip)'),
  always('ovn-snat-rules', 'source NAT (OvnSnatRule)'),
  always('ovn-dnat-rules', 'destination NAT (OvnDnatRule)'),
  always('security-groups', 'SecurityGroup: traffic that it should deny is still allowed'),
  always('vlans', 'underlay networks (Vlan)'),
  always('provider-networks', 'underlay networks (ProviderNetwork)'),
  always('vpc-nat-gateways', 'NAT gateways (VpcNatGateway)'),
  { ...always('vpc-egress-gateways', 'egress gateways (VpcEgressGateway)'), kind: vpcEgressGatewayKind },
  always('vpc-dnses', 'DNS in a Vpc (VpcDns)'),
  always('switch-lb-rules', 'load balancing inside a Vpc (SwitchLBRule)'),
  always('router-lb-rules', 'load balancing on a router (RouterLBRule)'),
  always('iptables-fip-rules', 'floating addresses of NAT gateways (IptablesFIPRule)'),
  always('iptables-snat-rules', 'source NAT of NAT gateways (IptablesSnatRule)'),
  always('iptables-dnat-rules', 'destination NAT of NAT gateways (IptablesDnatRule)'),
  always('bgp-confs', 'announcing routes by BGP (BgpConf)'),
  always('evpn-confs', 'EVPN (EvpnConf)'),
  { ...always('dnsnameresolvers', 'rules by DNS name (DNSNameResolver)'), kind: dnsNameResolverKind },
  always('qos-policies', 'bandwidth limits (QoSPolicy)'),
];

/** Messages about rules of the definition that an object breaks. */
export function brokenRules(kind: Kind<unknown, unknown>, { metadata: { name, namespace }, spec }: Untrimmed): readonly string[] {
  const subject = { kind: kind.kind, name, ...(namespace === undefined ? {} : { namespace }) };
  return celFindings(kind, subject, spec).map(({ message }) => message);
}
