/** How a ProviderNetwork is on each node, from what the node's agent wrote on its Node object. */
import { isExcluded, nodeNetworkKey } from '../resource/node-network.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { pairOf, splitPair } from '../../../engine/domain.ts';

export type NodeNetworkState =
  | { readonly kind: 'excluded' }
  /** What would be lost on the node, or is otherwise than before; empty for nothing. */
  | { readonly kind: 'ready'; readonly warning: string }
  /** Why; empty until its agent has said anything. */
  | { readonly kind: 'not ready'; readonly why: string };

/** By `pairOf(network, node)`. A projection: a kubelet writes its node every few seconds. */
const nodeNetworkState: Query<NodeNetworkState> = defineQuery('node-network-state', (world, pair) => {
  const [network, name] = splitPair(pair);
  const spec = world.providerNetworks.get(network)?.spec;
  const { labels = {}, annotations = {} } = world.nodes.get(name)?.metadata ?? {};
  if (spec === undefined || isExcluded(spec, name, labels)) return { kind: 'excluded' };
  if (labels[nodeNetworkKey(network, 'ready')] === 'true')
    return { kind: 'ready', warning: annotations[nodeNetworkKey(network, 'warning')] ?? '' };
  return { kind: 'not ready', why: annotations[nodeNetworkKey(network, 'err_mesg')] ?? '' };
});

/** The nodes that belong to a network, sorted. */
export function nodesOfNetwork(world: World, network: string): readonly (readonly [node: string, state: NodeNetworkState])[] {
  return [...world.nodes.keys()].toSorted().flatMap((node) => {
    const state = world.ask(nodeNetworkState, pairOf(network, node));
    return state.kind === 'excluded' ? [] : [[node, state] as const];
  });
}
