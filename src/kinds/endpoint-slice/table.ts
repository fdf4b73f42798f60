import type { Endpoint, EndpointSlice } from '../../api/kubernetes/core.ts';
import { kindTable } from '../../world/kind-table.ts';
import type { Untrimmed } from '../../world/trim.ts';
import { trimMeta } from '../../world/trim.ts';

export const table = kindTable<EndpointSlice>({
  trim,
  indexes: () => ({
    /** `namespace/name` of its Service, as the label says: so kube-proxy finds them. */
    service: ({ metadata: { namespace = '', labels } }) => {
      const service = labels?.['kubernetes.io/service-name'] ?? '';
      return service === '' ? [] : [`${namespace}/${service}`];
    },
  }),
});

function trim(object: Untrimmed): EndpointSlice {
  const { addressType, endpoints, ports } = object as unknown as EndpointSlice;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: trimMeta(object.metadata, () => false),
    addressType,
    endpoints: (endpoints ?? []).map(keptEndpoint),
    ports: ports ?? [],
  };
}

function keptEndpoint({ addresses, conditions, nodeName, targetRef }: Endpoint): Endpoint {
  return { addresses, conditions, nodeName, targetRef } as Endpoint;
}
