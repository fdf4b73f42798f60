import type { Rule } from '../../compile/compiler.ts';
import { ovnEip } from '../../compile/vip-eip/eip.ts';

export const rules: readonly Rule[] = [ovnEip];
