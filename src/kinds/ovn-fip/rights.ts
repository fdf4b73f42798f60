import { natRuleRights } from './rights/nat-rule-rights.ts';

export const rights = natRuleRights;
