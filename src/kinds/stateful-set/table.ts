import type { StatefulSet } from '../../api/kubernetes/core.ts';
import { kindTable } from '../../world/kind-table.ts';
import type { Untrimmed } from '../../world/trim.ts';
import { OWN_KEYS, trimMeta } from '../../world/trim.ts';

export const table = kindTable<StatefulSet>({ trim });

function trim(object: Untrimmed): StatefulSet {
  const { replicas, ordinals, template } = (object as StatefulSet).spec;
  const annotations = template?.metadata?.annotations;
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: trimMeta(object.metadata, (key) => OWN_KEYS.test(key)),
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      ...(ordinals === undefined ? {} : { ordinals }),
      ...(annotations === undefined ? {} : { template: { metadata: { annotations } } }),
    },
  };
}
