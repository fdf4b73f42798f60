import { ofAnnotations } from '../../compile/ineffective-check.ts';

export const ineffective = ofAnnotations('ips');
