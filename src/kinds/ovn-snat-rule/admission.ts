import { natRuleAdmission } from '../../webhook/kinds/nat-rule.ts';

export const admission = natRuleAdmission('ovn-snat-rules');
