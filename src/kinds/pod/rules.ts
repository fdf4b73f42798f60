import type { Rule } from '../../compile/rule.ts';
import { podNat } from '../../compile/nat/pod-nat.ts';
import { pod } from '../../compile/pod/pod.ts';
import { furtherSourcePolicies } from '../../compile/pod/port/further-source-policies.ts';
import { retainedPort } from '../../compile/pod/port/retained-port.ts';
import { podAnnotationUnimplemented } from '../../compile/pod/report/unimplemented-annotations.ts';

export const rules: readonly Rule[] = [furtherSourcePolicies, pod, retainedPort, podAnnotationUnimplemented, podNat];
