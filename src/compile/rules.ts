/**
 * The list of all rules.
 */
import { builtinObjects, globalOptions } from './builtins.ts';
import type { Rule } from './compiler.ts';
import { ipPool } from './ip-pool.ts';
import { ipLifecycle } from './ip-lifecycle.ts';
import { misboundPolicyCheck } from './misbound.ts';
import { namespaceAnnotations } from './namespace-annotations.ts';
import { nodeJoin } from './node-join.ts';
import { nodePolicy } from './node-policy.ts';
import { nodePortGroups } from './node-port-group.ts';
import { pod } from './pod.ts';
import { reservedIp } from './reserved-ip.ts';
import { retainedPort } from './retained-port.ts';
import { rowConflictNotice } from './row-conflict.ts';
import { subnetAcls } from './subnet-acls.ts';
import { subnetDhcp } from './subnet-dhcp.ts';
import { distributedGateway, subnetCentralizedGateway } from './subnet-gateway.ts';
import { subnetKept, vpcMissing } from './subnet-kept.ts';
import { subnetLifecycle } from './subnet-lifecycle.ts';
import { subnetLoadBalancers } from './subnet-load-balancers.ts';
import { subnetMissing } from './subnet-missing.ts';
import { subnetPool } from './subnet-pool.ts';
import { subnetRoutes } from './subnet-routes.ts';
import { subnetSpecDefaults, subnetUnsupported } from './subnet-spec.ts';
import { subnetStatus, subnetUsageStatus } from './subnet-status.ts';
import { subnetSwitch } from './subnet-switch.ts';
import { podAnnotationUnserved, unserved } from './unserved.ts';
import { vpcLifecycle, vpcSpecDefaults } from './vpc-lifecycle.ts';
import { vpcLoadBalancers } from './vpc-load-balancers.ts';
import { vpcPeering } from './vpc-peering.ts';
import { vpcPolicyRoutes } from './vpc-policy-routes.ts';
import { vpcRouter } from './vpc-router.ts';
import { vpcStaticRoutes } from './vpc-static-routes.ts';
import { vpcStatus } from './vpc-status.ts';

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
  subnetKept,
  vpcMissing,
  subnetMissing,
  subnetPool,
  subnetStatus,
  subnetUsageStatus,
  subnetLifecycle,
  ipPool,
];

/** Who uses the network: pods, nodes, and what they hold. */
export const MEMBER_RULES: readonly Rule[] = [
  nodeJoin,
  nodePortGroups,
  nodePolicy,
  namespaceAnnotations,
  misboundPolicyCheck,
  pod,
  ipLifecycle,
  retainedPort,
  reservedIp,
  rowConflictNotice,
  unserved,
  podAnnotationUnserved,
];

export const RULES: readonly Rule[] = [...NETWORK_RULES, ...MEMBER_RULES];
