/** Foreign rows: networks of other programs, rows with a name of ours, rows inside ours. Kiln must not change any of them. */
import type { Uuid } from '../../../src/ovsdb/index.ts';
import type { StoredRow } from '../../../src/ovsdb/simulated/database.ts';
import { byUuid, ordered, removeRow } from './edit-row.ts';
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import type { Operation, Race } from './step.ts';

/** Key in external_ids of each foreign row. */
export const STRANGER = 'stranger';

type Inserted = Readonly<Record<string, unknown>>;

/** Parent table, column of the parent, and table and content of the row that is put into it. */
type Inside = readonly [parent: string, column: string, table: string, row: Inserted];

export function makeForeign(
  cluster: SimulatedCluster,
  { name, what, into, addresses, called }: Extract<Operation, { readonly do: 'foreign' }>,
): void {
  if (what === 'remove') return removeForeign(cluster, name);
  const mark = map({ [STRANGER]: name });
  const neutron = map({ 'neutron:revision_number': '1', [STRANGER]: name });
  const place = Array.from(name).reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
  switch (what) {
    case 'switch':
      return made(cluster, [
        insert('Logical_Switch_Port', { name: `${name}-port`, external_ids: mark }, 'port'),
        insert('Logical_Switch', { name, external_ids: mark, ports: ['named-uuid', 'port'] }),
      ]);
    case 'router':
      return made(cluster, [
        insert(
          'Logical_Router_Port',
          { name: `lrp-${name}`, mac: 'fa:16:3e:00:00:01', networks: '10.1.0.1/28', external_ids: neutron },
          'port',
        ),
        insert('NAT', { type: 'snat', external_ip: '10.1.0.2', logical_ip: '10.1.1.0/24', external_ids: neutron }, 'nat'),
        insert('Logical_Router_Static_Route', { ip_prefix: '0.0.0.0/0', nexthop: '10.1.0.2', external_ids: neutron }, 'route'),
        insert('Logical_Router_Policy', { priority: 10, match: 'ip4', action: 'allow', external_ids: neutron }, 'policy'),
        insert('Logical_Router', {
          ...{ name: `neutron-${name}`, external_ids: neutron, ports: ['named-uuid', 'port'], nat: ['named-uuid', 'nat'] },
          ...{ static_routes: ['named-uuid', 'route'], policies: ['named-uuid', 'policy'] },
        }),
      ]);
    case 'group':
      return made(cluster, [
        insert('ACL', { priority: 7, direction: 'to-lport', match: 'ip4', action: 'drop', external_ids: neutron }, 'acl'),
        insert('Port_Group', { name: `pg_${name}`, external_ids: neutron, acls: ['named-uuid', 'acl'] }),
        insert('Address_Set', { name: `as_${name}`, addresses: '10.1.0.2', external_ids: neutron }),
        insert('DHCP_Options', { cidr: '10.1.0.0/28', options: ['map', []], external_ids: neutron }),
      ]);
    case 'load-balancer':
      return made(cluster, [insert('Load_Balancer', { name, external_ids: mark, vips: ['map', [['10.9.9.9:80', '10.1.1.1:80']]] })]);
    case 'same-name':
      return made(cluster, [insert('Logical_Switch', { name: `s${place % 8}`, external_ids: mark })]);
    case 'same-router':
      return made(cluster, [insert('Logical_Router', { name: `v${place % 4}`, external_ids: neutron })]);
    case 'same-port':
      return made(cluster, [
        insert('Logical_Switch_Port', { name: `p${place % 8}.ns${place % 4}`, external_ids: neutron }, 'port'),
        insert('Logical_Switch', { name: `neutron-${name}`, external_ids: neutron, ports: ['named-uuid', 'port'] }),
      ]);
    case 'same-group':
      return made(cluster, [insert('Port_Group', { name: `node.n${place % 4}`, external_ids: mark })]);
    case 'balancer-in-ours':
      return putInside(cluster, place, ['Logical_Switch', 'load_balancer', 'Load_Balancer', { name: `${name}-lb`, external_ids: mark }]);
    default:
      return putInside(cluster, place, insideOf(name, mark, addresses, called)[what], into);
  }
}

