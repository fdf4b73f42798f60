import { natRuleAdmission } from '../../webhook/kinds/nat-rule.ts';

export const admission = natRuleAdmission('iptables-snat-rules');
