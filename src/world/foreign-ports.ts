/** Addresses of foreign ports in a switch. OVN answers ARP for them, so the allocator gives them to no claimant. */
import { identityOf } from '../nb/row-id.ts';
import type { Address } from '../net/address.ts';
import { parseAddress } from '../net/address.ts';
import type { Row } from '../ovsdb/index.ts';
import type { Entry, ObservedRow } from './row-identity.ts';

export const SWITCHES = 'Logical_Switch';

interface Entries {
  readonly entry: (uuid: Entry['uuid']) => ObservedRow | undefined;
}

/** The name of the switch of a foreign port. Undefined for a port that is ours or legacy, in no switch, or in a foreign switch. */
export function switchOfForeign(rows: Entries, port: ObservedRow): string | undefined {
  if (port.ownership.kind !== 'foreign' || port.parent?.table !== SWITCHES) return undefined;
  const home = rows.entry(port.parent.uuid);
  return home === undefined ? undefined : subnetOfSwitch(home);
}

/**
 * The Subnet that a switch may belong to. None, if it has keys of another program. A user may have removed the keys of a switch without
 * any.
 */
export function subnetOfSwitch({ id, ownership }: ObservedRow): string | undefined {
  return ownership.kind === 'foreign' && ownership.family !== 'unknown' ? undefined : identityOf(id);
}

export function portsIn(rows: Entries, { row: { ports } }: Entry): readonly ObservedRow[] {
  return ports instanceof Set ? [...(ports as ReadonlySet<Entry['uuid']>)].flatMap((uuid) => rows.entry(uuid) ?? []) : [];
}

/** The addresses of a port, configured or chosen by ovn-northd; without keywords such as `unknown`, `router` and `dynamic`. */
export function addressesOfPort({ addresses, dynamic_addresses: chosen }: Row): readonly Address[] {
  const texts = [...textsOf(addresses), ...textsOf(chosen)];
  return texts.flatMap((text) => text.split(/\s+/).flatMap((word) => parseAddress(word) ?? []));
}

function textsOf(value: Row[string] | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  return value instanceof Set ? Array.from(value, String) : [];
}
