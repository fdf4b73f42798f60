/** Part `simulator` of each kind, by resource. Generated from ../list.ts by `npm run --silent kinds`: do not edit. */
import { simulator as vpc } from '../vpc/simulator.ts';
import { simulator as subnet } from '../subnet/simulator.ts';
import { simulator as ipPool } from '../ip-pool/simulator.ts';
import { simulator as vip } from '../vip/simulator.ts';
import { simulator as ovnEip } from '../ovn-eip/simulator.ts';
import { simulator as vlan } from '../vlan/simulator.ts';
import { simulator as providerNetwork } from '../provider-network/simulator.ts';

export const SIMULATOR_OF_KINDS = {
  vpcs: vpc,
  subnets: subnet,
  ippools: ipPool,
  vips: vip,
  'ovn-eips': ovnEip,
  vlans: vlan,
  'provider-networks': providerNetwork,
} as const;
