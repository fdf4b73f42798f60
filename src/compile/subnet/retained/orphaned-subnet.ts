/**
 * A Subnet that was removed by force with addresses in use: its rows and its router stay as they are while an IP object, a Vip, an EIP, a
 * NAT rule, or a port has an address of it. They are deleted with the last one; a new Subnet of that name takes them over as soon as it can
 * use them.
 */
import type { Rule } from '../../rule.ts';
import { orphanedRows } from './orphaned-network.ts';
import { isOrphaned } from './orphan-holders.ts';

export const orphanedSubnet: Rule = {
  name: 'orphaned-subnet',
  over: (world) => world.rows.ownersOf('subnet'),
  run: (world, subnet) => (world.ask(isOrphaned, subnet) ? orphanedRows(world, subnet) : []),
};
