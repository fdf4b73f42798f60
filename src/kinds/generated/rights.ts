/** Part `rights` of each kind, by resource. Generated from ../list.ts by `npm run --silent kinds`: do not edit. */
import { rights as vpc } from '../vpc/rights.ts';
import { rights as subnet } from '../subnet/rights.ts';
import { rights as ip } from '../ip/rights.ts';
import { rights as pod } from '../pod/rights.ts';
import { rights as namespace } from '../namespace/rights.ts';
import { rights as node } from '../node/rights.ts';
import { rights as vip } from '../vip/rights.ts';
import { rights as ovnEip } from '../ovn-eip/rights.ts';
import { rights as ovnFip } from '../ovn-fip/rights.ts';
import { rights as ovnSnatRule } from '../ovn-snat-rule/rights.ts';
import { rights as ovnDnatRule } from '../ovn-dnat-rule/rights.ts';
import { rights as iptablesEip } from '../iptables-eip/rights.ts';
import { rights as iptablesFipRule } from '../iptables-fip-rule/rights.ts';
import { rights as iptablesSnatRule } from '../iptables-snat-rule/rights.ts';
import { rights as iptablesDnatRule } from '../iptables-dnat-rule/rights.ts';

export const RIGHTS_OF_KINDS = {
  vpcs: vpc,
  subnets: subnet,
  ips: ip,
  pods: pod,
  namespaces: namespace,
  nodes: node,
  vips: vip,
  'ovn-eips': ovnEip,
  'ovn-fips': ovnFip,
  'ovn-snat-rules': ovnSnatRule,
  'ovn-dnat-rules': ovnDnatRule,
  'iptables-eips': iptablesEip,
  'iptables-fip-rules': iptablesFipRule,
  'iptables-snat-rules': iptablesSnatRule,
  'iptables-dnat-rules': iptablesDnatRule,
} as const;
