import { ipPoolKind } from '../../api/kinds/ip-pool.ts';
import { customTable } from '../../world/kind-table.ts';

export const table = customTable(ipPoolKind, {
  indexes: () => ({
    subnet: (pool) => [pool.spec.subnet ?? ''],
    namespace: (pool) => pool.spec.namespaces ?? [],
  }),
});
