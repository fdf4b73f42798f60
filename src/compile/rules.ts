/**
 * The list of all rules.
 */
import type { Rule } from './compiler.ts';

export const RULES: readonly Rule[] = [];
