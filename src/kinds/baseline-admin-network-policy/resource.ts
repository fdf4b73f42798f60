import { otherKind } from '../../api/schema/resource.ts';

/** As of a NetworkPolicy, the condition stays on the object. */
export const resource = otherKind('policy.networking.k8s.io', 'v1alpha1', 'baselineadminnetworkpolicies', 'BaselineAdminNetworkPolicy', {
  namespaced: false,
  conditions: 'annotation',
  shortNames: ['banp'],
  optional: true,
  unimplemented: 'BaselineAdminNetworkPolicy: traffic that it should deny is still allowed',
});
