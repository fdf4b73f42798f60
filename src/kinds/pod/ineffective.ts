import type { IneffectiveCheck } from '../../compile/ineffective-check.ts';
import { mayBeIneffective, podIneffective } from '../../compile/pod/report/pod-ineffective.ts';

export const ineffective: IneffectiveCheck = { resource: 'pods', may: mayBeIneffective, findings: podIneffective };
