import type { Service } from '../../api/kubernetes/core.ts';
import { kindTable } from '../../world/kind-table.ts';
import { clusterAddressesOf, vipsOfService } from '../../world/service-vips.ts';
import type { Untrimmed } from '../../world/trim.ts';
import { NETWORK_KEYS, trimMeta } from '../../world/trim.ts';

export const table = kindTable<Service>({
  trim,
  names: ({ metadata }) => [['namespaces', metadata.namespace]],
  /** The addresses that the cluster gave it: no other Service has them as an address from outside. */
  indexes: () => ({ clusterAddress: clusterAddressesOf }),
  /** Its entries in load balancers, as `vipText` writes them. Built when an entry is found that no rule emits. */
  lazy: { vip: vipsOfService },
});

/** What decides where a Service's packets go. */
function trim(object: Untrimmed): Service {
  const { spec, status } = object as Service;
  const { type, clusterIP, clusterIPs, externalIPs, ports, loadBalancerSourceRanges } = spec ?? {};
  const { sessionAffinity, sessionAffinityConfig, internalTrafficPolicy } = spec ?? {};
  const ingress = status?.loadBalancer?.ingress;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: trimMeta(object.metadata, (key) => NETWORK_KEYS.test(key)),
    spec: {
      ...{ type, clusterIP, clusterIPs, externalIPs, ports, loadBalancerSourceRanges },
      ...{ sessionAffinity, sessionAffinityConfig, internalTrafficPolicy },
    } as Service['spec'],
    ...(ingress === undefined ? {} : { status: { loadBalancer: { ingress } } }),
  };
}
