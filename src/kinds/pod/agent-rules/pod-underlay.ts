/** What the interface of a pod of an underlay Subnet needs of this node: the network of its Vlan. */
import { commandText } from '../../../text/command-text.ts';
import { isExcluded, nodeNetworkKey } from '../../provider-network/resource/node-network.ts';
import type { NodeWorld } from '../../../agent/world/node-world.ts';
import type { NodeSettings } from '../../../agent/rules/node-settings.ts';

/** Why this node is not connected to the network; undefined if it is, and for a pod of an overlay Subnet. */
export function underlayMissing(world: NodeWorld, subnet: string, { node }: NodeSettings): string | undefined {
  const { vlan = '' } = world.subnets.get(subnet) ?? {};
  if (vlan === '') return undefined;
  const network = world.vlans.get(vlan)?.providerNetwork;
  if (network === undefined) return `Vlan ${vlan} of Subnet ${subnet} does not exist`;
  const next = commandText`kubectl describe provider-network ${network}`;
  const spec = world.providerNetworks.get(network)?.spec;
  if (spec === undefined) return `ProviderNetwork ${network} of Vlan ${vlan} does not exist`;
  const labels = world.nodes.get(node)?.labels;
  if (labels !== undefined && isExcluded(spec, node, labels))
    return `Subnet ${subnet} is on ProviderNetwork ${network}, which leaves out node ${node}; ${next}`;
  if (labels?.[nodeNetworkKey(network, 'ready')] === 'true') return undefined;
  return `ProviderNetwork ${network} of Subnet ${subnet} is not ready on node ${node}; ${next}`;
}
