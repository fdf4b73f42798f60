import { vpcKind } from '../../api/kinds/vpc.ts';
import { customTable } from '../../world/kind-table.ts';

export const table = customTable(vpcKind, {
  indexes: () => ({
    namespace: (vpc) => vpc.spec.namespaces ?? [],
    peer: (vpc) => (vpc.spec.vpcPeerings ?? []).map((peering) => peering.remoteVpc ?? ''),
  }),
});
