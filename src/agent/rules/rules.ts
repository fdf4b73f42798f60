import type { Rule } from '../../engine/compiler.ts';
import { AGENT_RULES_OF_KINDS } from '../../kinds/generated/agent-rules.ts';
import type { NodeWorld } from '../world/node-world.ts';
import type { NodeOutput } from '../world/outputs.ts';
import type { NodeSettings } from './node-settings.ts';

/** All rules of a node. */
export function nodeRules(settings: NodeSettings): readonly Rule<NodeWorld, NodeOutput>[] {
  return Object.values(AGENT_RULES_OF_KINDS).flatMap((rules) => rules(settings));
}
