/** What reaches the outside by the gateway of an external Subnet. */
import type { Query } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';

/** Limit of names in a message. */
const NAMED = 5;

interface ExternalUsers {
  readonly count: number;
  /** `<kind> <name>` of the first five, sorted. */
  readonly names: readonly string[];
}

/** The OvnEips of a Subnet, those of router ports among them. Cost: one pass over them. */
export const externalUsers: Query<ExternalUsers> = defineQuery('subnet-external-users', (world, subnet) => {
  const names = [...world.addressTable('ovn-eips').bucket('subnet', subnet)].toSorted();
  return { count: names.length, names: names.slice(0, NAMED).map((name) => `OvnEip ${name}`) };
});
