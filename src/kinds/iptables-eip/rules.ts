import type { Rule } from '../../compile/rule.ts';
import { iptablesEip } from '../../compile/vip-eip/eip.ts';

export const rules: readonly Rule[] = [iptablesEip];
