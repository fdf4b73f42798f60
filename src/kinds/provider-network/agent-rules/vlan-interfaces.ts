/**
 * VLAN interfaces of the node and ProviderNetworks. The kernel gives the frames of a tag to a VLAN interface before Open vSwitch sees them, so
 * pods with that tag would get none. With `preserveVlanInterfaces` the interface is made again on the bridge, with its name, MAC, addresses and
 * routes: node and pods then share the VLAN. It is on the node's interface again when that leaves the bridge. Without it, such an interface is
 * left alone, and works as before.
 *
 * With `autoCreateVlanSubinterfaces` an interface of the network such as `eth1.100` is made if it is missing, and goes with the network.
 */
import type { ProviderNetworkSpec } from '../../../api/kinds/provider-network.ts';
import { isExcluded } from '../resource/node-network.ts';
import type { DeviceName } from '../../../agent/world/attachment.ts';
import { HOST_LINKS, type NodeWorld } from '../../../agent/world/node-world.ts';
import type { NodeOutput } from '../../../agent/world/outputs.ts';
import { portKey } from '../../../agent/world/port-keys.ts';
import {
  aliasFor,
  hasAll,
  type HostLink,
  madeFor,
  NO_NETWORK,
  parseVlanInterfaces,
  union,
  type VlanInterface,
  vlanInterfacesText,
} from '../../../agent/world/device-network.ts';
import { placeOf } from './network-place.ts';
import type { NodeNetwork } from './networks.ts';

const HIGHEST_TAG = 4094;

export interface BridgeVlans {
  /** That the node's interface has to let through for them. */
  readonly tags: readonly number[];
  /** Those that are on the bridge, or have to be, or have not left it yet. */
  readonly interfaces: readonly VlanInterface[];
  /** Their record, a key of the bridge. */
  readonly externalIds: Readonly<Record<string, string>>;
  /** Once the record is observed. */
  readonly outputs: readonly NodeOutput[];
}

/**
 * @param port the node's interface
 * @param taken those of a bridge that was there before, and may have been deleted by hand with its record
 */
export function vlansOf(
  world: NodeWorld,
  bridge: string,
  port: string,
  spec: ProviderNetworkSpec,
  taken: readonly VlanInterface[],
): BridgeVlans {
  const { preserveVlanInterfaces = false } = spec;
  const recorded = vlansOn(world, bridge);
  // One that would lose something stays where it is, and works there.
  const found = vlansMeant(world, bridge, port, spec).flatMap(([name, { vlan, mac, mtu, unmovable }]): readonly VlanInterface[] =>
    unmovable === undefined ? [{ name, tag: vlan?.tag ?? 0, mac, mtu, ...NO_NETWORK }] : [],
  );
  const known = recorded.length > 0 ? recorded : taken;
  const interfaces = [...known, ...found.filter(({ name }) => known.every((one) => one.name !== name))]
    .map((one) => ({ ...one, ...union(one, world.hostLinks.get(one.name) ?? NO_NETWORK) }))
    // No longer preserved: the record ends when it is on the node's interface again.
    .filter((one) => preserveVlanInterfaces || world.outdated.has(HOST_LINKS) || !isOn(world, one, port))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const text = vlanInterfacesText(interfaces);
  const isRecorded = text === vlanInterfacesText(recorded);
  return {
    tags: preserveVlanInterfaces ? interfaces.map(({ tag }) => tag) : [],
    interfaces,
    externalIds: interfaces.length === 0 && recorded.length === 0 ? {} : { [portKey.vlanInterfaces]: text },
    outputs: isRecorded ? interfaces.map((one) => vlanLink(one, preserveVlanInterfaces ? bridge : port)) : [],
  };
}

/** Those on the node's interface that have to go to the bridge with it. */
export function vlansMeant(
  world: NodeWorld,
  bridge: string,
  port: string,
  { preserveVlanInterfaces = false, vlanInterfaces = [] }: ProviderNetworkSpec,
): readonly (readonly [name: string, link: HostLink])[] {
  if (!preserveVlanInterfaces) return [];
  // Its name is that of the interface in the spec, also while that has another one.
  const prefixes = [port, bridge].map((name) => `${name}.`);
  return linksOn(world, port).filter(
    ([name, { vlan }]) => vlanInterfaces.includes(name) || prefixes.some((prefix) => name === `${prefix}${vlan?.tag}`),
  );
}

