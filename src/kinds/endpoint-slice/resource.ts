import { otherKind } from '../../api/schema/resource.ts';

/** Servers before 1.21 serve it in an older version alone: Services are then left to kube-proxy. */
export const resource = otherKind('discovery.k8s.io', 'v1', 'endpointslices', 'EndpointSlice', { optional: true });
