import { providerNetworkKind } from '../../api/kinds/provider-network.ts';
import { customTable } from '../../world/kind-table.ts';

export const table = customTable(providerNetworkKind);
