import type { Rule } from '../../engine/compiler.ts';
import type { NodeWorld } from '../world/node-world.ts';
import type { NodeOutput } from '../world/outputs.ts';
import type { NodeSettings } from './node-settings.ts';

/** The part `agent-rules` of the record of a kind: the rules that run for it on each node. Pure, as those of the controller. */
export type AgentRules = (settings: NodeSettings) => readonly Rule<NodeWorld, NodeOutput>[];
