/**
 * The bridge of a ProviderNetwork, step by step. It has the addresses and routes of the node's interface, whose own do not work while it is a
 * part of the bridge; they are kept in the Open_vSwitch database from before it is one until they are back on it. With `exchangeLinkName` the
 * bridge also has the interface's name: then the interface gets the bridge's first, and its own again last.
 */
import { macFromBytes } from '../../../net/mac.ts';
import { LONGEST_DEVICE, providerBridge } from '../resource/node-network.ts';
import type { ProviderNetworkSpec } from '../../../api/kinds/provider-network.ts';
import type { DeviceName } from '../../../agent/world/attachment.ts';
import { HOST_LINKS, type NodeWorld } from '../../../agent/world/node-world.ts';
import type { MoveOutput, NodeOutput } from '../../../agent/world/outputs.ts';
import { OWN_MAPPINGS, portKey, VENDOR } from '../../../agent/world/port-keys.ts';
import {
  type DeviceNetwork,
  hasAll,
  type HostLink,
  isEmpty,
  isOfSwitch,
  labelOf,
  networkText,
  NO_NETWORK,
  parseNetwork,
  parseTaken,
  type TakenInterface,
  union,
  withoutOptions,
} from '../../../agent/world/device-network.ts';
import type { NetworkState } from './network-labels.ts';
import type { NetworkPlace } from './network-place.ts';
import { externalGatewayOf, INTEGRATION_BRIDGE, type NodeSettings } from '../../../agent/rules/node-settings.ts';
import { madeUplink, vlanProblem, vlansBack, vlansMeant, vlansOf, vlansOn, vlansReady, vlansRestored } from './vlan-interfaces.ts';

const MAPPINGS = 'ovn-bridge-mappings';
const MAC_BYTES = 6;
const OTHER = 0x04;

export interface NetworkPart {
  readonly outputs: readonly NodeOutput[];
  /** The bridge in `ovn-bridge-mappings`. */
  readonly mapped?: string;
  /** Of routers of OVN in the network, as this node sends for them. */
  readonly routerMac?: string;
  readonly taken?: TakenInterface;
}

/** Why a network cannot be on this node. */
export function problemOf(
  world: NodeWorld,
  place: NetworkPlace,
  spec: ProviderNetworkSpec,
  other: string | undefined,
  { node }: NodeSettings,
  edit: string,
): string | undefined {
  const { network, uplink, bridge, port, made } = place;
  const name = providerBridge(network);
  if (name.length > LONGEST_DEVICE)
    return `bridge ${name} of ProviderNetwork ${network} would have a name of ${name.length} characters, and a device has at most ${LONGEST_DEVICE}`;
  if (name === INTEGRATION_BRIDGE)
    return `bridge ${name} of ProviderNetwork ${network} would be the bridge of OVN; create a ProviderNetwork with another name`;
  if (other !== undefined) return `interface ${uplink} of node ${node} is in ProviderNetwork ${other}, which is older`;
  const [named, own] = [interfaceNamed(world, uplink), interfaceNamed(world, port)];
  const taken = takenOf(world, network);
  // It may have the other name, which it gives back first.
  const renamed = taken?.original === uplink && taken.name !== port ? interfaceNamed(world, taken.name) : undefined;
  const link = own ?? renamed ?? (bridge === uplink ? named : undefined);
  if (link === undefined) {
    const problem = made ? vlanProblem(world, uplink, node) : `node ${node} has no interface ${uplink}`;
    return problem && `${problem}; ${edit}`;
  }
  if (link.master !== '' && link.master !== 'ovs-system') return `interface ${uplink} of node ${node} is a part of ${link.master}`;
  if (bridge === uplink && named !== undefined && own !== undefined)
    return `node ${node} has an interface ${port} already, and ${uplink} would get that name; ip link show ${port}`;
  return foreignProblem(world, place, node) ?? unmovableOn(world, place, spec, link, node, edit);
}

