/** Rows and objects as a check reads them: which are ours, which are reported to be in effect. It uses no rule. */
import { isOvnProvider } from '../../../src/api/names.ts';
import type { Condition, ObjectMeta } from '../../../src/api/kubernetes/meta.ts';
import type { Subnet } from '../../../src/api/kinds/subnet.ts';
import { FINALIZER, podAnnotation } from '../../../src/api/well-known.ts';
import { splitList } from '../../../src/net/dual.ts';
import { OWNER_KEY, UID_KEY, VENDOR, VENDOR_KEY } from '../../../src/nb/ownership.ts';
import { rowId } from '../../../src/nb/row-id.ts';
import type { Row, Uuid } from '../../../src/ovsdb/index.ts';
import type { SimulatedDatabase } from '../../../src/ovsdb/simulated/database.ts';
import type { World } from '../../../src/world/world.ts';

/** Kiln's part of its deletion is done. An object being deleted that has dependents still serves them as before. */
export function isReleased({ deletionTimestamp, finalizers = [] }: ObjectMeta): boolean {
  return deletionTimestamp !== undefined && !finalizers.includes(FINALIZER);
}

/** All of its spec is in effect: its network is the one of the spec, and nothing is left out. */
export function isInEffect(subnet: Subnet): boolean {
  return subnet.metadata.deletionTimestamp === undefined && isInEffectOrDraining(subnet);
}

/** The same, or it was so and is being deleted: while it has dependents, its rows are as its spec says. */
export function isInEffectOrDraining({ metadata, spec, status }: Subnet): boolean {
  if (isReleased(metadata) || !isOvnProvider(spec.provider ?? '') || (spec.vlan ?? '') !== '') return false;
  return isTrue(status?.conditions, 'Ready') && isTrue(status?.conditions, 'Accepted', '');
}

/** @param message of the condition, if it must be this one */
export function isTrue(conditions: readonly Partial<Condition>[] | undefined, type: string, message?: string): boolean {
  const one = conditions?.find((condition) => condition.type === type);
  return one?.status === 'True' && (message === undefined || (one.message ?? '') === message);
}

export function best(world: World, table: string, name: string): Row | undefined {
  const entry = world.rows.best(rowId(table, name));
  return entry?.ownership.kind === 'ours' ? entry.row : undefined;
}

export function rowsIn(world: World, row: Row | undefined, column: string): readonly Row[] {
  const held = row?.[column];
  return held instanceof Set ? [...held].flatMap((uuid) => world.rows.entry(uuid as Uuid)?.row ?? []) : [];
}

/** The text of a set or an optional column. */
export function textOf(value: unknown): string {
  return [...(value instanceof Set ? value : value === null || value === undefined ? [] : [value])].map(String).toSorted().join(',');
}

export function mapOf(value: unknown): ReadonlyMap<string, string> {
  return value instanceof Map ? (value as ReadonlyMap<string, string>) : new Map<string, string>();
}

export function ovnAnnotation({ metadata }: { readonly metadata: ObjectMeta }, suffix: Parameters<typeof podAnnotation>[1]): string {
  return metadata.annotations?.[podAnnotation('ovn', suffix)] ?? '';
}

export function sorted(list: string): string {
  return splitList(list).toSorted().join(',');
}

/** Addresses of the ports in a switch that are not ours, as texts. */
export function foreignAddresses(world: World, logicalSwitch: Row): readonly string[] {
  return rowsIn(world, logicalSwitch, 'ports')
    .filter((port) => mapOf(port['external_ids']).get(VENDOR_KEY) !== VENDOR)
    .flatMap((port) => textOf(port['addresses']).split(/[\s,]+/));
}

export interface Network {
  readonly family: 4 | 6;
  readonly cidr: string;
  readonly gateway: string;
}

export function networksOf({ spec }: Subnet): readonly Network[] {
  const gateways = splitList(spec.gateway ?? '');
  return splitList(spec.cidrBlock ?? '').map((cidr) => {
    const family = cidr.includes(':') ? 6 : 4;
    return { family, cidr, gateway: gateways.find((one) => one.includes(':') === (family === 6)) ?? '' };
  });
}

/**
 * A row whose row owner has this uid, as `<table>/<uuid>`.
 * @param name only a row of this name, in one table
 */
export function ownedRow(database: SimulatedDatabase, uid: string, name?: string, tableOfName = 'Logical_Switch_Port'): string | undefined {
  for (const table of name === undefined ? database.schema.tables.keys() : [tableOfName])
    for (const [uuid, row] of database.rows(table)) {
      const ids = row['external_ids'];
      if (!(ids instanceof Map) || ids.get(UID_KEY) !== uid || ids.get(VENDOR_KEY) !== VENDOR) continue;
      if (name === undefined || row['name'] === name) return `${table}/${uuid}`;
    }
  return undefined;
}

/** A port of this name and this pod with the vendor but no row owner: nothing collects such a row. */
export function unownedPort(database: SimulatedDatabase, name: string, pod: string): string | undefined {
  for (const [uuid, row] of database.rows('Logical_Switch_Port')) {
    const ids = mapOf(row['external_ids']);
    if (row['name'] !== name || ids.get(VENDOR_KEY) !== VENDOR || ids.get('pod') !== pod) continue;
    if (!ids.has(OWNER_KEY)) return `Logical_Switch_Port/${uuid}`;
  }
  return undefined;
}

/** MACs of the router ports of a Subnet. */
export function linkMacs(database: SimulatedDatabase, subnet: string): readonly string[] {
  return [...database.rows('Logical_Router_Port').values()]
    .filter((port) => mapOf(port['external_ids']).get(OWNER_KEY) === `subnet//${subnet}`)
    .map((port) => String(port['mac']).toLowerCase());
}
