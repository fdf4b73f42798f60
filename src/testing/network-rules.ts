import type { Rule } from '../compile/rule.ts';
import { CLUSTER_RULES } from '../compile/rules.ts';
import { RULES_OF_KINDS } from '../kinds/generated/rules.ts';

/** The rules of Vpcs, Subnets and IPPools, without those of their users. */
export const NETWORK_RULES: readonly Rule[] = [
  ...CLUSTER_RULES,
  ...RULES_OF_KINDS.vpcs,
  ...RULES_OF_KINDS.subnets,
  ...RULES_OF_KINDS.ippools,
];