/** Those that are on a bridge, or have to be. */
export function vlansOn(world: NodeWorld, bridge: string): readonly VlanInterface[] {
  return parseVlanInterfaces(world.bridges.get(bridge)?.externalIds[portKey.vlanInterfaces] ?? '');
}

/** @returns the steps until all are on the node's interface again */
export function vlansBack(world: NodeWorld, bridge: string, uplink: string): readonly NodeOutput[] {
  return vlansOn(world, bridge)
    .filter((one) => !isOn(world, one, uplink))
    .map((one) => vlanLink({ ...one, ...union(one, world.hostLinks.get(one.name) ?? NO_NETWORK) }, uplink));
}

/** The steps until all are on an interface of the node that has left its bridge. */
export function vlansRestored(world: NodeWorld, vlans: readonly VlanInterface[], uplink: string): readonly NodeOutput[] {
  return vlans.filter((one) => !isOn(world, one, uplink)).map((one) => vlanLink(one, uplink));
}

export function vlansReady(world: NodeWorld, bridge: string): boolean {
  return vlansOn(world, bridge).every((one) => isOn(world, one, bridge));
}

function isOn(world: NodeWorld, { name, ...recorded }: VlanInterface, parent: string): boolean {
  const link = world.hostLinks.get(name);
  return link?.vlan?.parent === parent && hasAll(link, recorded);
}

function vlanLink({ name, tag, mac, mtu, addresses, routes }: VlanInterface, parent: string): NodeOutput {
  return { kind: 'vlan-link', name: name as DeviceName, parent, tag, mac, mtu, network: { addresses, routes } };
}

function linksOn(world: NodeWorld, parent: string): readonly (readonly [name: string, link: HostLink])[] {
  return [...world.hostLinks.keys()].toSorted().flatMap((name) => {
    const link = world.hostLinks.get(name);
    return link?.vlan?.parent === parent ? [[name, link] as const] : [];
  });
}

/** `eth1` and 100 of `eth1.100`; undefined for another name. */
function parsed(name: string): { readonly parent: string; readonly tag: number } | undefined {
  const [, parent = '', digits = ''] = /^([^.]+)\.(\d{1,4})$/.exec(name) ?? [];
  const tag = Number(digits);
  return parent === '' || tag < 1 || tag > HIGHEST_TAG ? undefined : { parent, tag };
}

/** Why a VLAN interface cannot be made; undefined if it can. */
export function vlanProblem(world: NodeWorld, name: string, node: string): string | undefined {
  const found = parsed(name);
  if (found === undefined)
    return `node ${node} has no interface ${name}, and it is not made: it is not named <interface>.<1 to ${HIGHEST_TAG}>`;
  return world.hostLinks.has(found.parent) ? undefined : `node ${node} has no interface ${found.parent}, on which ${name} would be made`;
}

/** The interface of a network, which is missing. @param name it may be that of the bridge's port already: the bridge has its own */
export function madeUplink(world: NodeWorld, network: string, uplink: string, name: string): readonly NodeOutput[] {
  const found = parsed(uplink);
  if (found === undefined || !world.hostLinks.has(found.parent)) return [];
  return [{ kind: 'vlan-link', name: name as DeviceName, ...found, alias: aliasFor(network), network: NO_NETWORK }];
}

/** VLAN interfaces that the agent made for networks which do not use them any more, and have given them back. */
export function unusedVlans(
  world: NodeWorld,
  outputs: readonly NodeOutput[],
  networks: readonly NodeNetwork[],
  node: string,
): readonly NodeOutput[] {
  const facts = world.nodes.get(node);
  return [...world.hostLinks.keys()].toSorted().flatMap((name): readonly NodeOutput[] => {
    const link = world.hostLinks.get(name);
    const network = link && madeFor(link);
    if (network === undefined) return [];
    const spec = networks.find(({ name: one }) => one === network)?.spec;
    // Without the Node it is not known whether the network is here.
    if (spec !== undefined && facts === undefined) return [];
    if (spec !== undefined && facts !== undefined && !isExcluded(spec, node, facts.labels)) {
      const { uplink, port, made } = placeOf(network, spec, node);
      if (made && (name === uplink || name === port)) return [];
    }
    const isUsed =
      world.ports.has(name) ||
      outputs.some(
        (output) =>
          (output.kind === 'provider-bridge' && output.network === network) ||
          (output.kind === 'renamed-link' && (output.from === name || output.to === name)),
      );
    return isUsed ? [] : [{ kind: 'absent-link', name: name as DeviceName }];
  });
}
