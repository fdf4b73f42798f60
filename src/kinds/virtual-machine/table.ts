import type { VirtualMachine } from '../../api/kubernetes/virtual-machine.ts';
import { kindTable } from '../../world/kind-table.ts';
import type { Untrimmed } from '../../world/trim.ts';
import { attachedNetworks, networkAnnotations, OWN_KEYS, trimMeta } from '../../world/trim.ts';

export const table = kindTable<VirtualMachine>({ trim });

function trim(object: Untrimmed): VirtualMachine {
  const { template } = (object.spec ?? {}) as VirtualMachine['spec'];
  const annotations = template?.metadata?.annotations;
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: trimMeta(object.metadata, (key) => OWN_KEYS.test(key)),
    spec: {
      template: {
        metadata: annotations === undefined ? {} : { annotations: networkAnnotations(annotations) },
        spec: { networks: attachedNetworks(template?.spec?.networks) },
      },
    },
  };
}
