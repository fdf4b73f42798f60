import { agentTableOf } from '../../agent/world/agent-table.ts';
import type { ProviderNetworkSpec } from '../../api/kinds/provider-network.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { resource } from './resource.ts';

/** A network of the underlay as a node sees it. */
export interface NodeProviderNetwork {
  readonly uid: string;
  readonly created: string;
  readonly spec: ProviderNetworkSpec;
}

interface ProviderNetworkObject extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly creationTimestamp?: string };
  readonly spec: ProviderNetworkSpec;
}

export const agentTable = agentTableOf({
  resource,
  view: ({ metadata: { uid, creationTimestamp }, spec }: ProviderNetworkObject): NodeProviderNetwork => ({
    uid: uid ?? '',
    created: creationTimestamp ?? '',
    spec,
  }),
});
