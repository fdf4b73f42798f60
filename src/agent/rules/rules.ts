import type { Rule } from '../../compile/compiler.ts';
import type { NodeWorld } from '../world/node-world.ts';
import type { NodeOutput } from '../world/outputs.ts';
import { egressOfPods, egressTables } from './egress-routing.ts';
import { nodeBridge } from './node-bridge.ts';
import { nodeCondition } from './node-condition.ts';
import { nodeInterface } from './node-interface.ts';
import type { NodeSettings } from './node-settings.ts';
import { outgoingNat } from './outgoing-nat.ts';
import { podInterface } from './pod-interface.ts';
import { providerNetworks } from './provider-networks.ts';

/** All rules of a node. */
export function nodeRules(settings: NodeSettings): readonly Rule<NodeWorld, NodeOutput>[] {
  return [
    nodeBridge(settings),
    nodeInterface(settings),
    nodeCondition(settings),
    outgoingNat(settings),
    egressTables(settings),
    egressOfPods(settings),
    podInterface(settings),
    providerNetworks(settings),
  ];
}