/** What another program made has a name that the network needs: it is not changed. */
function foreignProblem(world: NodeWorld, { network, uplink, bridge }: NetworkPlace, node: string): string | undefined {
  if (world.bridges.get(bridge)?.foreign === true)
    return `node ${node} has a bridge ${bridge} of another program; ovs-vsctl list bridge ${bridge}`;
  // Under that name may be the node's interface itself, which gets its own back first.
  if (bridge !== uplink && takenOf(world, network)?.name !== bridge && interfaceNamed(world, bridge) !== undefined)
    return `node ${node} has a device ${bridge} of another program, and the bridge would get that name; ip link show ${bridge}`;
  const mapped = entryOf(world.settings.get(MAPPINGS), network);
  if (mapped === undefined || mapped === bridge || entryOf(world.settings.get(OWN_MAPPINGS), network) !== undefined) return undefined;
  return `another program mapped network ${network} of node ${node} to bridge ${mapped}; ovs-vsctl get open_vswitch . external_ids:${MAPPINGS}`;
}

/** `br-net1`, for `net1` in `net1:br-net1,net2:br-net2`. */
function entryOf(mappings = '', network: string): string | undefined {
  const entry = mappings.split(',').find((one) => one.trim().startsWith(`${network}:`));
  return entry?.trim().slice(network.length + 1);
}

/** What would be lost with a move that has not begun. One that has begun goes on: its record has what it can give back. */
function unmovableOn(
  world: NodeWorld,
  { network, uplink, bridge, port }: NetworkPlace,
  spec: ProviderNetworkSpec,
  link: HostLink,
  node: string,
  edit: string,
): string | undefined {
  if (takenOf(world, network) !== undefined || bridgeOf(world, network) !== undefined || link.master === 'ovs-system') return undefined;
  const vlans = vlansMeant(world, bridge, uplink === bridge ? uplink : port, spec);
  const tooLong = link.addresses.flatMap((address) => {
    const label = bridge + labelOf(address);
    return label.length <= LONGEST_DEVICE ? [] : [`address ${withoutOptions(address)} with a label that would be ${label} there`];
  });
  for (const [name, { unmovable = [] }] of [[uplink, { ...link, unmovable: [...(link.unmovable ?? []), ...tooLong] }] as const, ...vlans]) {
    const [first, ...others] = unmovable;
    if (first === undefined) continue;
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    return `interface ${name} of node ${node} has ${first}${more}, which a move to bridge ${bridge} would lose: remove it, or leave the node out; ${edit}`;
  }
  return undefined;
}

/** An interface of the node; undefined for a device of Open vSwitch. */
function interfaceNamed(world: NodeWorld, name: string): HostLink | undefined {
  const link = world.hostLinks.get(name);
  return link === undefined || isOfSwitch(link) ? undefined : link;
}

/** The network has another interface, or other names, from before: these are given back first. */
export function isStillOtherwise(world: NodeWorld, { network, uplink, bridge, port }: NetworkPlace): boolean {
  const present = bridgeOf(world, network);
  const other = present === undefined ? '' : (world.bridges.get(present)?.externalIds[portKey.uplink] ?? '');
  if (present !== undefined && (present !== bridge || (other !== '' && other !== port))) return true;
  const taken = takenOf(world, network);
  return taken !== undefined && (taken.original !== uplink || taken.name !== port);
}

