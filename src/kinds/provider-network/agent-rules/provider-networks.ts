/**
 * Networks of the underlay on this node: for each ProviderNetwork a bridge with the node's interface in it, which OVN knows by the name of the
 * network. The bridge has the addresses and routes of the interface, whose own do not work there; both are kept in the Open_vSwitch database
 * from before the interface is a part of the bridge until they are back on it.
 *
 * Where a network stands follows from what is observed alone: after any death of the agent, or a start of the node, the next step is the
 * same.
 */
import { isLabelValue } from '../../../api/values/label-value.ts';
import { commandText } from '../../../text/command-text.ts';
import type { Rule } from '../../../compile/compiler.ts';
import { ONCE } from '../../../world/domain.ts';
import {
  interfaceOn,
  isExcluded,
  LONGEST_DEVICE,
  networkOfNodeKey,
  nodeNetworkKey,
  type NodeNetworkSuffix,
  providerBridge,
} from '../resource/node-network.ts';
import type { DeviceName } from '../../../agent/world/attachment.ts';
import type { NodeWorld } from '../../../agent/world/node-world.ts';
import type { NodeFacts } from '../../node/agent-table.ts';
import type { NodeProviderNetwork } from '../agent-table.ts';
import type { MoveOutput, NodeOutput } from '../../../agent/world/outputs.ts';
import { portKey, VENDOR } from '../../../agent/world/port-keys.ts';
import {
  type DeviceNetwork,
  hasAll,
  type HostLink,
  isEmpty,
  networkText,
  NO_NETWORK,
  parseNetwork,
  union,
} from '../../../agent/world/device-network.ts';
import type { NodeSettings } from '../../../agent/rules/node-settings.ts';

/** How a network is on this node, for its labels. */
type State =
  | { readonly kind: 'ready'; readonly uplink: string; readonly mtu: number }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'excluded' }
  /** Labels stay as they are. */
  | { readonly kind: 'working' };

interface Part {
  readonly outputs: readonly NodeOutput[];
  /** The bridge in `ovn-bridge-mappings`. */
  readonly mapped?: string;
}

export function providerNetworks(settings: NodeSettings): Rule<NodeWorld, NodeOutput> {
  return {
    name: 'provider-networks',
    over: () => ONCE,
    run(world) {
      const node = world.nodes.get(settings.node);
      // Of two networks with one interface the older one has it.
      const networks = [...world.providerNetworks.keys()]
        .map((name) => [name, world.providerNetworks.get(name) as NodeProviderNetwork] as const)
        .toSorted(([, a], [, b]) => (`${a.created} ${a.uid}` < `${b.created} ${b.uid}` ? -1 : 1));
      const outputs: NodeOutput[] = [];
      const bridges: Record<string, string> = {};
      const uplinks = new Map<string, string>();
      const take = (network: string, { outputs: more, mapped }: Part): void => {
        outputs.push(...more);
        if (mapped !== undefined) bridges[network] = mapped;
      };
      for (const [name, { spec }] of networks) {
        const excluded = node === undefined || isExcluded(spec, settings.node, node.labels);
        if (excluded) {
          // Without the Node nothing is known of it: what there is stays.
          take(name, node === undefined ? asItIs(world, settings, name) : given(world, settings, name));
          if (node !== undefined) outputs.push(...labels(settings, node, name, { kind: 'excluded' }));
          continue;
        }
        const uplink = interfaceOn(spec, settings.node);
        const other = uplinks.get(uplink);
        const wrong = problemOf(world, name, uplink, other, settings);
        if (other === undefined) uplinks.set(uplink, name);
        const part = wrong === undefined ? bridgeWith(world, settings, name, uplink) : asItIs(world, settings, name);
        take(name, part);
        const state = wrong === undefined ? stateOf(world, name, uplink) : ({ kind: 'failed', why: wrong } as const);
        outputs.push(...(node === undefined ? [] : labels(settings, node, name, state)));
      }
      const removed = [...world.bridges.keys()]
        .flatMap((bridge) => networkOf(world, bridge) ?? [])
        .filter((network) => !world.providerNetworks.has(network));
      for (const network of new Set(removed.toSorted())) take(network, given(world, settings, network));
      if (node !== undefined) outputs.push(...labelsOfNone(world, settings, node));
      return [...outputs, { kind: 'bridge-mappings', bridges }];
    },
  };
}

