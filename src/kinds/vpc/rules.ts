import { builtinObjects } from './rules/built-in-objects.ts';
import type { Rule } from '../../compile/rule.ts';
import { vpcExternal } from '../../compile/nat/external-ports.ts';
import { vpcBfdPort } from '../../compile/vpc/bfd-port.ts';
import { vpcBfd } from '../../compile/vpc/bfd-rows.ts';
import { externalVpcs } from '../../compile/vpc/external-vpcs.ts';
import { vpcLifecycle, vpcSpecDefaults } from '../../compile/vpc/vpc-lifecycle.ts';
import { vpcLoadBalancers } from '../../compile/vpc/vpc-load-balancers.ts';
import { vpcPeering } from '../../compile/vpc/vpc-peering.ts';
import { vpcPolicyRoutes } from '../../compile/vpc/vpc-policy-routes.ts';
import { vpcRouter } from '../../compile/vpc/vpc-router.ts';
import { vpcStaticRoutes } from '../../compile/vpc/vpc-static-routes.ts';
import { vpcStatus } from '../../compile/vpc/vpc-status.ts';

export const rules: readonly Rule[] = [
  builtinObjects,
  vpcSpecDefaults,
  vpcRouter,
  vpcLoadBalancers,
  vpcStaticRoutes,
  vpcPolicyRoutes,
  vpcPeering,
  vpcExternal,
  externalVpcs,
  vpcBfd,
  vpcBfdPort,
  vpcStatus,
  vpcLifecycle,
];
