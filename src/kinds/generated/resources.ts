/** Part `resource` of each kind, by resource. Generated from ../list.ts by `npm run --silent kinds`: do not edit. */
import { resource as vpc } from '../vpc/resource.ts';
import { resource as subnet } from '../subnet/resource.ts';
import { resource as ip } from '../ip/resource.ts';
import { resource as ipPool } from '../ip-pool/resource.ts';
import { resource as pod } from '../pod/resource.ts';
import { resource as namespace } from '../namespace/resource.ts';
import { resource as node } from '../node/resource.ts';
import { resource as externalGatewayConfig } from '../external-gateway-config/resource.ts';
import { resource as statefulSet } from '../stateful-set/resource.ts';
import { resource as networkAttachment } from '../network-attachment/resource.ts';
import { resource as virtualMachine } from '../virtual-machine/resource.ts';
import { resource as virtualMachineInstance } from '../virtual-machine-instance/resource.ts';
import { resource as machineMigration } from '../machine-migration/resource.ts';
import { resource as service } from '../service/resource.ts';
import { resource as endpointSlice } from '../endpoint-slice/resource.ts';
import { resource as networkPolicy } from '../network-policy/resource.ts';
import { resource as adminNetworkPolicy } from '../admin-network-policy/resource.ts';
import { resource as baselineAdminNetworkPolicy } from '../baseline-admin-network-policy/resource.ts';
import { resource as clusterNetworkPolicy } from '../cluster-network-policy/resource.ts';
import { resource as vip } from '../vip/resource.ts';
import { resource as ovnEip } from '../ovn-eip/resource.ts';
import { resource as ovnFip } from '../ovn-fip/resource.ts';
import { resource as ovnSnatRule } from '../ovn-snat-rule/resource.ts';
import { resource as ovnDnatRule } from '../ovn-dnat-rule/resource.ts';
import { resource as securityGroup } from '../security-group/resource.ts';
import { resource as vlan } from '../vlan/resource.ts';
import { resource as providerNetwork } from '../provider-network/resource.ts';
import { resource as vpcNatGateway } from '../vpc-nat-gateway/resource.ts';
import { resource as vpcEgressGateway } from '../vpc-egress-gateway/resource.ts';
import { resource as vpcDns } from '../vpc-dns/resource.ts';
import { resource as switchLbRule } from '../switch-lb-rule/resource.ts';
import { resource as routerLbRule } from '../router-lb-rule/resource.ts';
import { resource as iptablesEip } from '../iptables-eip/resource.ts';
import { resource as iptablesFipRule } from '../iptables-fip-rule/resource.ts';
import { resource as iptablesSnatRule } from '../iptables-snat-rule/resource.ts';
import { resource as iptablesDnatRule } from '../iptables-dnat-rule/resource.ts';
import { resource as bgpConf } from '../bgp-conf/resource.ts';
import { resource as evpnConf } from '../evpn-conf/resource.ts';
import { resource as dnsNameResolver } from '../dns-name-resolver/resource.ts';
import { resource as qosPolicy } from '../qos-policy/resource.ts';

export const RESOURCES = {
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
  networkpolicies: networkPolicy,
  adminnetworkpolicies: adminNetworkPolicy,
  baselineadminnetworkpolicies: baselineAdminNetworkPolicy,
  clusternetworkpolicies: clusterNetworkPolicy,
  vips: vip,
  'ovn-eips': ovnEip,
  'ovn-fips': ovnFip,
  'ovn-snat-rules': ovnSnatRule,
  'ovn-dnat-rules': ovnDnatRule,
  'security-groups': securityGroup,
  vlans: vlan,
  'provider-networks': providerNetwork,
  'vpc-nat-gateways': vpcNatGateway,
  'vpc-egress-gateways': vpcEgressGateway,
  'vpc-dnses': vpcDns,
  'switch-lb-rules': switchLbRule,
  'router-lb-rules': routerLbRule,
  'iptables-eips': iptablesEip,
  'iptables-fip-rules': iptablesFipRule,
  'iptables-snat-rules': iptablesSnatRule,
  'iptables-dnat-rules': iptablesDnatRule,
  'bgp-confs': bgpConf,
  'evpn-confs': evpnConf,
  dnsnameresolvers: dnsNameResolver,
  'qos-policies': qosPolicy,
} as const;
