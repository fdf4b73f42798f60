import { natRuleRights } from '../ovn-fip/rights/nat-rule-rights.ts';

export const rights = natRuleRights;
