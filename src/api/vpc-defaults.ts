/** What Kube-OVN's controller puts into a Vpc's spec: route policies, and no next hop where none is used. */

import type { VpcSpec } from './vpc.ts';

/** The fields of a Vpc's spec that are empty or not canonical, as they should be; empty when the spec is canonical. */
export const vpcDefaults = (spec: VpcSpec): Pick<VpcSpec, 'staticRoutes' | 'policyRoutes'> => {
  const { staticRoutes = [], policyRoutes = [] } = spec;
  const noPolicy = staticRoutes.some(({ policy }) => policy === undefined || policy === '');
  const idleNextHop = policyRoutes.some(({ action, nextHopIP = '' }) => action !== 'reroute' && nextHopIP !== '');
  return {
    ...(noPolicy && {
      staticRoutes: staticRoutes.map((route) =>
        route.policy === undefined || route.policy === '' ? { ...route, policy: 'policyDst' } : route,
      ),
    }),
    ...(idleNextHop && {
      policyRoutes: policyRoutes.map((route) =>
        route.action !== 'reroute' && route.nextHopIP !== undefined ? { ...route, nextHopIP: '' } : route,
      ),
    }),
  };
};