function insideOf(name: string, mark: unknown, addresses?: string, called = `${name}-port`): Readonly<Record<string, Inside>> {
  const acl = { priority: 7, direction: 'to-lport', match: 'ip4', action: 'drop', external_ids: mark };
  const route = { ip_prefix: '10.77.0.0/16', nexthop: '10.1.0.2' };
  const port = { name: `${name}-lrp`, mac: 'fa:16:3e:00:00:02', networks: '10.78.0.1/24' };
  return {
    'port-in-ours': [
      'Logical_Switch',
      'ports',
      'Logical_Switch_Port',
      { name: called, external_ids: mark, ...(addresses !== undefined && { addresses }) },
    ],
    'acl-in-ours': ['Logical_Switch', 'acls', 'ACL', acl],
    'acl-in-group': ['Port_Group', 'acls', 'ACL', acl],
    'qos-in-ours': ['Logical_Switch', 'qos_rules', 'QoS', { priority: 7, direction: 'to-lport', match: 'ip4', external_ids: mark }],
    'route-in-ours': ['Logical_Router', 'static_routes', 'Logical_Router_Static_Route', { ...route, external_ids: mark }],
    'policy-in-ours': [
      'Logical_Router',
      'policies',
      'Logical_Router_Policy',
      { priority: 7, match: 'ip4', action: 'allow', external_ids: mark },
    ],
    'nat-in-ours': [
      'Logical_Router',
      'nat',
      'NAT',
      { type: 'snat', external_ip: '10.1.0.2', logical_ip: '10.1.1.0/24', external_ids: mark },
    ],
    'port-in-router': ['Logical_Router', 'ports', 'Logical_Router_Port', { ...port, external_ids: mark }],
  };
}

function map(entries: Readonly<Record<string, string>>): unknown {
  return ['map', Object.entries(entries)];
}

function insert(table: string, row: Inserted, uuidName?: string): Inserted {
  return { op: 'insert', table, row, ...(uuidName === undefined ? {} : { 'uuid-name': uuidName }) };
}

function made(cluster: SimulatedCluster, operations: readonly Inserted[]): void {
  cluster.byHand(operations);
}

/** Puts a row inside one of ours, if there is one. @param name of our row; by default it is chosen by `place` */
function putInside(cluster: SimulatedCluster, place: number, inside: Inside | undefined, name?: string): void {
  if (inside === undefined) return;
  const [parent, column, table, row] = inside;
  const ours = ordered(cluster, parent).filter(
    ([, one]) => idsOf(one).get('vendor') === 'kube-ovn' && (name === undefined || one['name'] === name),
  );
  const into = ours[place % Math.max(1, ours.length)]?.[0];
  if (into === undefined) return;
  made(cluster, [
    insert(table, row, 'made'),
    { op: 'mutate', table: parent, where: byUuid(into), mutations: [[column, 'insert', ['named-uuid', 'made']]] },
  ]);
}

/** An operation that changes or deletes a row, as in the request. */
interface Target {
  readonly op: string;
  readonly table: string;
  readonly where?: readonly (readonly [string, string, readonly [string, Uuid]])[];
}

/** Changes a row right before a transaction takes effect. @returns whether the transaction has a row that this is possible with */
export function race(cluster: SimulatedCluster, operations: readonly unknown[], how: Race): boolean {
  const ops = how === 'inside' ? ['delete'] : ['delete', 'update', 'mutate'];
  const tables = how === 'inside' ? ['Logical_Switch', 'Logical_Router'] : TABLES;
  for (const { op, table, where } of operations as readonly Target[]) {
    const uuid = where?.[0]?.[2]?.[1];
    if (!ops.includes(op) || !tables.includes(table) || uuid === undefined) continue;
    const row = cluster.ovn.database.row(table, uuid);
    if (row === undefined || idsOf(row).get('vendor') !== 'kube-ovn') continue;
    const mark = map({ [STRANGER]: 'race' });
    if (how === 'disown') made(cluster, [{ op: 'update', table, where: byUuid(uuid), row: { external_ids: mark } }]);
    else if (how === 'delete') removeRow(cluster, table, uuid);
    else {
      const [, column, child, columns] = insideOf('race', mark)[table === 'Logical_Switch' ? 'acl-in-ours' : 'policy-in-ours'] as Inside;
      made(cluster, [
        insert(child, columns, 'made'),
        { op: 'mutate', table, where: byUuid(uuid), mutations: [[column, 'insert', ['named-uuid', 'made']]] },
      ]);
    }
    return true;
  }
  return false;
}

const TABLES = [
  ...['Logical_Switch_Port', 'Logical_Router_Port', 'Logical_Router_Static_Route', 'Logical_Router_Policy', 'NAT', 'QoS', 'ACL'],
  ...['Port_Group', 'Address_Set', 'DHCP_Options', 'Logical_Switch', 'Logical_Router', 'Load_Balancer'],
];

function removeForeign(cluster: SimulatedCluster, name: string): void {
  const rows = TABLES.flatMap((table) =>
    ordered(cluster, table)
      .filter(([, row]) => idsOf(row).get(STRANGER) === name)
      .map(([uuid]): readonly [string, Uuid] => [table, uuid]),
  );
  for (const [table, uuid] of rows) removeRow(cluster, table, uuid);
}

function idsOf(row: StoredRow): ReadonlyMap<string, string> {
  return row['external_ids'] as ReadonlyMap<string, string>;
}
