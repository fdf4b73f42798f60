import type { AgentWrites } from '../../api/agent-writes.ts';

export const agentWrites: AgentWrites = { of: 'node', status: ['ready'] };
