/** Part `invariants` of each kind, by resource. Generated from ../list.ts by `npm run --silent kinds`: do not edit. */
import { invariants as subnet } from '../subnet/invariants.ts';
import { invariants as ip } from '../ip/invariants.ts';
import { invariants as pod } from '../pod/invariants.ts';
import { invariants as service } from '../service/invariants.ts';
import { invariants as ovnEip } from '../ovn-eip/invariants.ts';
import { invariants as vlan } from '../vlan/invariants.ts';

export const INVARIANTS_OF_KINDS = {
  subnets: subnet,
  ips: ip,
  pods: pod,
  services: service,
  'ovn-eips': ovnEip,
  vlans: vlan,
} as const;
