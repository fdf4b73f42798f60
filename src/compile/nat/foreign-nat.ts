/**
 * NAT rows of other programs in the router of a Vpc with the external address of an OvnFip. OVN would take either of the two for what comes
 * in. So a new OvnFip waits for the end of such a row, and one in effect stays, and says so.
 */
import { neighbourOf } from '../../nb/ownership.ts';
import { identityOf } from '../../nb/row-id.ts';
import { commandText } from '../../text/command-text.ts';
import type { World } from '../../world/world.ts';
import type { Translation } from './nat-pairs.ts';
import { natId } from './nat-pairs.ts';
import type { OvnNatRule } from './ovn-nat-rules.ts';

/** The sentence about the first of them; undefined for none. */
export function foreignNat(world: World, resource: OvnNatRule, { vpc, pairs }: Translation): string | undefined {
  if (resource !== 'ovn-fips') return undefined;
  for (const { external, inner } of pairs) {
    const own = natId(vpc, 'dnat_and_snat', external, inner);
    for (const id of [...world.rows.natsOfAddress(own)].toSorted()) {
      const ownership = world.rows.state(id)?.ownership;
      // With the same inner address as well it is the row itself, and its conflict is reported as that of any row.
      if (id === own || ownership?.kind !== 'foreign') continue;
      const target = identityOf(id).slice(identityOf(id).lastIndexOf('|') + 1);
      const row = `NAT row dnat_and_snat ${external} to ${target} of router ${vpc}`;
      return `${row} belongs to ${neighbourOf(ownership)}, and OVN takes one row for an external address; use an OvnEip with another address, or ask that program; ${commandText`ovn-nbctl show ${vpc}`}`;
    }
  }
  return undefined;
}
