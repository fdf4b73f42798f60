import type { AgentWrites } from '../../api/agent-writes.ts';

/** As Kube-OVN's agent has it. */
export const LIMITS_NOT_IN_EFFECT = 'PodQoSUpdateFailed';

export const agentWrites = {
  of: 'events',
  events: [LIMITS_NOT_IN_EFFECT, 'PodRoutesIneffective', 'ProbesNotLed'],
} as const satisfies AgentWrites;
