import type { AgentRules } from '../../agent/rules/agent-rules.ts';
import { gatewayNode } from './agent-rules/gateway-node.ts';

export const agentRules: AgentRules = (settings) => [gatewayNode(settings)];
