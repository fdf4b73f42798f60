/** Findings of a Subnet's spec by itself, independent of other objects. */
import type { Finding } from '../../../api/validation/finding.ts';
import { subnetFindings as specFindings } from '../../../api/validation/subnet-validation.ts';
import type { Query } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { requestedSpec } from './subnet-basics.ts';

const NONE: readonly Finding[] = [];

export const subnetFindings: Query<readonly Finding[]> = defineQuery('subnet-findings', (world, name) => {
  const spec = world.ask(requestedSpec, name);
  return spec === undefined ? NONE : specFindings({ name, spec });
});
