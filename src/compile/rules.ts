/**
 * The list of all rules.
 */
import { iptablesEip, ovnEip } from './vip-eip/eip.ts';
import { natRuleAnnotations } from './vip-eip/nat-rule.ts';
import { vip } from './vip-eip/vip.ts';
import { builtinObjects } from './builtins.ts';
import { globalOptions } from './global-options.ts';
import type { Rule } from './compiler.ts';
import { ineffectiveRules } from './ineffective-rules.ts';
import { ipPool } from './ip/ip-pool.ts';
import { ipLifecycle } from './ip/ip-lifecycle.ts';
import { furtherSourcePolicies } from './pod/port/further-source-policies.ts';
import { namespaceAnnotations } from './namespace/namespace-annotations.ts';
import { nodeAddresses } from './node/node-addresses.ts';
import { nodeConflict } from './node/node-conflict.ts';
import { nodeJoin } from './node/node-join.ts';
import { nodePolicy } from './node/node-policy.ts';
import { nodePortGroups } from './node/node-port-group.ts';
import { attachmentFindings } from './pod/interface/network-attachment.ts';
import { pod } from './pod/pod.ts';
import { reservedIp } from './ip/reserved-ip.ts';
import { retainedPort } from './pod/port/retained-port.ts';
import { leftoverRows } from './leftover-rows.ts';
import { rowConflictReport } from './row-conflict.ts';
import { subnetAcls } from './subnet/rows/subnet-acls.ts';
import { subnetDhcp } from './subnet/rows/subnet-dhcp.ts';
import { distributedGateway, subnetCentralizedGateway } from './subnet/rows/subnet-gateway.ts';
import { orphanedVpc } from './subnet/retained/orphaned-network.ts';
import { frozenSubnet } from './subnet/retained/frozen-subnet.ts';
import { subnetLifecycle } from './subnet/subnet-lifecycle.ts';
import { subnetLoadBalancers } from './subnet/rows/subnet-load-balancers.ts';
import { orphanedSubnet } from './subnet/retained/orphaned-subnet.ts';
import { subnetPool } from './subnet/subnet-pool.ts';
import { subnetRoutes } from './subnet/rows/subnet-routes.ts';
import { subnetSpecDefaults, subnetUnsupported } from './subnet/subnet-spec.ts';
import { subnetMtuRecord } from './subnet/status/subnet-mtu-record.ts';
import { subnetStatus, subnetUsageStatus } from './subnet/status/subnet-status.ts';
import { subnetSwitch } from './subnet/rows/subnet-switch.ts';
import { podAnnotationUnimplemented, unimplemented } from './unimplemented-kinds.ts';
import { unimplementedAddressFields } from './unimplemented-fields.ts';
import { writeRejectedReport } from './write-rejection.ts';
import { vpcLifecycle, vpcSpecDefaults } from './vpc/vpc-lifecycle.ts';
import { vpcLoadBalancers } from './vpc/vpc-load-balancers.ts';
import { vpcPeering } from './vpc/vpc-peering.ts';
import { vpcPolicyRoutes } from './vpc/vpc-policy-routes.ts';
import { vpcRouter } from './vpc/vpc-router.ts';
import { vpcStaticRoutes } from './vpc/vpc-static-routes.ts';
import { vpcStatus } from './vpc/vpc-status.ts';

/** Vpcs and Subnets. */
export const NETWORK_RULES: readonly Rule[] = [
  builtinObjects,
  globalOptions,
  vpcSpecDefaults,
  vpcRouter,
  vpcLoadBalancers,
  vpcStaticRoutes,
  vpcPolicyRoutes,
  vpcPeering,
  vpcStatus,
  vpcLifecycle,
  subnetSpecDefaults,
  subnetUnsupported,
  subnetSwitch,
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
  subnetMtuRecord,
  subnetStatus,
  subnetUsageStatus,
  subnetLifecycle,
  ipPool,
];

/** Users of the networks: pods, nodes, and their addresses. */
export const MEMBER_RULES: readonly Rule[] = [
  furtherSourcePolicies,
  nodeJoin,
  nodePortGroups,
  nodePolicy,
  nodeAddresses,
  nodeConflict,
  namespaceAnnotations,
  writeRejectedReport,
  attachmentFindings,
  pod,
  ipLifecycle,
  retainedPort,
  reservedIp,
  vip,
  ovnEip,
  iptablesEip,
  ...natRuleAnnotations,
  rowConflictReport,
  leftoverRows,
  unimplemented,
  ...unimplementedAddressFields,
  podAnnotationUnimplemented,
  ...ineffectiveRules,
];

export const RULES: readonly Rule[] = [...NETWORK_RULES, ...MEMBER_RULES];
