import type { Rule } from '../../compile/compiler.ts';
import { ipPool } from '../../compile/ip/ip-pool.ts';

export const rules: readonly Rule[] = [ipPool];
