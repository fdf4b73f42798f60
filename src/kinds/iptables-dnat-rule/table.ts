import { natRuleTable } from '../../world/nat-rule-table.ts';

export const table = natRuleTable;
