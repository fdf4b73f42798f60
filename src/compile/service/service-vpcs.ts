/**
 * In which Vpcs a Service has vips. Endpoints in two Vpcs: each Vpc has its own, since no packet of one reaches the other. Kube-OVN puts all
 * of them into the Vpc of the first one.
 */
import { launchedInstance } from '../../api/kubernetes/virtual-machine.ts';
import { heldAddresses } from '../../world/claimants.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { namespaceBinding } from '../namespace/namespace-binding.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import type { ServiceEndpoint } from './service-endpoints.ts';
import type { ServiceView } from './service-view.ts';

/** The Vpcs of the addresses of a pod, by address. Key: `namespace/name`. A virtual machine holds the addresses of its pod. */
const podVpcs: Query<Readonly<Record<string, string>>> = defineQuery('pod-vpcs', (world, key) => {
  const pod = world.pods.get(key);
  const machine = pod === undefined ? undefined : launchedInstance(pod.metadata)?.name;
  const namespace = key.slice(0, key.indexOf('/'));
  const holders = machine === undefined ? [key] : [key, `${namespace}/${machine}`];
  return Object.fromEntries(
    holders
      .flatMap((holder) => world.ips.select('pod', holder))
      .flatMap((ip) => heldAddresses(ip).map((address) => [address, world.ask(subnetView, ip.spec.subnet ?? '')?.vpc ?? ''])),
  );
});

/** The Vpc of a Service that names none, and of endpoints that are no pods: that of its Namespace. */
export const namespaceVpc: Query<string> = defineQuery('namespace-vpc', (world, namespace) => {
  const [subnet] = world.ask(namespaceBinding, namespace).subnets;
  return (subnet === undefined ? undefined : world.ask(subnetView, subnet)?.vpc) ?? world.settings.defaultVpc;
});

/** The endpoints of a Service by Vpc; a Vpc without any has the Service's vips as well if it is the one that the Service belongs to. */
export function endpointsByVpc(
  world: World,
  service: ServiceView,
  endpoints: readonly ServiceEndpoint[],
): ReadonlyMap<string, readonly ServiceEndpoint[]> {
  const fallback = (): string => (service.vpc === '' ? world.ask(namespaceVpc, service.namespace) : service.vpc);
  if (endpoints.length === 0 || service.isVpcForAll) return new Map([[fallback(), endpoints]]);
  return Map.groupBy(endpoints, ({ pod, address }) => {
    const vpc = pod === '' ? undefined : world.ask(podVpcs, pod)[address];
    return vpc === undefined || vpc === '' ? fallback() : vpc;
  });
}
