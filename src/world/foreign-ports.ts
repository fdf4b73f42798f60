/**
 * Addresses of stray ports in a switch, which no object of Kiln has: those of other programs, and those that Kube-OVN left for pods that are
 * gone. OVN answers ARP for them, so the allocator gives them to no claimant.
 */
import type { RowId } from '../nb/row-id.ts';
import { identityOf, rowId } from '../nb/row-id.ts';
import type { Address } from '../net/address.ts';
import { parseAddress } from '../net/address.ts';
import type { Row } from '../ovsdb/index.ts';
import { resourcesWith } from './resources.ts';
import type { Entry, ObservedRow } from './row-identity.ts';
import type { World } from './world.ts';

export const SWITCHES = 'Logical_Switch';

interface Entries {
  readonly entry: (uuid: Entry['uuid']) => Entry | undefined;
}

/**
 * The name of the switch of a foreign port. Undefined for a port that is ours or legacy, in no switch, or in a foreign switch.
 * @param shown switches of other programs are shown as Subnets: their ports count as well
 */
export function switchOfForeign(rows: Entries, port: ObservedRow, shown: boolean): string | undefined {
  if (port.ownership.kind !== 'foreign' || port.parent?.table !== SWITCHES) return undefined;
  const home = rows.entry(port.parent.uuid);
  return home === undefined ? undefined : subnetOfSwitch(home, shown);
}

/** Kinds whose objects have the name of their port. */
const HOLDERS = resourcesWith('holdsPorts');
/** Kinds whose name Kube-OVN writes onto the port. */
const NAMED = resourcesWith('namedOnPorts');

/**
 * The pod that Kube-OVN made the port for, if nothing is left of it: neither the pod or virtual machine, nor an IP object of the port's name.
 * @returns `<namespace>/<name>`
 */
export function goneOwner(
  { tables }: Pick<World, 'tables'>,
  { id, table, ownership, row }: Omit<Entry, 'uuid' | 'parent'>,
): string | undefined {
  if (ownership.kind !== 'legacy' || table !== 'Logical_Switch_Port' || (row['type'] ?? '') !== '') return undefined;
  const keys = row['external_ids'];
  const pod: unknown = keys instanceof Map ? keys.get('pod') : undefined;
  if (typeof pod !== 'string' || !pod.includes('/')) return undefined;
  const isThere =
    NAMED.some((resource) => tables[resource]?.peek(pod) !== undefined) ||
    HOLDERS.some((resource) => tables[resource]?.peek(identityOf(id)) !== undefined);
  return isThere ? undefined : pod;
}

/** The switch of a stray port: a foreign one, or one that Kube-OVN left for a pod that is gone. */
export function switchOfStray(world: Pick<World, 'rows' | 'tables'>, port: Entry, shown: boolean): string | undefined {
  if (goneOwner(world, port) === undefined) return switchOfForeign(world.rows, port, shown);
  const home = port.parent?.table === SWITCHES ? world.rows.entry(port.parent.uuid) : undefined;
  return home === undefined ? undefined : subnetOfSwitch(home, shown);
}

/**
 * The Subnet that a switch may belong to. None, if it has keys of another program. A user may have removed the keys of a switch without
 * any.
 */
export function subnetOfSwitch({ id, ownership }: ObservedRow, shown: boolean): string | undefined {
  return !shown && ownership.kind === 'foreign' && ownership.family !== 'unknown' ? undefined : identityOf(id);
}

export function portsIn(rows: Entries, { row: { ports } }: Entry): readonly Entry[] {
  return ports instanceof Set ? [...(ports as ReadonlySet<Entry['uuid']>)].flatMap((uuid) => rows.entry(uuid) ?? []) : [];
}

/** The addresses of a port, configured or chosen by ovn-northd; without keywords such as `unknown`, `router` and `dynamic`. */
export function addressesOfPort({ addresses, dynamic_addresses: chosen }: Row): readonly Address[] {
  const texts = [...textsOf(addresses), ...textsOf(chosen)];
  return texts.flatMap((text) => text.split(/\s+/).flatMap((word) => parseAddress(word) ?? []));
}

/**
 * All addresses that a foreign port shows: its own, those it may send from, a virtual one, and of a port to a router those of the router's
 * port and of its NAT, which answers for them there.
 */
export function addressesShown(rows: Entries & RouterRows, { row }: Entry): readonly Address[] {
  const own = [...addressesOfPort(row), ...textsOf(row['port_security']).flatMap(wordsAsAddresses)];
  const { options } = row;
  if (!(options instanceof Map)) return own;
  own.push(...wordsAsAddresses(String(options.get('virtual-ip') ?? '')));
  const peer: unknown = row['type'] === 'router' ? options.get('router-port') : undefined;
  if (typeof peer !== 'string') return own;
  for (const end of rows.rowsOf(rowId('Logical_Router_Port', peer))) {
    own.push(...textsOf(end.row['networks']).flatMap(wordsAsAddresses));
    const router = end.parent === undefined ? undefined : rows.entry(end.parent.uuid);
    const nat: unknown = router?.row['nat'];
    if (!(nat instanceof Set)) continue;
    for (const uuid of nat as ReadonlySet<Entry['uuid']>) own.push(...wordsAsAddresses(String(rows.entry(uuid)?.row['external_ip'] ?? '')));
  }
  return own;
}

interface RouterRows {
  readonly rowsOf: (id: RowId) => readonly Entry[];
}

/** `0a:…:01 10.0.0.5 10.0.0.0/24`: of a network, its address. */
function wordsAsAddresses(text: string): readonly Address[] {
  return text.split(/\s+/).flatMap((word) => parseAddress(word.split('/', 1)[0] ?? '') ?? []);
}

function textsOf(value: Row[string] | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  return value instanceof Set ? Array.from(value, String) : [];
}
