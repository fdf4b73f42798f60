/** All rules: those of each kind, in part `rules` of its record, and those that no kind has alone. */
import { RULES_OF_KINDS } from '../kinds/generated/rules.ts';
import type { Rule } from './rule.ts';
import { globalOptions } from './global-options.ts';
import { ineffectiveRules } from './ineffective-rules.ts';
import { leftoverRows } from './leftover-rows.ts';
import { rowConflictReport } from './row-conflict.ts';
import { unimplemented } from './unimplemented-kinds.ts';
import { writeRejectedReport } from './write-rejection.ts';

/** Rules of the cluster as a whole. */
export const CLUSTER_RULES: readonly Rule[] = [globalOptions];

export const RULES: readonly Rule[] = [
  ...CLUSTER_RULES,
  ...Object.values<readonly Rule[]>(RULES_OF_KINDS).flat(),
  writeRejectedReport,
  rowConflictReport,
  leftoverRows,
  unimplemented,
  ...ineffectiveRules,
];
