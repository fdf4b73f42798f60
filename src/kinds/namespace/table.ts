import type { Namespace } from '../../api/kubernetes/core.ts';
import { kindTable } from '../../world/kind-table.ts';
import type { Untrimmed } from '../../world/trim.ts';
import { trimMeta } from '../../world/trim.ts';

export const table = kindTable<Namespace>({
  trim,
  lazy: {
    /** `<key>` and `<key>=<value>` of each label. */
    label: ({ metadata: { labels = {} } }) => Object.entries(labels).flatMap(([key, value]) => [key, `${key}=${value}`]),
  },
});

function trim(object: Untrimmed): Namespace {
  const { phase } = (object as Namespace).status ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: trimMeta(object.metadata),
    ...(phase === undefined ? {} : { status: { phase } }),
  };
}
