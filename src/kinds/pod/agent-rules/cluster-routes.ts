/**
 * Where the default route of a pod is on another interface, its first one keeps what belongs to the cluster: the other Subnets of its Vpc, the
 * nodes, and the network of Services. Else answers to its own Services would leave by a network that knows nobody of them.
 */
import { routeOf } from '../../../agent/rules/device-route.ts';
import type { NodeSettings } from '../../../agent/rules/node-settings.ts';
import type { NodeWorld } from '../../../agent/world/node-world.ts';
import type { DeviceRoute } from '../../../agent/world/outputs.ts';
import { DEFAULT_PROVIDER } from '../../../api/well-known.ts';
import { bitsOf, parseAddress } from '../../../net/address.ts';
import { canonicalCidr, parseCidr } from '../../../net/cidr.ts';
import { splitList } from '../../../net/dual.ts';
import type { Attachment } from '../../../agent/world/attachment.ts';
import { DEFAULT_INTERFACE, type PodNetwork } from './pod-network.ts';

export function clusterRoutes(
  world: NodeWorld,
  { interfaceName, provider }: Attachment,
  { addresses, gateways, subnet }: PodNetwork,
  settings: NodeSettings,
): readonly DeviceRoute[] {
  const isFirst = interfaceName === DEFAULT_INTERFACE && provider === DEFAULT_PROVIDER;
  if (!isFirst || gateways.length === 0 || addresses.some(({ gateway }) => gateway !== undefined)) return [];
  const own = new Set<string | undefined>(addresses.map(({ cidr }) => canonicalCidr(cidr)));
  const vpcOf = (name: string): string | undefined => {
    const vpc = world.subnets.get(name)?.vpc;
    return vpc === '' ? settings.defaultVpc : vpc;
  };
  const vpc = vpcOf(subnet);
  const subnets = [...world.subnets.keys()].toSorted().flatMap((name) => {
    const other = world.subnets.get(name);
    const isRouted = other?.overlay === true || other?.interconnection !== undefined;
    return other !== undefined && isRouted && vpcOf(name) === vpc ? other.cidrs : [];
  });
  const nodes = vpc !== settings.defaultVpc ? [] : [...world.nodes.keys()].toSorted().flatMap((name) => hostsOf(world, name));
  const services = splitList(settings.serviceCidr ?? '').flatMap((text) => canonicalCidr(text) ?? []);
  return [...new Set([...subnets, ...nodes, ...services])]
    .filter((destination) => !own.has(destination))
    .flatMap((destination) => {
      const family = parseCidr(destination)?.family;
      const gateway = gateways.find((one) => parseAddress(one)?.family === family);
      return gateway === undefined ? [] : (routeOf(destination, gateway) ?? []);
    });
}

function hostsOf(world: NodeWorld, node: string): readonly string[] {
  return (world.nodes.get(node)?.addresses ?? []).flatMap((text) => {
    const address = parseAddress(text);
    return address === undefined ? [] : (canonicalCidr(`${text}/${bitsOf(address.family)}`) ?? []);
  });
}
