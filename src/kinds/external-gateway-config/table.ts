import type { ConfigMap } from '../../api/kubernetes/core.ts';
import type { KubeObject } from '../../api/kubernetes/meta.ts';
import { kindTable } from '../../world/kind-table.ts';
import { OWN_KEYS, trimMeta } from '../../world/trim.ts';

/** A ConfigMap has no spec: its data is kept as one. */
export const table = kindTable<KubeObject<Readonly<Record<string, string>>>>({
  trim: (object) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: trimMeta(object.metadata, (key) => OWN_KEYS.test(key)),
    spec: (object as unknown as ConfigMap).data ?? {},
  }),
});