/** The bridge with the interface in it, and on it what the interface had. */
export function bridgeWith(world: NodeWorld, settings: NodeSettings, place: NetworkPlace, spec: ProviderNetworkSpec): NetworkPart {
  const { network, uplink, bridge, port } = place;
  if (bridge === uplink && interfaceNamed(world, uplink) !== undefined) return renamedFirst(world, settings, place);
  const link = interfaceNamed(world, port);
  const device = world.hostLinks.get(bridge);
  if (link === undefined) {
    const part = asItIs(world, settings, network);
    return {
      ...part,
      outputs: [...part.outputs, ...madeUplink(world, network, uplink, device !== undefined && isOfSwitch(device) ? port : uplink)],
    };
  }
  const [kept, taken] = [recordOf(world, bridge), takenOf(world, network)];
  const recorded = union(kept, taken ?? NO_NETWORK);
  const own = networkOf(link);
  // Another program may have put addresses to the interface since.
  const network_ = isEmpty(own) ? recorded : union(recorded, union(own, device ?? NO_NETWORK));
  const isPart = isUplinkOf(world, port, network);
  const vlans = vlansOf(world, bridge, port, spec, taken?.vlans ?? []);
  const externalIds = { [portKey.uplink]: port, [portKey.moved]: networkText(network_), ...vlans.externalIds };
  return {
    mapped: bridge,
    ...routerMac(link),
    // Beside the bridge as well: it may be deleted by hand, with all it has.
    taken: { original: uplink, name: port, vlans: vlans.interfaces, ...leasedOf(taken, link), ...network_ },
    outputs: [
      { kind: 'provider-bridge', name: bridge, datapathType: settings.datapath, network, mac: link.mac, externalIds },
      {
        kind: 'uplink-port',
        name: port as DeviceName,
        bridge,
        network,
        trunks: tagsOf(world, settings, network, vlans.tags),
      },
      { kind: 'used-link', name: port as DeviceName },
      // What Open vSwitch cannot open is not its own.
      ...(isPart && !isEmpty(network_) && deviceError(world, bridge) === '' ? [move(port, bridge, network_)] : []),
      ...(isPart ? vlans.outputs : []),
    ],
  };
}

/** No device has it: locally administered, and otherwise that of the node's interface, which is unique in the network. */
function routerMac({ mac }: HostLink): Pick<NetworkPart, 'routerMac'> {
  const bytes = mac.split(':').map((byte) => Number.parseInt(byte, 16));
  const [first = Number.NaN, ...others] = bytes;
  if (bytes.length !== MAC_BYTES || bytes.some(Number.isNaN)) return {};
  return { routerMac: macFromBytes(Uint8Array.from([first ^ OTHER, ...others])) };
}

/** The interface gets the name of the bridge; what it had is recorded before, as a device that goes down loses it. */
function renamedFirst(world: NodeWorld, settings: NodeSettings, { network, uplink, port }: NetworkPlace): NetworkPart {
  const link = world.hostLinks.get(uplink) as HostLink;
  const recorded = takenOf(world, network);
  const wanted = union(networkOf(link), recorded ?? NO_NETWORK);
  const rename: NodeOutput = { kind: 'renamed-link', from: uplink as DeviceName, to: port as DeviceName, network: wanted };
  // After a start of the node the bridge exists already, and has the name that the interface has again.
  const { outputs, mapped } = asItIs(world, settings, network);
  return {
    outputs: [...outputs, ...(recorded !== undefined && hasAll(recorded, wanted) ? [rename] : [])],
    ...(mapped !== undefined && { mapped }),
    taken: { original: uplink, name: port, vlans: recorded?.vlans ?? [], ...leasedOf(recorded, link), ...wanted },
  };
}

/** Which addresses of an interface had a lifetime: elsewhere they have none. */
function leasedOf(taken: TakenInterface | undefined, link: HostLink): Pick<TakenInterface, 'leased'> {
  const leased = [...new Set([...(taken?.leased ?? []), ...(link.leased ?? [])])].toSorted();
  return leased.length === 0 ? {} : { leased };
}

/** The interface gets back what the bridge has of it; then the bridge goes; then the interface gets its name. */
export function given(world: NodeWorld, settings: NodeSettings, network: string): NetworkPart {
  const bridge = bridgeOf(world, network);
  const taken = takenOf(world, network);
  if (bridge === undefined) return taken === undefined ? { outputs: [] } : namedBack(world, taken);
  const kept = taken === undefined ? {} : { taken };
  const uplink = world.bridges.get(bridge)?.externalIds[portKey.uplink] ?? '';
  const stays: NodeOutput = {
    kind: 'provider-bridge',
    name: bridge,
    datapathType: world.bridges.get(bridge)?.datapathType ?? settings.datapath,
    network,
    externalIds: {},
  };
  // The interface is no part of it first: until then its own addresses would not work.
  if (isUplinkOf(world, uplink, network)) return { outputs: [stays], ...kept };
  const [link, device] = [interfaceNamed(world, uplink), world.hostLinks.get(bridge) ?? NO_NETWORK];
  if (link === undefined) return { outputs: [], ...kept };
  const back = union(recordOf(world, bridge), { addresses: device.addresses, routes: device.routes });
  const vlans = vlansBack(world, bridge, uplink);
  const isBack = hasAll(link, back) && device.addresses.length === 0;
  // While an earlier move is under way the interface still shows what it had: the bridge would go with its addresses.
  if (isBack && vlans.length === 0) return { outputs: world.outdated.has(HOST_LINKS) ? [stays] : [], ...kept };
  return { outputs: [stays, ...(isBack ? [] : [move(bridge, uplink, back)]), ...vlans], ...kept };
}

