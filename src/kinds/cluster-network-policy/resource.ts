import { otherKind } from '../../api/schema/resource.ts';

/** As of a NetworkPolicy, the condition stays on the object. */
export const resource = otherKind('policy.networking.k8s.io', 'v1alpha2', 'clusternetworkpolicies', 'ClusterNetworkPolicy', {
  namespaced: false,
  conditions: 'annotation',
  shortNames: ['cnp'],
  optional: true,
  unimplemented: 'ClusterNetworkPolicy: traffic that it should deny is still allowed',
});
