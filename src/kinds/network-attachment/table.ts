import type { NetworkAttachmentDefinition } from '../../api/kubernetes/core.ts';
import { kindTable } from '../../world/kind-table.ts';
import type { Untrimmed } from '../../world/trim.ts';
import { OWN_KEYS, trimMeta } from '../../world/trim.ts';

export const table = kindTable<NetworkAttachmentDefinition>({ trim });

function trim(object: Untrimmed): NetworkAttachmentDefinition {
  const { config } = (object.spec ?? {}) as NetworkAttachmentDefinition['spec'];
  return {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: trimMeta(object.metadata, (key) => OWN_KEYS.test(key)),
    spec: typeof config === 'string' ? { config } : {},
  };
}
