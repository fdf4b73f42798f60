/** Queries on a dump of the Northbound database. */
import assert from 'node:assert/strict';
import type { DumpedRow, NorthboundDump } from '../../src/testing/northbound-dump.ts';
import { members } from '../../src/testing/northbound-dump.ts';

/** The only row of that name. */
export function rowNamed(dump: NorthboundDump, table: string, name: string): DumpedRow {
  const found = rowsNamed(dump, table, name);
  assert.equal(found.length, 1, `${found.length} rows ${name} in ${table}`);
  return found[0] as DumpedRow;
}

export function rowsNamed(dump: NorthboundDump, table: string, name: string): readonly DumpedRow[] {
  return (dump.get(table) ?? []).filter((row) => row['name'] === name);
}

export function port(dump: NorthboundDump, name: string): DumpedRow {
  return rowNamed(dump, 'Logical_Switch_Port', name);
}

/** The rows that a column of the parent row refers to. */
export function children(dump: NorthboundDump, parent: DumpedRow, column: string, table: string): readonly DumpedRow[] {
  const uuids = members(parent[column]);
  return (dump.get(table) ?? []).filter((row) => uuids.includes(String(row['_uuid'])));
}

/** Static routes of a router as `<table> <policy> <prefix> <nexthop>`, sorted. */
export function routesOf(dump: NorthboundDump, router: string): readonly string[] {
  return children(dump, rowNamed(dump, 'Logical_Router', router), 'static_routes', 'Logical_Router_Static_Route')
    .map(
      (row) =>
        `${String(row['route_table']) === '' ? 'main' : String(row['route_table'])} ${members(row['policy'])[0] ?? 'dst-ip'} ${String(row['ip_prefix'])} ${String(row['nexthop'])}`,
    )
    .toSorted();
}

/** Policies of a router as `<priority> <match> <action> <nexthops>`, highest first. */
export function policiesOf(dump: NorthboundDump, router: string): readonly string[] {
  return children(dump, rowNamed(dump, 'Logical_Router', router), 'policies', 'Logical_Router_Policy')
    .map((row) =>
      `${String(row['priority'])} ${String(row['match'])} ${String(row['action'])} ${members(row['nexthops']).join(',')}`.trim(),
    )
    .toSorted((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10) || (a < b ? -1 : 1));
}

/** ACLs of a switch as `<priority> <direction> <match> <action>`, highest first. */
export function aclsOf(dump: NorthboundDump, logicalSwitch: string): readonly string[] {
  return children(dump, rowNamed(dump, 'Logical_Switch', logicalSwitch), 'acls', 'ACL')
    .map((row) => `${String(row['priority'])} ${String(row['direction'])} ${String(row['match'])} ${String(row['action'])}`)
    .toSorted((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10) || (a < b ? -1 : 1));
}

/** The `external_ids` of every row of Kiln's. */
export function ownerKeys(owner: string, uid: string, rule: string): Readonly<Record<string, string>> {
  return { vendor: 'kube-ovn', 'kiln.io/owner': owner, 'kiln.io/uid': uid, 'kiln.io/rule': rule };
}

/** All rows that contain one of these names, to prove that no leftover remains. */
export function traces(dump: NorthboundDump, ...names: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (const [table, rows] of dump) {
    for (const row of rows) {
      // A UUID contains any short name sooner or later.
      const text = JSON.stringify(row).replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '');
      for (const name of names) if (text.includes(name)) found.push(`${table} ${String(row['name'] ?? row['_uuid'])}: ${name}`);
    }
  }
  return found;
}
