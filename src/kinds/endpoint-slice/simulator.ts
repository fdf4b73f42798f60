import type { DrawnKind, DrawnSpec, Draws } from '../../testing/drawn-kind.ts';
import { names, NAMES } from '../../testing/drawn-kind.ts';

const SLICES = names('slice', 3);

export const simulator: DrawnKind = {
  weight: 5,
  names: SLICES,
  object: (draws) => ({
    metadata: {
      name: draws.pick(SLICES),
      namespace: draws.pick(NAMES.namespaces),
      labels: { 'kubernetes.io/service-name': draws.pick(names('svc', 3)) },
    },
    addressType: 'IPv4',
    endpoints: endpoints(draws),
    ports: [{ name: 'http', port: draws.pick([8080, 9090]), protocol: 'TCP' }],
  }),
  patch: (draws) => ({ patch: { endpoints: endpoints(draws) } }),
};

function endpoints(draws: Draws): DrawnSpec[] {
  return Array.from({ length: draws.below(4) }, () => ({
    addresses: [draws.pick(['10.1.0.2', '10.1.0.3', '10.2.0.3', '10.16.0.9'])],
    conditions: { ready: draws.chance(0.7), serving: draws.chance(0.7), terminating: draws.chance(0.2) },
    ...(draws.chance(0.5) && { targetRef: { kind: 'Pod', namespace: draws.pick(NAMES.namespaces), name: draws.pick(NAMES.pods) } }),
  }));
}
