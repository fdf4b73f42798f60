import type { AgentRules } from '../../agent/rules/agent-rules.ts';
import { podInterface } from './agent-rules/pod-interface.ts';

export const agentRules: AgentRules = (settings) => [podInterface(settings)];
