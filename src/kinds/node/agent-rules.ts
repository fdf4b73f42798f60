import type { AgentRules } from '../../agent/rules/agent-rules.ts';
import { nodeBridge } from './agent-rules/node-bridge.ts';
import { nodeCondition } from './agent-rules/node-condition.ts';
import { nodeInterface } from './agent-rules/node-interface.ts';

export const agentRules: AgentRules = (settings) => [
  nodeBridge(settings),
  nodeInterface(settings),
  // Whether pods may be scheduled is the primary plugin's to say.
  ...(settings.nonPrimaryCni === true ? [] : [nodeCondition(settings)]),
];
