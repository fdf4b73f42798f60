import type { DrawnKind } from '../../testing/drawn-kind.ts';
import { NAMES } from '../../testing/drawn-kind.ts';

/** Pods that migrate name it. */
const JOB = 'job';

export const simulator: DrawnKind = {
  weight: 2,
  names: [JOB],
  object: (draws) => ({
    metadata: { name: JOB, namespace: draws.pick(NAMES.namespaces) },
    spec: { vmiName: draws.pick(NAMES.machines) },
    status: { phase: 'Running' },
  }),
  patch: (draws) => ({ patch: { status: { phase: draws.pick(['TargetReady', 'Succeeded', 'Failed']) } } }),
};
