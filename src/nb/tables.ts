/**
 * The registry of the Northbound tables that Kiln writes, and of tables with rows that may be inside its rows: the columns and how each is
 * shared, the parents of a row, and its identity. Source: ovn-nb(5), schema 7.x.
 */
import type { Row, Uuid, Value } from '../ovsdb/index.ts';
import { JOURNALED_COLUMNS } from './journaled-columns.ts';
import type { RowId } from './row-id.ts';
import { rowId } from './row-id.ts';

/**
 * How Kiln keeps a column of its rows:
 * - `value`: as a whole (scalars, optional scalars, small sets);
 * - `elements`: an exact set, changed member by member;
 * - `refs`: a set of references; Kiln keeps those to its own rows, others stay;
 * - `map`: an exact map, except for keys of other vendors (they contain a colon);
 * - `entries`: an exact map, changed key by key, whatever is in a key. Only where the row output names the column; else its keys stay;
 * - an array: a map of which Kiln keeps these keys only; others stay.
 *
 * Rules may emit members for `elements`, `refs` and the maps, beside what the row output has in the column.
 */
export type ColumnMode = 'value' | 'elements' | 'refs' | 'map' | 'entries' | readonly string[];

/** Empty, or the column's default. */
export type EmptyValue = null | false | 0 | Readonly<Record<string, never>>;

export interface ParentColumn {
  readonly table: string;
  readonly column: string;
}

export interface TableSpec {
  readonly table: string;
  readonly columns: Readonly<Record<string, ColumnMode>>;
  /**
   * Columns that decide whether and how the row works, with their value if no rule emits them: Kiln empties them after another program
   * wrote there. Kiln never writes a column that is in neither list.
   */
  readonly unlessEmitted: Readonly<Record<string, EmptyValue>>;
  /** Columns that refer to rows of this table and keep them alive. Empty for root tables. */
  readonly parents: readonly ParentColumn[];
  /** Rows of a lower rank are written first, so that references and parents exist in the same or an earlier transaction. */
  readonly rank: number;
  /** Undefined for a row without the columns of its identity. `parent` is the name of the parent row. */
  readonly identity: (row: Row, parent: string | undefined) => RowId | undefined;
}

function text(row: Row, column: string): string {
  const value = row[column];
  return value === null || value === undefined ? '' : String(value);
}

function mapText(row: Row, column: string, key: string): string {
  const map = row[column];
  return map instanceof Map ? String(map.get(key) ?? '') : '';
}

function byName(table: string): (row: Row) => RowId {
  return (row) => rowId(table, text(row, 'name'));
}

function spec(
  table: string,
  rank: number,
  columns: TableSpec['columns'],
  parents: readonly ParentColumn[],
  identity: TableSpec['identity'],
  unlessEmitted: TableSpec['unlessEmitted'] = {},
): TableSpec {
  return { table, rank, columns, parents, identity, unlessEmitted };
}

export const ROUTER_OPTIONS = ['mac_binding_age_threshold', 'dynamic_neigh_routers', 'always_learn_from_arp_request'] as const;
export const SWITCH_CONFIG = ['mcast_snoop', 'mcast_querier', 'mcast_ip4_src', 'mcast_eth_src'] as const;
export const SWITCH_PORT_OPTIONS = [
  'router-port',
  'nat-addresses',
  'requested-chassis',
  'activation-strategy',
  'arp_proxy',
  'virtual-ip',
  'virtual-parents',
  'network_name',
] as const;
export const ROUTER_PORT_OPTIONS = ['route_table', 'bfd-only'] as const;
export const GLOBAL_OPTIONS = [
  'ls_dnat_mod_dl_dst',
  'use_ct_inv_match',
  'ls_ct_skip_dst_lport_ips',
  'node_local_dns_ip',
  'skip_conntrack_dst_cidrs',
  'svc_ipv4_cidr',
] as const;
/** Keys of NB_Global that Kiln may set. */
export const GLOBAL_KEYS = { options: GLOBAL_OPTIONS, external_ids: ['kube-ovn-version'] } as const;

export function dhcpOptionsId(ls: string, protocol: string, port = ''): RowId {
  return rowId('DHCP_Options', ls, protocol, port);
}

/** Route policy columns are `src-ip`, `dst-ip`, or empty for the default, which is `dst-ip`. */
export function staticRouteId(router: string, table: string, policy: string, prefix: string, nexthop: string): RowId {
  return rowId('Logical_Router_Static_Route', router, table, policy === 'src-ip' ? policy : 'dst-ip', prefix, nexthop);
}

export function policyId(router: string, priority: number, match: string): RowId {
  return rowId('Logical_Router_Policy', router, priority, match);
}

/** `parent` is the name of the switch or port group the ACL is applied to. */
export function aclId(parent: string, direction: string, priority: number, match: string): RowId {
  return rowId('ACL', parent, direction, priority, match);
}

