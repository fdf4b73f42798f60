/**
 * This node as an external gateway: an OvnEip of type `lsp` with its name. Routers of Vpcs send to its address what they have for the outside; a
 * network namespace with an interface in the external Subnet forwards that to the gateway of the Subnet, and answers their BFD. The names
 * of both are Kube-OVN's.
 */
import { localnetPort } from '../../../api/names.ts';
import { labelKey } from '../../../api/well-known.ts';
import type { Rule } from '../../../engine/compiler.ts';
import { parseAddress } from '../../../net/address.ts';
import { cidrContains, parseCidr } from '../../../net/cidr.ts';
import { ONCE } from '../../../engine/domain.ts';
import { GATEWAY_NAMESPACE, INTEGRATION_BRIDGE, type NodeSettings } from '../../../agent/rules/node-settings.ts';
import { attachmentKey, type DeviceName } from '../../../agent/world/attachment.ts';
import { namespacePath } from '../../../agent/world/gateway.ts';
import type { NodeWorld } from '../../../agent/world/node-world.ts';
import type { DeviceOutput, NodeOutput, PortOutput } from '../../../agent/world/outputs.ts';
import { INSTALLED, portKey, VENDOR } from '../../../agent/world/port-keys.ts';
import { defaultMtu } from '../../node/agent-rules/interface-mtu.ts';
import { nodeNetworkKey } from '../../provider-network/resource/node-network.ts';
import type { NodeSubnet } from '../../subnet/agent-table.ts';
import type { NodeEip } from '../agent-table.ts';

/** In the namespace, as Kube-OVN names it. */
export const GATEWAY_DEVICE = 'ovnext0';
/** The node's end. */
export const GATEWAY_END = 'ovnext0_h' as DeviceName;
/** Of a link that is no pod's. */
const ALIAS = 'kiln:gateway';
/** Of Ethernet. */
const PHYSICAL_MTU = 1_500;
const PROBE_MS = 200;

interface Gateway {
  readonly eip: NodeEip;
  readonly subnet: NodeSubnet;
  readonly networks: readonly string[];
  /** With the length of the prefix, sorted. */
  readonly addresses: readonly string[];
}

export function gatewayNode(settings: NodeSettings): Rule<NodeWorld, NodeOutput> {
  const { node, gatewayNamespace = GATEWAY_NAMESPACE } = settings;
  return {
    name: 'gateway-node',
    over: () => ONCE,
    run(world) {
      const gateway = gatewayOf(world, node);
      if (gateway === undefined) return labelled(world, node, null);
      const outputs: NodeOutput[] = [{ kind: 'gateway-namespace', name: gatewayNamespace }];
      const path = namespacePath(gatewayNamespace);
      const isMade = world.gatewayNamespaces.get(gatewayNamespace)?.complete === true;
      const device = isMade ? deviceOf(world, gateway, settings, path) : undefined;
      if (device !== undefined) outputs.push(device);
      // Open vSwitch goes on reading from the device that it knew, though another one has its name: the port goes with it.
      if (device !== undefined && world.devices.get(GATEWAY_END)?.kind !== 'absent') outputs.push(portOf(gateway, node, path));
      const isConnected = device !== undefined && hasAddresses(world, device);
      if (isConnected) outputs.push({ kind: 'bfd-responder', namespacePath: path, networks: gateway.networks });
      const ready = isConnected && world.bfdResponders.has(path);
      return [
        ...outputs,
        // While it is not ready the label stays as it is.
        ...(ready ? labelled(world, node, 'true') : []),
        { kind: 'object-status', resource: 'ovn-eips', name: node, fields: { ready } },
      ];
    },
  };
}

