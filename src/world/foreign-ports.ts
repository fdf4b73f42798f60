/** Addresses that ports of other programs have in a switch: OVN answers for them, so that nobody else can be given one. */
import { identityOf } from '../nb/row-id.ts';
import type { Address } from '../net/address.ts';
import { parseAddress } from '../net/address.ts';
import type { Row } from '../ovsdb/index.ts';
import type { Entry, ObservedRow } from './row-identity.ts';

const SWITCHES = 'Logical_Switch';

interface Entries {
  readonly entry: (uuid: Entry['uuid']) => ObservedRow | undefined;
}

/**
 * The name of the switch that a port of another program is in; undefined for one of ours or of Kube-OVN's, for one in no switch, and in one
 * that bears another program's marks: no Subnet has that. One without marks may be a Subnet's that somebody took them from.
 */
export function switchOfForeign(rows: Entries, port: ObservedRow): string | undefined {
  if (port.ownership.kind !== 'foreign' || port.parent?.table !== SWITCHES) return undefined;
  const home = rows.entry(port.parent.uuid);
  if (home === undefined || (home.ownership.kind === 'foreign' && home.ownership.family !== 'unmarked')) return undefined;
  return identityOf(home.id);
}

/** What a port has, by name or as ovn-northd chose; words such as `unknown`, `router` and `dynamic` are no address. */
export function addressesOfPort({ addresses, dynamic_addresses: chosen }: Row): readonly Address[] {
  const texts = [...textsOf(addresses), ...textsOf(chosen)];
  return texts.flatMap((text) => text.split(/\s+/).flatMap((word) => parseAddress(word) ?? []));
}

function textsOf(value: Row[string] | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  return value instanceof Set ? Array.from(value, String) : [];
}
