import type { Rule } from '../../compile/rule.ts';
import { namespaceAnnotations } from '../../compile/namespace/namespace-annotations.ts';

export const rules: readonly Rule[] = [namespaceAnnotations];
