import type { Rule } from '../../compile/rule.ts';
import { ovnEip } from '../../compile/vip-eip/eip.ts';

export const rules: readonly Rule[] = [ovnEip];
