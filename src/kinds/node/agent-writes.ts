import type { AgentWrites } from '../../api/agent-writes.ts';
import { annotationKey, labelKey } from '../../api/well-known.ts';
import { NODE_NETWORK_ANNOTATIONS, NODE_NETWORK_LABELS, nodeNetworkKey } from '../provider-network/resource/node-network.ts';

export const agentWrites = {
  of: 'node',
  annotations: [annotationKey.chassis, ...NODE_NETWORK_ANNOTATIONS.map((suffix) => nodeNetworkKey('', suffix))],
  labels: [labelKey.nodeExternalGateway, ...NODE_NETWORK_LABELS.map((suffix) => nodeNetworkKey('', suffix))],
  conditions: ['NetworkUnavailable'],
  events: ['TunnelAddress'],
} as const satisfies AgentWrites;
