/** Part `agent-rules` of each kind, by resource. Generated from ../list.ts by `npm run --silent kinds`: do not edit. */
import { agentRules as subnet } from '../subnet/agent-rules.ts';
import { agentRules as pod } from '../pod/agent-rules.ts';
import { agentRules as node } from '../node/agent-rules.ts';
import { agentRules as ovnEip } from '../ovn-eip/agent-rules.ts';
import { agentRules as providerNetwork } from '../provider-network/agent-rules.ts';

export const AGENT_RULES_OF_KINDS = {
  subnets: subnet,
  pods: pod,
  nodes: node,
  'ovn-eips': ovnEip,
  'provider-networks': providerNetwork,
} as const;
