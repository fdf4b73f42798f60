import type { AgentRules } from '../../agent/rules/agent-rules.ts';
import { nodeBridge } from './agent-rules/node-bridge.ts';
import { nodeCondition } from './agent-rules/node-condition.ts';
import { nodeInterface } from './agent-rules/node-interface.ts';

export const agentRules: AgentRules = (settings) => [nodeBridge(settings), nodeInterface(settings), nodeCondition(settings)];
