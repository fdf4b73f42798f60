/**
 * The addresses from outside that pods of a Vpc reach as vips: `externalIPs`, and those of a load balancer. Whoever may write a Service
 * chooses them, and with them whose traffic it gets. So only in a Vpc that the Service's own Namespace or pods are in, and none that another
 * Service has from the cluster, or that lies in the network of a Subnet there: a pod could have it. In an underlay Subnet load balancers
 * have their addresses.
 */
import type { Cidr } from '../../net/cidr.ts';
import { cidrContains, parseCidr } from '../../net/cidr.ts';
import { parseAddress } from '../../net/address.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import type { ServiceEndpoint } from './service-endpoints.ts';
import { namespaceVpc } from './service-vpcs.ts';
import type { ServiceAddress, ServiceView } from './service-view.ts';

export function externalVips(
  world: World,
  vpc: string,
  { namespace, external }: Pick<ServiceView, 'namespace' | 'external'>,
  endpoints: readonly ServiceEndpoint[],
): readonly ServiceAddress[] {
  if (external.length === 0) return [];
  const isOwn = endpoints.some(({ pod }) => pod.startsWith(`${namespace}/`)) || world.ask(namespaceVpc, namespace) === vpc;
  return isOwn ? external.filter(({ address }) => takenBy(world, vpc, address) === undefined) : [];
}

/** What has the address in the cluster, as the end of a sentence; undefined: nothing. */
export function takenBy(world: World, vpc: string, address: string): string | undefined {
  const [other] = [...world.services.bucket('clusterAddress', address)].toSorted();
  if (other !== undefined) return `it is the ClusterIP of Service ${other}`;
  const subnet = Object.entries(world.ask(overlayNetworks, vpc)).find(([, cidrs]) => contains(cidrs, address))?.[0];
  return subnet === undefined ? undefined : `it lies in the network of Subnet ${subnet}`;
}

/** Networks by Subnet. Key: a Vpc. */
const overlayNetworks: Query<Readonly<Record<string, readonly string[]>>> = defineQuery('vpc-overlay-networks', (world, vpc) =>
  Object.fromEntries(
    [...world.subnetVpcs.in(vpc)].toSorted().flatMap((name) => {
      const view = world.ask(subnetView, name);
      if (view === undefined || view.vlan !== '') return [];
      return [[name, [view.v4?.cidr, view.v6?.cidr].filter((cidr) => cidr !== undefined)]];
    }),
  ),
);

function contains(cidrs: readonly string[], text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && cidrs.map(parseCidr).some((cidr: Cidr | undefined) => cidr !== undefined && cidrContains(cidr, address));
}
