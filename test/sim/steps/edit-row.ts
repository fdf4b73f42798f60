/** What a user does to rows with ovn-nbctl. */
import { OWNER_KEY, VENDOR, VENDOR_KEY } from '../../../src/nb/ownership.ts';
import { encodeRow, requireTable } from '../../../src/ovsdb/encode.ts';
import type { Uuid } from '../../../src/ovsdb/index.ts';
import type { StoredRow } from '../../../src/ovsdb/simulated/database.ts';
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import type { Operation, RowChange } from './step.ts';

/** Rows in an order that does not depend on their UUIDs. */
export function ordered(cluster: SimulatedCluster, table: string): [Uuid, StoredRow][] {
  const text = (row: StoredRow): string =>
    ['name', 'priority', 'match', 'ip_prefix', 'cidr', 'direction'].map((column) => String(row[column] ?? '')).join(' ');
  return [...cluster.ovn.database.rows(table)]
    .map(([uuid, row]) => [text(row), uuid, row] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, uuid, row]) => [uuid, row]);
}

export function changeRow(cluster: SimulatedCluster, { table, place, name, change }: Extract<Operation, { readonly do: 'row' }>): void {
  const all = ordered(cluster, table);
  if (change.kind === 'put') return put(cluster, table, place, change);
  const rows = name === undefined ? all : all.filter(([, row]) => row['name'] === name);
  const found = rows[place % Math.max(1, rows.length)];
  if (found === undefined) return;
  const [uuid] = found;
  const where = byUuid(uuid);
  switch (change.kind) {
    case 'delete':
      return removeRow(cluster, table, uuid);
    case 'duplicate':
      return duplicate(cluster, table, found);
    case 'forget-owner':
      cluster.byHand([{ op: 'mutate', table, where, mutations: [['external_ids', 'delete', ['set', ['kiln.io/owner', 'kiln.io/uid']]]] }]);
      return;
    case 'set':
      cluster.byHand([{ op: 'update', table, where, row: change.columns }]);
      return;
    case 'keys':
      cluster.byHand([{ op: 'mutate', table, where, mutations: [[change.column, 'insert', ['map', Object.entries(change.keys)]]] }]);
      return;
    case 'clear-members':
      cluster.byHand([{ op: 'update', table, where, row: { [change.column]: ['set', []] } }]);
  }
}

type Put = Extract<RowChange, { readonly kind: 'put' }>;

/** Puts the row into one more parent. */
function put(cluster: SimulatedCluster, table: string, place: number, { column, of, at }: Put): void {
  const ours = (one: string): readonly Uuid[] => ordered(cluster, one).flatMap(([uuid, row]) => (isOurs(row) ? [uuid] : []));
  const [into, rows] = [ours(table), ours(of)];
  const [parent, uuid] = [into[place % Math.max(1, into.length)], rows[at % Math.max(1, rows.length)]];
  if (parent !== undefined && uuid !== undefined) cluster.byHand([member([parent, column, table], 'insert', uuid)]);
}

function isOurs(row: StoredRow): boolean {
  const ids = row['external_ids'];
  return ids instanceof Map && ids.get(VENDOR_KEY) === VENDOR && ids.has(OWNER_KEY);
}

/** Deletes a row, and the references that keep it alive. */
export function removeRow(cluster: SimulatedCluster, table: string, uuid: Uuid): void {
  cluster.byHand([
    ...parentsOf(cluster, table, uuid).map((parent) => member(parent, 'delete', uuid)),
    { op: 'delete', table, where: byUuid(uuid) },
  ]);
}

/** Makes a copy in the same parents. */
function duplicate(cluster: SimulatedCluster, table: string, [uuid, row]: [Uuid, StoredRow]): void {
  const schema = requireTable(cluster.ovn.database.schema, table);
  const names = ['name', 'cidr', 'options', 'direction', 'priority', 'match', 'action', 'external_ids'];
  const copy = encodeRow(schema, Object.fromEntries(names.filter((name) => schema.columns.has(name)).map((name) => [name, row[name]])));
  cluster.byHand([
    { op: 'insert', table, row: copy, 'uuid-name': 'copy' },
    ...parentsOf(cluster, table, uuid).map((parent) => member(parent, 'insert', ['named-uuid', 'copy'])),
  ]);
}

export function byUuid(uuid: Uuid): unknown {
  return [['_uuid', '==', ['uuid', uuid]]];
}

type Parent = readonly [uuid: Uuid, column: string, table: string];

function member([parent, column, table]: Parent, mutator: 'insert' | 'delete', value: Uuid | readonly [string, string]): object {
  const atom = typeof value === 'string' ? ['uuid', value] : value;
  return { op: 'mutate', table, where: byUuid(parent), mutations: [[column, mutator, ['set', [atom]]]] };
}

const PARENTS: readonly (readonly [child: string, parent: string, column: string])[] = [
  ['Logical_Switch_Port', 'Logical_Switch', 'ports'],
  ['Logical_Router_Port', 'Logical_Router', 'ports'],
  ['Logical_Router_Static_Route', 'Logical_Router', 'static_routes'],
  ['Logical_Router_Policy', 'Logical_Router', 'policies'],
  ['ACL', 'Logical_Switch', 'acls'],
  ['ACL', 'Port_Group', 'acls'],
  ['NAT', 'Logical_Router', 'nat'],
  ['Gateway_Chassis', 'Logical_Router_Port', 'gateway_chassis'],
  ['QoS', 'Logical_Switch', 'qos_rules'],
];

function parentsOf(cluster: SimulatedCluster, table: string, uuid: Uuid): Parent[] {
  return PARENTS.filter(([child]) => child === table).flatMap(([, parent, column]) =>
    [...cluster.ovn.database.rows(parent)]
      .filter(([, row]) => (row[column] as ReadonlySet<unknown>).has(uuid))
      .map(([of]): Parent => [of, column, parent]),
  );
}
