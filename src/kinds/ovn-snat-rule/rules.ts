import type { Rule } from '../../compile/rule.ts';
import { ovnNatRule } from '../../compile/nat/nat-rule-outputs.ts';
import { natRuleAnnotations } from '../../compile/vip-eip/nat-rule.ts';

export const rules: readonly Rule[] = [natRuleAnnotations('ovn-snat-rules'), ovnNatRule('ovn-snat-rules')];
