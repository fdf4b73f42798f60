import { ofWorkload } from '../../compile/ineffective-check.ts';

export const ineffective = ofWorkload('statefulsets');
