import { agentTableOf } from '../../agent/world/agent-table.ts';
import type { ConfigMap } from '../../api/kubernetes/core.ts';
import { EXTERNAL_GATEWAY_CONFIG } from '../../api/well-known.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { resource } from './resource.ts';

/** The ConfigMap of the external gateway as a node sees it. */
export interface NodeGatewayConfig {
  readonly uid: string;
  readonly created: string;
  /** The interface of gateway nodes into the physical network; empty: their operator connects them. */
  readonly nic: string;
}

interface ConfigMapObject extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly creationTimestamp?: string };
  readonly data?: ConfigMap['data'];
}

export const agentTable = agentTableOf({
  resource,
  selects: () => `metadata.name=${EXTERNAL_GATEWAY_CONFIG}`,
  view: ({ metadata: { uid, creationTimestamp }, data = {} }: ConfigMapObject): NodeGatewayConfig => ({
    uid: uid ?? '',
    created: creationTimestamp ?? '',
    // Only that text turns it off.
    nic: data['enable-external-gw'] === 'false' ? '' : (data['external-gw-nic'] ?? '').trim(),
  }),
});
