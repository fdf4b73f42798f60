import type { DrawnKind } from '../../testing/drawn-kind.ts';
import { names, NAMES, podSpec } from '../../testing/drawn-kind.ts';

const SETS = names('web', 2);

export const simulator: DrawnKind = {
  weight: 4,
  names: SETS,
  object: (draws) => {
    const labels = { app: 'web' };
    const template = { metadata: { labels }, spec: podSpec() };
    return {
      metadata: { name: draws.pick(SETS), namespace: draws.pick(NAMES.namespaces) },
      spec: { replicas: draws.below(4), serviceName: 'web', selector: { matchLabels: labels }, template },
    };
  },
  edit: (draws) => ({ replicas: draws.below(5) }),
};
