import { ofAnnotations } from '../../compile/ineffective-check.ts';

export const ineffective = ofAnnotations('network-attachment-definitions');
