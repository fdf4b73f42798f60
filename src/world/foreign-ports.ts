/** Addresses that ports of other programs have in a switch: OVN answers for them, so that nobody else can be given one. */
import { identityOf } from '../nb/row-id.ts';
import type { Address } from '../net/address.ts';
import { parseAddress } from '../net/address.ts';
import type { Row } from '../ovsdb/index.ts';
import type { Entry, ObservedRow } from './row-identity.ts';

export const SWITCHES = 'Logical_Switch';

interface Entries {
  readonly entry: (uuid: Entry['uuid']) => ObservedRow | undefined;
}

/** The name of the switch that a port of another program is in; undefined for one of ours or of Kube-OVN's, and for one in no switch, or in another program's. */
export function switchOfForeign(rows: Entries, port: ObservedRow): string | undefined {
  if (port.ownership.kind !== 'foreign' || port.parent?.table !== SWITCHES) return undefined;
  const home = rows.entry(port.parent.uuid);
  return home === undefined ? undefined : subnetOfSwitch(home);
}

/** The Subnet that a switch may be of. No Subnet has one that bears another program's marks; one without marks may be a Subnet's that somebody took them from. */
export function subnetOfSwitch({ id, ownership }: ObservedRow): string | undefined {
  return ownership.kind === 'foreign' && ownership.family !== 'unmarked' ? undefined : identityOf(id);
}

export function portsIn(rows: Entries, { row: { ports } }: Entry): readonly ObservedRow[] {
  return ports instanceof Set ? [...(ports as ReadonlySet<Entry['uuid']>)].flatMap((uuid) => rows.entry(uuid) ?? []) : [];
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
