import type { Rule } from '../../compile/rule.ts';
import { natRuleAnnotations } from '../../compile/vip-eip/nat-rule.ts';

export const rules: readonly Rule[] = [natRuleAnnotations('iptables-dnat-rules')];
