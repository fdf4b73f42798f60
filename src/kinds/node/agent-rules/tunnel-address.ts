/** The address of a node's tunnels: that of the interface in annotation `tunnel_interface`, else its first InternalIP that other nodes can reach. */
import { annotationKey } from '../../../api/well-known.ts';
import { canonicalAddress, parseAddress } from '../../../net/address.ts';
import { cidrContains, parseCidr } from '../../../net/cidr.ts';
import { withoutLength } from '../../../agent/world/device-network.ts';
import type { NodeWorld } from '../../../agent/world/node-world.ts';
import { portKey } from '../../../agent/world/port-keys.ts';
import type { NodeFacts } from '../agent-table.ts';

export interface TunnelAddress {
  /** Undefined: there is none. */
  readonly address: string | undefined;
  /** What is not as the Node asks, for people. */
  readonly told?: string;
}

/** No other node reaches these: loopback, of a link, of no host, of many. */
const UNREACHED = ['127.0.0.0/8', '169.254.0.0/16', '0.0.0.0/8', '224.0.0.0/4', '::/127', 'fe80::/10', 'ff00::/8'].flatMap(
  (text) => parseCidr(text) ?? [],
);

export function tunnelAddress(world: NodeWorld, { addresses, annotations }: NodeFacts): TunnelAddress {
  const internal = addresses.find(isReached);
  const wanted = (annotations[annotationKey.tunnelInterface] ?? '').split(',').flatMap((name) => name.trim() || []);
  if (wanted.length > 0) {
    // Before the interfaces were listed there is nothing to decide: the tunnels stay.
    const own = wanted.flatMap((name) => addressesOn(world, name)).find(isReached);
    if (own !== undefined) return { address: own };
    const address = world.settings.get('ovn-encap-ip') ?? internal;
    if (world.hostLinks.size === 0) return { address };
    return {
      address,
      told: `annotation ${annotationKey.tunnelInterface} names ${wanted.join(', ')}, which has no address that other nodes reach; tunnels use ${address ?? 'none'}; ip address show, and correct or remove the annotation`,
    };
  }
  if (internal !== undefined || addresses.length === 0) return { address: internal };
  const text = addresses.join(', ');
  return {
    address: undefined,
    told: `no InternalIP of the node is one that other nodes reach (${text}), so it has no tunnels; correct --node-ip of kubelet`,
  };
}

/** Also while the interface is in the bridge of a ProviderNetwork, which has its addresses. */
function addressesOn(world: NodeWorld, name: string): readonly string[] {
  const bridges = [...world.bridges.keys()].filter((bridge) => world.bridges.get(bridge)?.externalIds[portKey.uplink] === name);
  return [name, ...bridges].flatMap((device) => (world.hostLinks.get(device)?.addresses ?? []).map(withoutLength));
}

function isReached(text: string): boolean {
  const address = parseAddress(canonicalAddress(text) ?? '');
  return address !== undefined && !UNREACHED.some((cidr) => cidr.family === address.family && cidrContains(cidr, address));
}
