import { providerNetworkKind } from '../../api/kinds/provider-network.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(providerNetworkKind, {
  // Each of the conditions in its status is about a node.
  conditions: 'annotation',
  optional: true,
});
