import type { DrawnKind } from '../../testing/drawn-kind.ts';
import { names, NAMES } from '../../testing/drawn-kind.ts';

export const simulator: DrawnKind = {
  weight: 4,
  names: names('svc', 3),
  spec: (draws) => ({
    ports: [{ name: 'http', port: draws.pick([80, 8080]), ...(draws.chance(0.2) && { protocol: 'UDP' }) }],
    selector: { app: 'web' },
    ...(draws.chance(0.3) && { sessionAffinity: 'ClientIP' }),
    ...(draws.chance(0.2) && { internalTrafficPolicy: 'Local' }),
  }),
  patch: (draws) => ({
    patch: draws.chance(0.5)
      ? { spec: { sessionAffinity: draws.pick(['None', 'ClientIP']) } }
      : { metadata: { annotations: { 'ovn.kubernetes.io/vpc': draws.pick([...NAMES.vpcs, '']) } } },
  }),
};