function namedBack(world: NodeWorld, taken: TakenInterface): NetworkPart {
  const { original, name } = taken;
  const [own, other] = [interfaceNamed(world, original), interfaceNamed(world, name)];
  const rename = (network: DeviceNetwork): NodeOutput => ({
    kind: 'renamed-link',
    from: name as DeviceName,
    to: original as DeviceName,
    network,
  });
  if (own !== undefined) {
    const vlans = vlansRestored(world, taken.vlans, original);
    const isBack = own.up && hasAll(own, taken);
    if (isBack && vlans.length === 0) return world.outdated.has(HOST_LINKS) ? { outputs: [], taken } : { outputs: [] };
    return { outputs: [...(isBack ? [] : [rename(networkOf(taken))]), ...vlans], taken };
  }
  const device = world.hostLinks.get(original);
  // The device of the bridge goes a moment after the bridge; without ovs-vswitchd it would keep the name. Its MAC address says that it is the bridge's.
  if (device !== undefined && device.mac !== other?.mac) return { outputs: [], taken };
  if (device !== undefined) {
    // The bridge was deleted by hand: what is on the device would go with it.
    const back = union(taken, networkOf(device));
    const step: NodeOutput = isEmpty(device) ? { kind: 'absent-link', name: original as DeviceName } : move(original, name, back);
    return { outputs: hasAll(taken, back) ? [step] : [], taken: { ...taken, ...back } };
  }
  if (other === undefined) return { outputs: [] };
  const wanted = union(taken, networkOf(other));
  return { outputs: hasAll(taken, wanted) ? [rename(wanted)] : [], taken: { original, name, vlans: taken.vlans, ...wanted } };
}

/** The network cannot be made on this node now, or it is not known whether it should: what there is stays. */
export function asItIs(world: NodeWorld, settings: NodeSettings, network: string): NetworkPart {
  const bridge = bridgeOf(world, network);
  const taken = takenOf(world, network);
  const kept = taken === undefined ? {} : { taken };
  if (bridge === undefined) return { outputs: [], ...kept };
  const { datapathType = settings.datapath, externalIds = {} } = world.bridges.get(bridge) ?? {};
  const uplink = externalIds[portKey.uplink] ?? '';
  return {
    mapped: bridge,
    ...kept,
    outputs: [
      { kind: 'provider-bridge', name: bridge, datapathType, network, externalIds: {} },
      ...(isUplinkOf(world, uplink, network)
        ? [
            {
              kind: 'uplink-port',
              name: uplink as DeviceName,
              bridge,
              network,
              trunks: tagsOf(
                world,
                settings,
                network,
                vlansOn(world, bridge).map(({ tag }) => tag),
              ),
            } as const,
          ]
        : []),
    ],
  };
}

function move(from: string, to: string, network: DeviceNetwork): MoveOutput {
  return { kind: 'move', from: from as DeviceName, to: to as DeviceName, network };
}

function networkOf({ addresses, routes }: DeviceNetwork): DeviceNetwork {
  return { addresses, routes };
}

