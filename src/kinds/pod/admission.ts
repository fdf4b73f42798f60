import type { Pod } from '../../api/kubernetes/core.ts';
import { boolean, integer, list, object, string } from '../../api/schema/schema.ts';
import { validatePodCreate, validatePodUpdate } from '../../webhook/kinds/pod.ts';
import type { KindAdmission, TypesOf } from '../../webhook/protocol/kind-admission.ts';
import { CONDITION_TYPES } from '../../webhook/protocol/kind-admission.ts';

const CONTAINERS = list(
  '',
  object('', {
    name: string(),
    restartPolicy: string(),
    ports: list('', object('', { name: string(), containerPort: integer(), protocol: string() })),
  }),
);
/** The fields of a pod that `api/kubernetes/core.ts` reads. */
const TYPES: TypesOf = {
  spec: object('', {
    nodeName: string(),
    hostNetwork: boolean(),
    restartPolicy: string(),
    terminationGracePeriodSeconds: integer(),
    containers: CONTAINERS,
    initContainers: CONTAINERS,
  }),
  status: object('', {
    phase: string(),
    reason: string(),
    podIP: string(),
    podIPs: list('', object('', { ip: string() })),
    conditions: CONDITION_TYPES,
  }),
};

export const admission: KindAdmission = {
  types: TYPES,
  validateCreate: (pod, observed) => validatePodCreate(pod as unknown as Pod, observed),
  validateUpdate: (before, after, observed) => validatePodUpdate(before as unknown as Pod, after as unknown as Pod, observed),
  webhook: 'pods',
};
