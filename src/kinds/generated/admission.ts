/** Part `admission` of each kind, by resource. Generated from ../list.ts by `npm run --silent kinds`: do not edit. */
import { admission as vpc } from '../vpc/admission.ts';
import { admission as subnet } from '../subnet/admission.ts';
import { admission as ip } from '../ip/admission.ts';
import { admission as ipPool } from '../ip-pool/admission.ts';
import { admission as pod } from '../pod/admission.ts';
import { admission as vip } from '../vip/admission.ts';
import { admission as ovnEip } from '../ovn-eip/admission.ts';
import { admission as ovnFip } from '../ovn-fip/admission.ts';
import { admission as ovnSnatRule } from '../ovn-snat-rule/admission.ts';
import { admission as ovnDnatRule } from '../ovn-dnat-rule/admission.ts';
import { admission as vlan } from '../vlan/admission.ts';
import { admission as providerNetwork } from '../provider-network/admission.ts';
import { admission as iptablesEip } from '../iptables-eip/admission.ts';
import { admission as iptablesFipRule } from '../iptables-fip-rule/admission.ts';
import { admission as iptablesSnatRule } from '../iptables-snat-rule/admission.ts';
import { admission as iptablesDnatRule } from '../iptables-dnat-rule/admission.ts';

export const ADMISSION_OF_KINDS = {
  vpcs: vpc,
  subnets: subnet,
  ips: ip,
  ippools: ipPool,
  pods: pod,
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
