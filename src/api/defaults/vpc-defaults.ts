/** What Kube-OVN's controller puts into a Vpc's spec: route policies, and no next hop where none is used. */

import type { VpcSpec } from '../kinds/vpc.ts';

/** Those that send nowhere. What another word means nobody knows: a misspelt reroute keeps its next hop. */
const SENDS_NOWHERE: readonly (string | undefined)[] = ['allow', 'drop'];

/** The fields of a Vpc's spec that are empty or not canonical, as they should be; empty when the spec is canonical. */
export const vpcDefaults = (spec: VpcSpec): Pick<VpcSpec, 'staticRoutes' | 'policyRoutes'> => {
  const { staticRoutes = [], policyRoutes = [] } = spec;
  const noPolicy = staticRoutes.some(({ policy }) => policy === undefined || policy === '');
  const idleNextHop = policyRoutes.some(({ action, nextHopIP = '' }) => SENDS_NOWHERE.includes(action) && nextHopIP !== '');
  return {
    ...(noPolicy && {
      staticRoutes: staticRoutes.map((route) =>
        route.policy === undefined || route.policy === '' ? { ...route, policy: 'policyDst' } : route,
      ),
    }),
    ...(idleNextHop && {
      policyRoutes: policyRoutes.map((route) =>
        SENDS_NOWHERE.includes(route.action) && route.nextHopIP !== undefined ? { ...route, nextHopIP: '' } : route,
      ),
    }),
  };
};