const SPECS: readonly TableSpec[] = [
  spec('NB_Global', 0, GLOBAL_KEYS, [], () => rowId('NB_Global', '')),
  spec(
    'Load_Balancer',
    0,
    {
      name: 'value',
      protocol: 'value',
      vips: 'entries',
      selection_fields: 'elements',
      ip_port_mappings: 'entries',
      options: 'map',
      external_ids: 'map',
      health_check: 'refs',
    },
    [],
    byName('Load_Balancer'),
  ),
  spec('DHCP_Options', 0, { cidr: 'value', options: 'map', external_ids: 'map' }, [], (row) =>
    dhcpOptionsId(mapText(row, 'external_ids', 'ls'), mapText(row, 'external_ids', 'protocol'), mapText(row, 'external_ids', 'port')),
  ),
  // After router ports, whose references keep it from being deleted; a port that refers to a new one is compared again after it.
  spec('HA_Chassis_Group', 3, { name: 'value', ha_chassis: 'refs', external_ids: 'map' }, [], byName('HA_Chassis_Group')),
  spec(
    'HA_Chassis',
    4,
    { chassis_name: 'value', priority: 'value', external_ids: 'map' },
    [{ table: 'HA_Chassis_Group', column: 'ha_chassis' }],
    (row, parent) => (parent === undefined ? undefined : rowId('HA_Chassis', parent, text(row, 'chassis_name'))),
  ),
  spec(
    'BFD',
    0,
    { logical_port: 'value', dst_ip: 'value', min_rx: 'value', min_tx: 'value', detect_mult: 'value', external_ids: 'map' },
    [],
    (row) => rowId('BFD', text(row, 'logical_port'), text(row, 'dst_ip')),
  ),
  spec('Address_Set', 0, { name: 'value', addresses: 'elements', external_ids: 'map' }, [], byName('Address_Set')),
  spec(
    'Logical_Switch',
    1,
    {
      name: 'value',
      load_balancer: 'refs',
      other_config: SWITCH_CONFIG,
      external_ids: 'map',
      ports: 'refs',
      acls: 'refs',
      qos_rules: 'refs',
      forwarding_groups: 'refs',
    },
    [],
    byName('Logical_Switch'),
  ),
  spec(
    'Logical_Router',
    1,
    {
      name: 'value',
      enabled: 'value',
      load_balancer: 'refs',
      options: ROUTER_OPTIONS,
      external_ids: 'map',
      ports: 'refs',
      static_routes: 'refs',
      policies: 'refs',
      nat: 'refs',
    },
    [],
    byName('Logical_Router'),
    { enabled: null },
  ),
  spec('Port_Group', 2, { name: 'value', ports: 'refs', acls: 'refs', external_ids: 'map' }, [], byName('Port_Group')),
  spec(
    'Logical_Router_Port',
    2,
    {
      name: 'value',
      enabled: 'value',
      mac: 'value',
      networks: 'value',
      peer: 'value',
      options: ROUTER_PORT_OPTIONS,
      ipv6_prefix: 'value',
      ipv6_ra_configs: 'map',
      external_ids: 'map',
      gateway_chassis: 'refs',
      ha_chassis_group: 'value',
    },
    [{ table: 'Logical_Router', column: 'ports' }],
    byName('Logical_Router_Port'),
    { enabled: null, peer: null, ipv6_ra_configs: {} },
  ),
  spec(
    'Logical_Switch_Port',
    3,
    {
      name: 'value',
      type: 'value',
      enabled: 'value',
      parent_name: 'value',
      addresses: 'value',
      dynamic_addresses: 'value',
      port_security: 'value',
      options: SWITCH_PORT_OPTIONS,
      tag: 'value',
      tag_request: 'value',
      dhcpv4_options: 'value',
      dhcpv6_options: 'value',
      external_ids: 'map',
    },
    [{ table: 'Logical_Switch', column: 'ports' }],
    byName('Logical_Switch_Port'),
    // ovn-northd writes a tag into nested ports, which Kiln has none of, and into ports with a `tag_request`.
    { enabled: null, parent_name: null, tag: null, tag_request: null, port_security: null },
  ),
  spec(
    'Gateway_Chassis',
    3,
    { name: 'value', chassis_name: 'value', priority: 'value', external_ids: 'map' },
    [{ table: 'Logical_Router_Port', column: 'gateway_chassis' }],
    byName('Gateway_Chassis'),
  ),
  spec(
    'Logical_Router_Static_Route',
    4,
    {
      route_table: 'value',
      ip_prefix: 'value',
      policy: 'value',
      nexthop: 'value',
      output_port: 'value',
      bfd: 'value',
      options: 'map',
      external_ids: 'map',
    },
    [{ table: 'Logical_Router', column: 'static_routes' }],
    (row, parent) =>
      parent === undefined
        ? undefined
        : staticRouteId(parent, text(row, 'route_table'), text(row, 'policy'), text(row, 'ip_prefix'), text(row, 'nexthop')),
    { output_port: null, bfd: null, options: {} },
  ),
  spec(
    'Logical_Router_Policy',
    4,
    { priority: 'value', match: 'value', action: 'value', nexthop: 'value', nexthops: 'value', options: 'map', external_ids: 'map' },
    [{ table: 'Logical_Router', column: 'policies' }],
    (row, parent) => (parent === undefined ? undefined : policyId(parent, Number(row.priority), text(row, 'match'))),
    { nexthop: null, nexthops: null, options: {} },
  ),
  spec(
    'ACL',
    4,
    {
      name: 'value',
      direction: 'value',
      priority: 'value',
      match: 'value',
      action: 'value',
      log: 'value',
      severity: 'value',
      meter: 'value',
      label: 'value',
      tier: 'value',
      options: 'map',
      external_ids: 'map',
    },
    [
      { table: 'Logical_Switch', column: 'acls' },
      { table: 'Port_Group', column: 'acls' },
    ],
    (row, parent) => (parent === undefined ? undefined : aclId(parent, text(row, 'direction'), Number(row.priority), text(row, 'match'))),
    { name: null, log: false, severity: null, meter: null, label: 0, tier: 0, options: {} },
  ),
  spec(
    'NAT',
    4,
    {
      type: 'value',
      external_ip: 'value',
      logical_ip: 'value',
      logical_port: 'value',
      external_mac: 'value',
      options: 'map',
      external_ids: 'map',
    },
    [{ table: 'Logical_Router', column: 'nat' }],
    (row, parent) =>
      parent === undefined ? undefined : rowId('NAT', parent, text(row, 'type'), text(row, 'external_ip'), text(row, 'logical_ip')),
  ),
  // Never written. Read, since other programs put such rows into ours, and a deletion of ours would delete them.
  spec(
    'QoS',
    4,
    { direction: 'value', priority: 'value', match: 'value', external_ids: 'map' },
    [{ table: 'Logical_Switch', column: 'qos_rules' }],
    (row, parent) =>
      parent === undefined ? undefined : rowId('QoS', parent, text(row, 'direction'), text(row, 'priority'), text(row, 'match')),
  ),
  spec(
    'Forwarding_Group',
    4,
    { name: 'value', external_ids: 'map' },
    [{ table: 'Logical_Switch', column: 'forwarding_groups' }],
    (row, parent) => (parent === undefined ? undefined : rowId('Forwarding_Group', parent, text(row, 'name'))),
  ),
  spec(
    'Load_Balancer_Health_Check',
    4,
    { vip: 'value', external_ids: 'map' },
    [{ table: 'Load_Balancer', column: 'health_check' }],
    (row, parent) => (parent === undefined ? undefined : rowId('Load_Balancer_Health_Check', parent, text(row, 'vip'))),
  ),
];