/** Why a network cannot be on this node. */
function problemOf(
  world: NodeWorld,
  network: string,
  uplink: string,
  other: string | undefined,
  { node }: NodeSettings,
): string | undefined {
  const bridge = providerBridge(network);
  if (bridge.length > LONGEST_DEVICE)
    return `bridge ${bridge} of ProviderNetwork ${network} would have a name of ${bridge.length} characters, and a device has at most ${LONGEST_DEVICE}`;
  if (other !== undefined) return `interface ${uplink} of node ${node} is in ProviderNetwork ${other}, which is older`;
  const link = world.hostLinks.get(uplink);
  if (link === undefined) return `node ${node} has no interface ${uplink}; ${commandText`kubectl edit provider-network ${network}`}`;
  if (link.master !== '' && link.master !== 'ovs-system') return `interface ${uplink} of node ${node} is a part of ${link.master}`;
  return undefined;
}

/** The bridge with the interface in it, and on it what the interface had. */
function bridgeWith(world: NodeWorld, settings: NodeSettings, network: string, uplink: string): Part {
  const bridge = providerBridge(network);
  const link = world.hostLinks.get(uplink) as HostLink;
  const device = world.hostLinks.get(bridge) ?? NO_NETWORK;
  const kept = recordOf(world, bridge);
  const own = { addresses: link.addresses, routes: link.routes };
  // Another program may have put addresses to the interface since.
  const network_ = isEmpty(own) ? kept : union(kept, union(own, device));
  const externalIds = { [portKey.uplink]: uplink, [portKey.moved]: networkText(network_) };
  const isPart = isUplinkOf(world, uplink, network);
  return {
    mapped: bridge,
    outputs: [
      { kind: 'provider-bridge', name: bridge, datapathType: settings.datapath, network, mac: link.mac, externalIds },
      { kind: 'uplink-port', name: uplink as DeviceName, bridge, network, trunks: tagsOf(world, network) },
      ...(isPart && !isEmpty(network_) ? [move(uplink, bridge, network_)] : []),
    ],
  };
}

/** The interface gets back what the bridge has of it; then the bridge goes. */
function given(world: NodeWorld, settings: NodeSettings, network: string): Part {
  const bridge = bridgeOf(world, network);
  if (bridge === undefined) return { outputs: [] };
  const uplink = world.bridges.get(bridge)?.externalIds[portKey.uplink] ?? '';
  const stays: NodeOutput = {
    kind: 'provider-bridge',
    name: bridge,
    datapathType: world.bridges.get(bridge)?.datapathType ?? settings.datapath,
    network,
    externalIds: {},
  };
  // The interface is no part of it first: until then its own addresses would not work.
  if (isUplinkOf(world, uplink, network)) return { outputs: [stays] };
  const [link, device] = [world.hostLinks.get(uplink), world.hostLinks.get(bridge) ?? NO_NETWORK];
  if (link === undefined) return { outputs: [] };
  const back = union(recordOf(world, bridge), { addresses: device.addresses, routes: device.routes });
  if (hasAll(link, back) && device.addresses.length === 0) return { outputs: [] };
  return { outputs: [stays, move(bridge, uplink, back)] };
}

/** The network cannot be made on this node now, or it is not known whether it should: what there is stays. */
function asItIs(world: NodeWorld, settings: NodeSettings, network: string): Part {
  const bridge = bridgeOf(world, network);
  if (bridge === undefined) return { outputs: [] };
  const { datapathType = settings.datapath, externalIds = {} } = world.bridges.get(bridge) ?? {};
  const uplink = externalIds[portKey.uplink] ?? '';
  return {
    mapped: bridge,
    outputs: [
      { kind: 'provider-bridge', name: bridge, datapathType, network, externalIds: {} },
      ...(isUplinkOf(world, uplink, network)
        ? [{ kind: 'uplink-port', name: uplink as DeviceName, bridge, network, trunks: tagsOf(world, network) } as const]
        : []),
    ],
  };
}

function move(from: string, to: string, network: DeviceNetwork): MoveOutput {
  return { kind: 'move', from: from as DeviceName, to: to as DeviceName, network };
}

