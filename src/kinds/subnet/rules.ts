import type { Rule } from '../../compile/rule.ts';
import { frozenSubnet } from '../../compile/subnet/retained/frozen-subnet.ts';
import { orphanedVpc } from '../../compile/subnet/retained/orphaned-network.ts';
import { orphanedSubnet } from '../../compile/subnet/retained/orphaned-subnet.ts';
import { subnetAcls } from '../../compile/subnet/rows/subnet-acls.ts';
import { subnetDhcp } from '../../compile/subnet/rows/subnet-dhcp.ts';
import { distributedGateway, subnetCentralizedGateway } from '../../compile/subnet/rows/subnet-gateway.ts';
import { subnetInterconnection, vpcOverlayNetworks } from '../../compile/subnet/rows/subnet-interconnection.ts';
import { subnetLocalnet } from '../../compile/subnet/rows/subnet-localnet.ts';
import { subnetLoadBalancers } from '../../compile/subnet/rows/subnet-load-balancers.ts';
import { subnetNodeServices } from '../../compile/subnet/rows/subnet-node-services.ts';
import { subnetRoutes } from '../../compile/subnet/rows/subnet-routes.ts';
import { subnetSwitch } from '../../compile/subnet/rows/subnet-switch.ts';
import { subnetVips } from '../../compile/subnet/rows/subnet-vips.ts';
import { subnetMtuRecord } from '../../compile/subnet/status/subnet-mtu-record.ts';
import { subnetStatus, subnetUsageStatus } from '../../compile/subnet/status/subnet-status.ts';
import { externalSubnets } from '../../compile/subnet/external-subnets.ts';
import { subnetLifecycle } from '../../compile/subnet/subnet-lifecycle.ts';
import { subnetPool } from '../../compile/subnet/subnet-pool.ts';
import { subnetAcceptedSpec } from '../../compile/subnet/subnet-accepted-spec.ts';
import { subnetSpecDefaults, subnetUnsupported } from '../../compile/subnet/subnet-spec.ts';

export const rules: readonly Rule[] = [
  subnetSpecDefaults,
  subnetAcceptedSpec,
  subnetUnsupported,
  subnetSwitch,
  subnetLocalnet,
  subnetVips,
  subnetInterconnection,
  vpcOverlayNetworks,
  subnetNodeServices,
  subnetLoadBalancers,
  subnetDhcp,
  subnetAcls,
  subnetRoutes,
  distributedGateway,
  subnetCentralizedGateway,
  frozenSubnet,
  orphanedVpc,
  orphanedSubnet,
  subnetPool,
  subnetStatus,
  subnetMtuRecord,
  subnetUsageStatus,
  subnetLifecycle,
  externalSubnets,
];