const REGISTRY: ReadonlyMap<string, TableSpec> = new Map(SPECS.map((one) => [one.table, one]));

export function tableSpec(table: string): TableSpec {
  const found = REGISTRY.get(table);
  if (found === undefined) throw new Error(`Northbound table ${table} is not registered`);
  return found;
}

export const TABLES: readonly TableSpec[] = SPECS;

/** The tables and columns that the OVSDB session monitors. */
export function monitoredColumns(): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    SPECS.map(({ table, columns }) => [
      table,
      [...new Set([...Object.keys(columns), ...(JOURNALED_COLUMNS[table] ?? []), ...(REPORTED_COLUMNS[table] ?? [])])],
    ]),
  );
}

/** Columns that OVN itself writes, and that rules report: neither Kiln nor an undo writes them. */
export const REPORTED_COLUMNS: Readonly<Record<string, readonly string[]>> = { BFD: ['status'] };

/** Columns of `table` that hold children, with the child's table. */
export function childColumns(table: string): readonly ChildColumn[] {
  return CHILDREN.get(table) ?? [];
}

/** Columns of mode `entries`: rows may have entries in them that no rule emits. */
export function entryColumns(table: string): readonly string[] {
  return ENTRIES.get(table) ?? [];
}

const ENTRIES: ReadonlyMap<string, readonly string[]> = new Map(
  SPECS.map(({ table, columns }) => [table, Object.keys(columns).filter((column) => columns[column] === 'entries')]),
);

/** Columns that refer to rows of `table` and do not keep them alive. */
export function referringColumns(table: string): readonly ParentColumn[] {
  return REFERRING[table] ?? [];
}

const REFERRING: Readonly<Record<string, readonly ParentColumn[]>> = {
  Load_Balancer: [
    { table: 'Logical_Switch', column: 'load_balancer' },
    { table: 'Logical_Router', column: 'load_balancer' },
  ],
  Logical_Switch_Port: [{ table: 'Port_Group', column: 'ports' }],
};

interface ChildColumn {
  readonly column: string;
  readonly child: TableSpec;
}

const CHILDREN: ReadonlyMap<string, readonly ChildColumn[]> = new Map(
  SPECS.map(({ table }) => [
    table,
    SPECS.flatMap((child) => child.parents.filter((parent) => parent.table === table).map((parent) => ({ column: parent.column, child }))),
  ]),
);

export type { Row, Uuid, Value };
