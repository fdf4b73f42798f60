import type { Rule } from '../../compile/rule.ts';
import { vipFields } from '../../compile/vip-eip/vip-fields.ts';
import { vip } from '../../compile/vip-eip/vip.ts';

export const rules: readonly Rule[] = [vip, vipFields];
