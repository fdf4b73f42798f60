/** Part `dependencies` of each kind, by resource. Generated from ../list.ts by `npm run --silent kinds`: do not edit. */
import { dependencies as subnet } from '../subnet/dependencies.ts';
import { dependencies as ip } from '../ip/dependencies.ts';
import { dependencies as ipPool } from '../ip-pool/dependencies.ts';
import { dependencies as pod } from '../pod/dependencies.ts';
import { dependencies as namespace } from '../namespace/dependencies.ts';
import { dependencies as node } from '../node/dependencies.ts';
import { dependencies as vip } from '../vip/dependencies.ts';
import { dependencies as ovnEip } from '../ovn-eip/dependencies.ts';
import { dependencies as ovnFip } from '../ovn-fip/dependencies.ts';
import { dependencies as ovnSnatRule } from '../ovn-snat-rule/dependencies.ts';
import { dependencies as ovnDnatRule } from '../ovn-dnat-rule/dependencies.ts';
import { dependencies as vlan } from '../vlan/dependencies.ts';
import { dependencies as iptablesEip } from '../iptables-eip/dependencies.ts';
import { dependencies as iptablesFipRule } from '../iptables-fip-rule/dependencies.ts';
import { dependencies as iptablesSnatRule } from '../iptables-snat-rule/dependencies.ts';
import { dependencies as iptablesDnatRule } from '../iptables-dnat-rule/dependencies.ts';

export const DEPENDENCIES_OF_KINDS = {
  subnets: subnet,
  ips: ip,
  ippools: ipPool,
  pods: pod,
  namespaces: namespace,
  nodes: node,
  vips: vip,
  'ovn-eips': ovnEip,
  'ovn-fips': ovnFip,
  'ovn-snat-rules': ovnSnatRule,
  'ovn-dnat-rules': ovnDnatRule,
  vlans: vlan,
  'iptables-eips': iptablesEip,
  'iptables-fip-rules': iptablesFipRule,
  'iptables-snat-rules': iptablesSnatRule,
  'iptables-dnat-rules': iptablesDnatRule,
} as const;
