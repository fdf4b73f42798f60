/** The node's own interface in the join network, and its routes to the pods of the default Vpc. */
import { annotationKey, podAnnotation } from '../../../api/well-known.ts';
import type { Rule } from '../../../engine/compiler.ts';
import { parseAddress } from '../../../net/address.ts';
import { cidrContains, parseCidr } from '../../../net/cidr.ts';
import { splitList } from '../../../net/dual.ts';
import { ONCE } from '../../../engine/domain.ts';
import type { DeviceName } from '../../../agent/world/attachment.ts';
import type { NodeWorld } from '../../../agent/world/node-world.ts';
import { isReachedFromNodes } from '../../subnet/agent-rules/reached-from-nodes.ts';
import type { NodeSubnet } from '../../subnet/agent-table.ts';
import type { NodeFacts } from '../agent-table.ts';
import type { DeviceRoute, NodeOutput } from '../../../agent/world/outputs.ts';
import { waitingText } from '../../../agent/world/waiting-route.ts';
import { portKey, VENDOR } from '../../../agent/world/port-keys.ts';
import { defaultMtu } from './interface-mtu.ts';
import { isLostDevice } from '../../../agent/rules/lost-device.ts';
import { INTEGRATION_BRIDGE, type NodeSettings } from '../../../agent/rules/node-settings.ts';

export const NODE_DEVICE = 'ovn0' as DeviceName;

export function nodeInterface(settings: NodeSettings): Rule<NodeWorld, NodeOutput> {
  return {
    name: 'node-interface',
    over: () => ONCE,
    run(world) {
      const node = world.nodes.get(settings.node);
      const join = node && joinNetwork(node);
      // Without annotations, or without the node, the interface stays: pods of this node are reached through it.
      const accepted: readonly NodeOutput[] = settings.nonPrimaryCni === true ? [] : [{ kind: 'accepted-device', device: NODE_DEVICE }];
      if (node === undefined || join === undefined) return [{ kind: 'retained-port', name: NODE_DEVICE }, ...accepted];
      const routes = [...world.subnets.keys()]
        .toSorted()
        .flatMap((name) => routesTo(world.subnets.get(name), settings, node, join))
        .filter((route, at, all) => all.findIndex(({ destination }) => destination === route.destination) === at);
      const port: NodeOutput = {
        kind: 'port',
        name: NODE_DEVICE,
        bridge: INTEGRATION_BRIDGE,
        type: 'internal',
        externalIds: {
          [portKey.port]: join.port,
          [portKey.vendor]: VENDOR,
          [portKey.addresses]: join.addresses.map((address) => address.slice(0, address.indexOf('/'))).join(','),
          [portKey.node]: settings.node,
        },
      };
      return [
        ...accepted,
        ...waitingRoutes(world),
        ...(isLostDevice(world, NODE_DEVICE) ? [] : [port]),
        { kind: 'link', name: NODE_DEVICE, mac: join.mac, mtu: defaultMtu(world, settings), addresses: join.addresses, routes },
      ];
    },
  };
}

/** Subnets that the node does not reach, as another program's route has the place: told on each. */
function waitingRoutes(world: NodeWorld): readonly NodeOutput[] {
  const device = world.devices.get(NODE_DEVICE);
  const taken = device?.kind === 'present' ? (device.elsewhere ?? []) : [];
  if (taken.length === 0) return [];
  return [...world.subnets.keys()].toSorted().flatMap((name) => {
    const { cidrs = [], uid = '' } = world.subnets.get(name) ?? {};
    return cidrs
      .filter((cidr) => taken.includes(cidr))
      .map((cidr): NodeOutput => ({
        ...{ kind: 'object-event', resource: 'subnets', namespace: '', name, uid, reason: 'NodeRouteConflict' },
        message: waitingText(cidr, NODE_DEVICE),
      }));
  });
}

export interface JoinNetwork {
  readonly port: string;
  readonly mac: string;
  /** With the length of the prefix, sorted. */
  readonly addresses: readonly string[];
  readonly gateways: readonly string[];
}

/** What the controller wrote for the node; undefined until it is complete. */
export function joinNetwork({ annotations }: NodeFacts): JoinNetwork | undefined {
  const value = (suffix: 'ip_address' | 'mac_address' | 'cidr' | 'gateway' | 'allocated'): string =>
    annotations[podAnnotation('ovn', suffix)] ?? '';
  const port = annotations[annotationKey.portName] ?? '';
  const cidrs = splitList(value('cidr')).flatMap((text) => parseCidr(text) ?? []);
  const addresses = splitList(value('ip_address')).flatMap((text) => {
    const family = parseAddress(text)?.family;
    const cidr = cidrs.find((one) => one.family === family);
    return cidr === undefined ? [] : [`${text}/${cidr.prefix}`];
  });
  if (value('allocated') !== 'true' || port === '' || value('mac_address') === '' || addresses.length === 0) return undefined;
  return { port, mac: value('mac_address').toLowerCase(), addresses: addresses.toSorted(), gateways: splitList(value('gateway')) };
}

/** A route for each family, over the gateway of the join network. */
function routesTo(subnet: NodeSubnet | undefined, settings: NodeSettings, node: NodeFacts, join: JoinNetwork): readonly DeviceRoute[] {
  if (subnet === undefined || !(isReachedFromNodes(subnet, settings) || usesNodes(subnet, settings))) return [];
  return subnet.cidrs.flatMap((destination) => {
    const cidr = parseCidr(destination);
    const ofFamily = (text: string): boolean => parseAddress(text)?.family === cidr?.family;
    const gateway = join.gateways.find(ofFamily);
    const source = node.addresses.find(ofFamily);
    // The join network is connected; a network with the node's own address would cut the node off.
    const contains = (text: string): boolean =>
      cidr !== undefined && parseCidr(text)?.base === cidr.base && parseCidr(text)?.prefix === cidr.prefix;
    if (
      cidr === undefined ||
      gateway === undefined ||
      join.addresses.some(contains) ||
      node.addresses.some((address) => isIn(address, destination))
    )
      return [];
    return [{ destination, gateway, ...(source === undefined ? {} : { source }) }];
  });
}

/** An underlay Subnet of the default Vpc whose pods reach Services through their node: its replies go back the same way. */
function usesNodes({ vpc, interconnection }: NodeSubnet, { defaultVpc }: NodeSettings): boolean {
  return interconnection?.balanced === false && (vpc === '' || vpc === defaultVpc);
}

function isIn(address: string, cidr: string): boolean {
  const [parsed, network] = [parseAddress(address), parseCidr(cidr)];
  return parsed !== undefined && network !== undefined && cidrContains(network, parsed);
}
