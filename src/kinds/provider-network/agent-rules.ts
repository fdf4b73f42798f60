import type { AgentRules } from '../../agent/rules/agent-rules.ts';
import { providerNetworks } from './agent-rules/provider-networks.ts';

export const agentRules: AgentRules = (settings) => [providerNetworks(settings)];
