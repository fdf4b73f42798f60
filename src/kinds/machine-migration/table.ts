import type { VirtualMachineInstanceMigration } from '../../api/kubernetes/virtual-machine.ts';
import { kindTable } from '../../world/kind-table.ts';
import type { Untrimmed } from '../../world/trim.ts';
import { trimMeta } from '../../world/trim.ts';

export const table = kindTable<VirtualMachineInstanceMigration>({
  trim,
  indexes: () => ({ uid: ({ metadata }) => [metadata.uid] }),
});

function trim(object: Untrimmed): VirtualMachineInstanceMigration {
  const { vmiName } = (object.spec ?? {}) as VirtualMachineInstanceMigration['spec'];
  const { phase } = (object.status ?? {}) as NonNullable<VirtualMachineInstanceMigration['status']>;
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceMigration',
    metadata: trimMeta(object.metadata, () => false),
    spec: { ...(vmiName !== undefined && { vmiName }) },
    status: { ...(phase !== undefined && { phase }) },
  };
}
