import type { AgentRules } from '../../agent/rules/agent-rules.ts';
import { egressOfPods, egressTables } from './agent-rules/egress-routing.ts';
import { outgoingNat } from './agent-rules/outgoing-nat.ts';

export const agentRules: AgentRules = (settings) => [outgoingNat(settings), egressTables(settings), egressOfPods(settings)];
