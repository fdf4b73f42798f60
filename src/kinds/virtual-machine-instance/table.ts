import type { VirtualMachineInstance } from '../../api/kubernetes/virtual-machine.ts';
import { kindTable } from '../../world/kind-table.ts';
import type { Untrimmed } from '../../world/trim.ts';
import { attachedNetworks, NETWORK_KEYS, trimMeta } from '../../world/trim.ts';

export const table = kindTable<VirtualMachineInstance>({ trim });

function trim(object: Untrimmed): VirtualMachineInstance {
  const { networks } = (object.spec ?? {}) as VirtualMachineInstance['spec'];
  const { migrationUid, completed, failed } = ((object.status ?? {}) as NonNullable<VirtualMachineInstance['status']>).migrationState ?? {};
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: trimMeta(object.metadata, (key) => NETWORK_KEYS.test(key)),
    spec: { networks: attachedNetworks(networks) },
    ...(migrationUid !== undefined && {
      status: { migrationState: { migrationUid, completed: completed === true, failed: failed === true } },
    }),
  };
}
