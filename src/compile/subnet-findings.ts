/**
 * What is wrong with a Subnet on its own, whatever else there is.
 */
import type { Query } from '../world/world.ts';
import { defineQuery } from '../world/world.ts';
import { parseDualCidr } from '../net/dual.ts';

export interface Finding {
  readonly field: string;
  /** Names the object, the field, the value, the rule and the next command. */
  readonly message: string;
}

const NONE: readonly Finding[] = [];

export const subnetFindings: Query<readonly Finding[]> = defineQuery('subnet-findings', (world, name) => {
  const subnet = world.subnets.get(name);
  if (subnet === undefined) return NONE;
  const block = subnet.spec.cidrBlock ?? '';
  if (block === '' && (subnet.spec.vlan ?? '') !== '') return NONE;
  const parsed = parseDualCidr(block);
  if (parsed.ok) return NONE;
  return [{ field: 'spec.cidrBlock', message: `Subnet ${name}: spec.cidrBlock "${block}" ${parsed.problem}; kubectl edit subnet ${name}` }];
});
