import type { Rule } from '../../compile/rule.ts';
import { ipPool } from '../../compile/ip/ip-pool.ts';

export const rules: readonly Rule[] = [ipPool];