function gatewayOf(world: NodeWorld, node: string): Gateway | undefined {
  const eip = world.ovnEips.get(node);
  const subnet = eip && world.subnets.get(eip.subnet);
  if (eip === undefined || subnet === undefined || !eip.ofNode || eip.terminating || eip.mac === '') return undefined;
  const found = eip.addresses.flatMap((text) => {
    const address = parseAddress(text);
    const cidr = subnet.cidrs.flatMap((one) => parseCidr(one) ?? []).find((one) => address !== undefined && cidrContains(one, address));
    return cidr === undefined ? [] : [`${text}/${cidr.prefix}`];
  });
  return found.length === 0 ? undefined : { eip, subnet, networks: subnet.cidrs, addresses: found.toSorted() };
}

function deviceOf(world: NodeWorld, { eip, subnet, addresses }: Gateway, settings: NodeSettings, path: string): DeviceOutput {
  const isOfFamily = (text: string) => (address: string) => address.includes(':') === text.includes(':');
  return {
    kind: 'device',
    name: GATEWAY_END,
    attachment: attachmentKey(GATEWAY_NAMESPACE, GATEWAY_DEVICE),
    alias: ALIAS,
    namespacePath: path,
    innerName: GATEWAY_DEVICE,
    mac: eip.mac,
    mtu: subnet.mtu || physicalMtu(world, subnet, settings) || defaultMtu(world, settings),
    addresses,
    exclusive: true,
    routes: (subnet.gateways ?? [])
      .filter((gateway) => addresses.some(isOfFamily(gateway)))
      .map((gateway) => ({ destination: gateway.includes(':') ? '::/0' : '0.0.0.0/0', gateway })),
    checksumOffload: settings.datapath === 'system',
    connected: isInstalled(world) && hasPatch(world, eip.subnet, subnet),
    detectsDuplicates: true,
    probeMs: PROBE_MS,
    gateways: [],
    needsGateways: false,
  };
}

function portOf({ addresses }: Gateway, node: string, path: string): PortOutput {
  return {
    kind: 'port',
    name: GATEWAY_END,
    bridge: INTEGRATION_BRIDGE,
    externalIds: {
      // The controller names the logical port like the OvnEip.
      [portKey.port]: node,
      [portKey.vendor]: VENDOR,
      [portKey.node]: node,
      [portKey.namespacePath]: path,
      [portKey.addresses]: addresses.map((address) => address.slice(0, address.indexOf('/'))).join(','),
    },
  };
}

function hasAddresses(world: NodeWorld, { addresses }: DeviceOutput): boolean {
  const device = world.devices.get(GATEWAY_END);
  if (device?.kind !== 'present' || !device.up || !isInstalled(world)) return false;
  return (device.tentative ?? []).length === 0 && addresses.every((address) => device.addresses.includes(address));
}

function isInstalled(world: NodeWorld): boolean {
  return world.ports.get(GATEWAY_END)?.externalIds[INSTALLED] === 'true';
}

/** The port of ovn-controller to the physical network, in a Subnet that is on one. */
function hasPatch(world: NodeWorld, name: string, { vlan }: NodeSubnet): boolean {
  return vlan === undefined || world.ports.has(`patch-${localnetPort(name)}-to-${INTEGRATION_BRIDGE}`);
}

/** Of the physical network, as the node's label has it. */
function physicalMtu(world: NodeWorld, { vlan }: NodeSubnet, { node }: NodeSettings): number | undefined {
  const network = vlan === undefined ? undefined : world.vlans.get(vlan)?.providerNetwork;
  if (network === undefined) return undefined;
  return Number(world.nodes.get(node)?.labels[nodeNetworkKey(network, 'mtu')]) || PHYSICAL_MTU;
}

function labelled(world: NodeWorld, node: string, value: string | null): readonly NodeOutput[] {
  const present = world.nodes.get(node)?.labels[labelKey.nodeExternalGateway];
  if (value === null && present === undefined) return [];
  return [{ kind: 'object-metadata', resource: 'nodes', name: node, annotations: {}, labels: { [labelKey.nodeExternalGateway]: value } }];
}
