import type { AgentWrites } from '../../api/agent-writes.ts';

export const agentWrites = { of: 'events', events: ['NodeRouteConflict'] } as const satisfies AgentWrites;