/** Whether all of it was observed. */
export function stateOf(world: NodeWorld, { network, uplink, bridge, port }: NetworkPlace): NetworkState {
  const vlans = vlansOn(world, bridge);
  const ids = [
    ...[
      `bridge ${bridge}`,
      `port ${port}`,
      'bridge-mappings',
      `move ${bridge}`,
      `rename ${port}`,
      `rename ${uplink}`,
      `vlan ${uplink}`,
      `vlan ${port}`,
    ],
    ...vlans.map(({ name }) => `vlan ${name}`),
  ];
  const failure = ids.map((id) => world.failures.get(id)).find((why) => why !== undefined);
  if (failure !== undefined) return { kind: 'failed', why: failure };
  const error = world.ports.get(port)?.error ?? '';
  if (error !== '') return { kind: 'failed', why: `Open vSwitch cannot use interface ${port}: ${error}` };
  const cannot = deviceError(world, bridge);
  if (cannot !== '') return { kind: 'failed', why: `Open vSwitch cannot make device ${bridge}: ${cannot}` };
  const [link, device] = [interfaceNamed(world, port), world.hostLinks.get(bridge)];
  const isMapped = entryOf(world.settings.get(MAPPINGS), network) === bridge;
  const isMoved = link?.addresses.length === 0 && device !== undefined && hasAll(device, recordOf(world, bridge));
  if (link === undefined || !isUplinkOf(world, port, network) || !isMapped || !isMoved || !vlansReady(world, bridge))
    return { kind: 'working' };
  const warnings = [
    ...(link.unmovable ?? []).map(
      (what) => `interface ${port} has ${what}, which has no effect while it is in bridge ${bridge}: remove it`,
    ),
    ...(device.unmovable ?? []).map((what) => `bridge ${bridge} has ${what}, which is lost when interface ${uplink} gets back what it had`),
    ...(takenOf(world, network)?.leased ?? [])
      .filter((address) => device.addresses.some((one) => withoutOptions(one) === address))
      .map((address) => `address ${address} had a lifetime and is permanent on bridge ${bridge}: give node and interface a fixed one`),
  ];
  return { kind: 'ready', uplink, mtu: link.mtu, vlanInterfaces: vlans.length > 0, warnings };
}

/** What Open vSwitch says of the device of a bridge. */
function deviceError(world: NodeWorld, bridge: string): string {
  return world.ports.get(bridge)?.error ?? '';
}

function isUplinkOf(world: NodeWorld, uplink: string, network: string): boolean {
  return world.ports.get(uplink)?.externalIds[portKey.providerNetwork] === network;
}

/** Networks of which something is on this node, sorted. */
export function networksPresent(world: NodeWorld): readonly string[] {
  const bridges = [...world.bridges.keys()].flatMap((bridge) => networkOfBridge(world, bridge) ?? []);
  return [...new Set([...bridges, ...Object.keys(allTaken(world))])].toSorted();
}

function networkOfBridge(world: NodeWorld, bridge: string): string | undefined {
  return world.bridges.get(bridge)?.externalIds[portKey.providerNetwork];
}

/** The bridge of a network as it is; undefined for none, or for one of another program. */
function bridgeOf(world: NodeWorld, network: string): string | undefined {
  return [...world.bridges.keys()].find((bridge) => networkOfBridge(world, bridge) === network);
}

/** What the bridge has of the interface, or has to have. */
function recordOf(world: NodeWorld, bridge: string): DeviceNetwork {
  const ids = world.bridges.get(bridge)?.externalIds ?? {};
  return ids[portKey.vendor] === VENDOR ? parseNetwork(ids[portKey.moved] ?? '') : NO_NETWORK;
}

function allTaken(world: NodeWorld): Readonly<Record<string, TakenInterface>> {
  return parseTaken(world.settings.get(portKey.taken) ?? '');
}

function takenOf(world: NodeWorld, network: string): TakenInterface | undefined {
  return allTaken(world)[network];
}

/** @param more tags of VLAN interfaces of the node */
function tagsOf(world: NodeWorld, settings: NodeSettings, network: string, more: readonly number[]): readonly number[] {
  const tags = [...world.vlans.keys()].flatMap((name) => {
    const vlan = world.vlans.get(name);
    return vlan?.providerNetwork === network ? [vlan.tag] : [];
  });
  const external = externalGatewayOf(settings);
  const own = external.network === network ? [external.vlan] : [];
  return [...new Set([0, ...own, ...tags, ...more])].toSorted((a, b) => a - b);
}
