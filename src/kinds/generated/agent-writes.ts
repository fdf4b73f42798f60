/** Part `agent-writes` of each kind, by resource. Generated from ../list.ts by `npm run --silent kinds`: do not edit. */
import { agentWrites as subnet } from '../subnet/agent-writes.ts';
import { agentWrites as pod } from '../pod/agent-writes.ts';
import { agentWrites as node } from '../node/agent-writes.ts';
import { agentWrites as ovnEip } from '../ovn-eip/agent-writes.ts';

export const AGENT_WRITES = {
  subnets: subnet,
  pods: pod,
  nodes: node,
  'ovn-eips': ovnEip,
} as const;
