/** The defaults that Kube-OVN's controller writes into a Vpc's spec: the policy of a route, and no next hop where the action ignores it. */

import type { VpcSpec } from '../kinds/vpc.ts';

/** Actions without a next hop. An unknown action keeps its next hop: it may be a misspelt `reroute`. */
const SENDS_NOWHERE: readonly (string | undefined)[] = ['allow', 'drop'];

/** The changes that make a Vpc's spec complete and canonical; empty if it already is. */
export const vpcDefaults = (spec: VpcSpec): Pick<VpcSpec, 'staticRoutes' | 'policyRoutes'> => {
  const { staticRoutes = [], policyRoutes = [] } = spec;
  const noPolicy = staticRoutes.some(({ policy }) => policy === undefined || policy === '');
  const ineffectiveNextHop = policyRoutes.some(({ action, nextHopIP = '' }) => SENDS_NOWHERE.includes(action) && nextHopIP !== '');
  return {
    ...(noPolicy && {
      staticRoutes: staticRoutes.map((route) =>
        route.policy === undefined || route.policy === '' ? { ...route, policy: 'policyDst' } : route,
      ),
    }),
    ...(ineffectiveNextHop && {
      policyRoutes: policyRoutes.map((route) =>
        SENDS_NOWHERE.includes(route.action) && route.nextHopIP !== undefined ? { ...route, nextHopIP: '' } : route,
      ),
    }),
  };
};
