/** Addresses and MACs with more than one claimant, or with a claimant and the gateway. */

import type { Address } from '../net/address.ts';
import { macFromNumber } from '../net/mac.ts';
import type { Mac } from '../net/mac.ts';
import type { Holder } from './holder.ts';
import type { Occupancy } from './occupancy.ts';
import { compareOffsets } from './offset.ts';
import type { SubnetState } from './space.ts';

export interface Conflict {
  /** The address or MAC in conflict. */
  readonly subject: { readonly kind: 'address'; readonly address: Address } | { readonly kind: 'mac'; readonly mac: Mac };
  /** Whether the gateway has it: then no holder may keep it. */
  readonly gateway: boolean;
  /** All holders, lowest rank first. The first one's claimant keeps it. */
  readonly holders: readonly Holder[];
}

/** IPv4, IPv6, then MACs, each ascending. */
export function conflictsOf(subnet: SubnetState, occupancy: Occupancy): Conflict[] {
  return [subnet.v4, subnet.v6, subnet.mac].flatMap((space) => {
    const slots = [...space.conflicted].sort((a, b) => compareOffsets(space.held.at(a), space.held.at(b)));
    return slots.map((slot): Conflict => {
      const offset = space.held.at(slot);
      const subject: Conflict['subject'] =
        space.kind === 'mac'
          ? { kind: 'mac', mac: macFromNumber(Number(offset)) }
          : { kind: 'address', address: { family: space.kind, value: space.valueAt(offset) } };
      return { subject, gateway: occupancy.isGateway(subnet, space, slot), holders: occupancy.holdersAt(space, slot) };
    });
  });
}
