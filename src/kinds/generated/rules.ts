/** Part `rules` of each kind, by resource. Generated from ../list.ts by `npm run --silent kinds`: do not edit. */
import { rules as vpc } from '../vpc/rules.ts';
import { rules as subnet } from '../subnet/rules.ts';
import { rules as ip } from '../ip/rules.ts';
import { rules as ipPool } from '../ip-pool/rules.ts';
import { rules as pod } from '../pod/rules.ts';
import { rules as namespace } from '../namespace/rules.ts';
import { rules as node } from '../node/rules.ts';
import { rules as externalGatewayConfig } from '../external-gateway-config/rules.ts';
import { rules as networkAttachment } from '../network-attachment/rules.ts';
import { rules as service } from '../service/rules.ts';
import { rules as vip } from '../vip/rules.ts';
import { rules as ovnEip } from '../ovn-eip/rules.ts';
import { rules as ovnFip } from '../ovn-fip/rules.ts';
import { rules as ovnSnatRule } from '../ovn-snat-rule/rules.ts';
import { rules as ovnDnatRule } from '../ovn-dnat-rule/rules.ts';
import { rules as vlan } from '../vlan/rules.ts';
import { rules as providerNetwork } from '../provider-network/rules.ts';
import { rules as iptablesEip } from '../iptables-eip/rules.ts';
import { rules as iptablesFipRule } from '../iptables-fip-rule/rules.ts';
import { rules as iptablesSnatRule } from '../iptables-snat-rule/rules.ts';
import { rules as iptablesDnatRule } from '../iptables-dnat-rule/rules.ts';

export const RULES_OF_KINDS = {
  vpcs: vpc,
  subnets: subnet,
  ips: ip,
  ippools: ipPool,
  pods: pod,
  namespaces: namespace,
  nodes: node,
  configmaps: externalGatewayConfig,
  'network-attachment-definitions': networkAttachment,
  services: service,
  vips: vip,
  'ovn-eips': ovnEip,
  'ovn-fips': ovnFip,
  'ovn-snat-rules': ovnSnatRule,
  'ovn-dnat-rules': ovnDnatRule,
  vlans: vlan,
  'provider-networks': providerNetwork,
  'iptables-eips': iptablesEip,
  'iptables-fip-rules': iptablesFipRule,
  'iptables-snat-rules': iptablesSnatRule,
  'iptables-dnat-rules': iptablesDnatRule,
} as const;
