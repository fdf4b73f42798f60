import { kilnAnnotation } from '../../api/well-known.ts';
import type { DrawnKind } from '../../testing/drawn-kind.ts';
import { NAMES } from '../../testing/drawn-kind.ts';

export const simulator: DrawnKind = {
  weight: 6,
  names: NAMES.namespaces,
  object: (draws) => ({ metadata: { name: draws.pick(NAMES.namespaces), labels: { team: draws.pick(['a', 'b']) } } }),
  patch: (draws) => ({
    patch: draws.chance(0.5)
      ? { metadata: { labels: { team: draws.pick(['a', 'b', 'c']) } } }
      : { metadata: { annotations: { [kilnAnnotation.misbound]: draws.pick(['report', 'rebind', 'evict']) } } },
  }),
};
