/** Part `simulator` of each kind, by resource. Generated from ../list.ts by `npm run --silent kinds`: do not edit. */
import { simulator as vpc } from '../vpc/simulator.ts';
import { simulator as subnet } from '../subnet/simulator.ts';
import { simulator as ip } from '../ip/simulator.ts';
import { simulator as ipPool } from '../ip-pool/simulator.ts';
import { simulator as pod } from '../pod/simulator.ts';
import { simulator as namespace } from '../namespace/simulator.ts';
import { simulator as node } from '../node/simulator.ts';
import { simulator as externalGatewayConfig } from '../external-gateway-config/simulator.ts';
import { simulator as statefulSet } from '../stateful-set/simulator.ts';
import { simulator as networkAttachment } from '../network-attachment/simulator.ts';
import { simulator as virtualMachine } from '../virtual-machine/simulator.ts';
import { simulator as virtualMachineInstance } from '../virtual-machine-instance/simulator.ts';
import { simulator as machineMigration } from '../machine-migration/simulator.ts';
import { simulator as service } from '../service/simulator.ts';
import { simulator as endpointSlice } from '../endpoint-slice/simulator.ts';
import { simulator as vip } from '../vip/simulator.ts';
import { simulator as ovnEip } from '../ovn-eip/simulator.ts';
import { simulator as ovnFip } from '../ovn-fip/simulator.ts';
import { simulator as ovnSnatRule } from '../ovn-snat-rule/simulator.ts';
import { simulator as ovnDnatRule } from '../ovn-dnat-rule/simulator.ts';
import { simulator as vlan } from '../vlan/simulator.ts';
import { simulator as providerNetwork } from '../provider-network/simulator.ts';

export const SIMULATOR_OF_KINDS = {
  vpcs: vpc,
  subnets: subnet,
  ips: ip,
  ippools: ipPool,
  pods: pod,
  namespaces: namespace,
  nodes: node,
  configmaps: externalGatewayConfig,
  statefulsets: statefulSet,
  'network-attachment-definitions': networkAttachment,
  virtualmachines: virtualMachine,
  virtualmachineinstances: virtualMachineInstance,
  virtualmachineinstancemigrations: machineMigration,
  services: service,
  endpointslices: endpointSlice,
  vips: vip,
  'ovn-eips': ovnEip,
  'ovn-fips': ovnFip,
  'ovn-snat-rules': ovnSnatRule,
  'ovn-dnat-rules': ovnDnatRule,
  vlans: vlan,
  'provider-networks': providerNetwork,
} as const;
