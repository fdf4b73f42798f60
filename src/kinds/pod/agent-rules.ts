import type { AgentRules } from '../../agent/rules/agent-rules.ts';
import { podInterface } from './agent-rules/pod-interface.ts';
import { probedPods, probeFilter } from './agent-rules/probed-pods.ts';

export const agentRules: AgentRules = (settings) => [podInterface(settings), probedPods(settings), probeFilter];
