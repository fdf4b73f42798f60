import type { Rule } from '../../compile/compiler.ts';
import type { NodeWorld } from '../world/node-world.ts';
import type { NodeOutput } from '../world/outputs.ts';
import { nodeBridge } from './node-bridge.ts';
import type { NodeSettings } from './node-settings.ts';
import { podInterface } from './pod-interface.ts';

/** All rules of a node. */
export function nodeRules(settings: NodeSettings): readonly Rule<NodeWorld, NodeOutput>[] {
  return [nodeBridge(settings), podInterface(settings)];
}