/** Whether all of it was observed. */
function stateOf(world: NodeWorld, network: string, uplink: string): State {
  const bridge = providerBridge(network);
  const failure = [`bridge ${bridge}`, `port ${uplink}`, 'bridge-mappings', `move ${bridge}`]
    .map((id) => world.failures.get(id))
    .find((why) => why !== undefined);
  if (failure !== undefined) return { kind: 'failed', why: failure };
  const error = world.ports.get(uplink)?.error ?? '';
  if (error !== '') return { kind: 'failed', why: `Open vSwitch cannot use interface ${uplink}: ${error}` };
  const [link, device] = [world.hostLinks.get(uplink), world.hostLinks.get(bridge)];
  const isMapped = (world.settings.get('ovn-bridge-mappings') ?? '').split(',').includes(`${network}:${bridge}`);
  const isMoved = link?.addresses.length === 0 && device !== undefined && hasAll(device, recordOf(world, bridge));
  if (link === undefined || !isUplinkOf(world, uplink, network) || !isMapped || !isMoved) return { kind: 'working' };
  return { kind: 'ready', uplink, mtu: link.mtu };
}

function isUplinkOf(world: NodeWorld, uplink: string, network: string): boolean {
  return world.ports.get(uplink)?.externalIds[portKey.providerNetwork] === network;
}

function networkOf(world: NodeWorld, bridge: string): string | undefined {
  return world.bridges.get(bridge)?.externalIds[portKey.providerNetwork];
}

/** The bridge of a network as it is; undefined for none, or for one of another program. */
function bridgeOf(world: NodeWorld, network: string): string | undefined {
  return [...world.bridges.keys()].find((bridge) => networkOf(world, bridge) === network);
}

/** What the bridge has of the interface, or has to have. */
function recordOf(world: NodeWorld, bridge: string): DeviceNetwork {
  const ids = world.bridges.get(bridge)?.externalIds ?? {};
  return ids[portKey.vendor] === VENDOR ? parseNetwork(ids[portKey.moved] ?? '') : NO_NETWORK;
}

function tagsOf(world: NodeWorld, network: string): readonly number[] {
  const tags = [...world.vlans.keys()].flatMap((name) => {
    const vlan = world.vlans.get(name);
    return vlan?.providerNetwork === network ? [vlan.tag] : [];
  });
  return [...new Set([0, ...tags])].toSorted((a, b) => a - b);
}

const SUFFIXES: readonly NodeNetworkSuffix[] = ['ready', 'interface', 'mtu', 'vlan_interfaces', 'exclude'];

function labels({ node }: NodeSettings, { labels: present, annotations }: NodeFacts, network: string, state: State): readonly NodeOutput[] {
  if (state.kind === 'working') return [];
  const wanted: Partial<Record<NodeNetworkSuffix, string>> =
    state.kind === 'ready'
      ? { ready: 'true', mtu: String(state.mtu), ...(isLabelValue(state.uplink) && { interface: state.uplink }) }
      : state.kind === 'excluded'
        ? { exclude: 'true' }
        : {};
  const error = nodeNetworkKey(network, 'err_mesg');
  return [
    {
      kind: 'object-metadata',
      resource: 'nodes',
      name: node,
      labels: Object.fromEntries(
        SUFFIXES.map((suffix) => [nodeNetworkKey(network, suffix), wanted[suffix] ?? null] as const).filter(
          ([key, value]) => value !== null || present[key] !== undefined,
        ),
      ),
      annotations: state.kind === 'failed' ? { [error]: state.why } : annotations[error] === undefined ? {} : { [error]: null },
    },
  ];
}

/** Labels of networks that are gone from this node and from the cluster. */
function labelsOfNone(world: NodeWorld, { node }: NodeSettings, { labels: present, annotations }: NodeFacts): readonly NodeOutput[] {
  const gone = (keys: readonly string[]): Readonly<Record<string, null>> =>
    Object.fromEntries(
      keys.flatMap((key) => {
        const network = networkOfNodeKey(key);
        return network === undefined || world.providerNetworks.has(network) ? [] : [[key, null]];
      }),
    );
  const [left, errors] = [gone(Object.keys(present)), gone(Object.keys(annotations))];
  if (Object.keys(left).length + Object.keys(errors).length === 0) return [];
  return [{ kind: 'object-metadata', resource: 'nodes', name: node, labels: left, annotations: errors }];
}
