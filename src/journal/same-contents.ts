/** Whether a row of the database is as a journaled one was. Pure. */
import { childColumns } from '../nb/tables.ts';
import type { Row } from '../ovsdb/index.ts';
import type { JsonRow, JsonValue } from './journal.ts';
import { isSame } from './row-json.ts';

/** Compares what does not refer to rows: these have other UUIDs by now. */
export function hasContents(row: Row, json: JsonRow, table: string): boolean {
  const children = new Set(childColumns(table).map(({ column }) => column));
  const columns = new Set([...Object.keys(json), ...Object.keys(row)]);
  for (const column of columns) {
    const value = row[column];
    if (column === '_uuid' || children.has(column) || REFERRING.has(column)) continue;
    if (value === undefined && json[column] !== undefined) continue;
    if (!isSame(json[column] ?? defaultOf(value), value)) return false;
  }
  return true;
}

/** Columns with references that are no children. */
const REFERRING: ReadonlySet<string> = new Set([
  ...[
    'load_balancer',
    'load_balancer_group',
    'dns_records',
    'copp',
    'dhcpv4_options',
    'dhcpv6_options',
    'mirror_rules',
    'ha_chassis_group',
  ],
  ...['ha_chassis', 'bfd', 'bfd_sessions', 'allowed_ext_ips', 'exempted_ext_ips', 'gateway_port', 'sample_new', 'sample_est', 'dhcp_relay'],
  ...['network_function_group', 'peer'],
]);

/** The journal leaves out empty texts; of a scalar that is never empty it has the value. */
function defaultOf(value: Row[string] | undefined): JsonValue {
  return value === '' ? '' : null;
}
