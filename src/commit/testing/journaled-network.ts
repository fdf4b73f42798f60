/** A Vpc with a Subnet for tests of the journal: made and deleted by a writer, restored by an undo, compared by full dumps. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Output, RowOutput, RowOwner } from '../../compile/output.ts';
import { readJournal } from '../../journal/read-journal.ts';
import { selectedChanges } from '../../journal/selection.ts';
import type { Present, UndoPlan } from '../../journal/undo-plan.ts';
import { undoPlan } from '../../journal/undo-plan.ts';
import { rowId } from '../../nb/row-id.ts';
import { aclId, dhcpOptionsId, staticRouteId } from '../../nb/tables.ts';
import type { OvsdbServerProcess } from '../../ovsdb/testing/ovsdb-server-process.ts';
import { parseDump, withoutUuids } from '../../testing/northbound-dump.ts';
import { undoTransaction } from '../undo-transaction.ts';
import { rowsOf } from './shared-northbound.ts';
import type { WriterProcess } from './writer-process.ts';

const run = promisify(execFile);
export const vpc: RowOwner = { kind: 'vpc', namespace: '', name: 'blue', uid: 'uid-vpc', created: '2026-01-01T00:00:00Z' };
export const subnet: RowOwner = { ...vpc, kind: 'subnet', name: 's1', uid: 'uid-subnet' };
export const group: RowOwner = { ...vpc, kind: 'securitygroup', name: 'sg', uid: 'uid-group' };

/** Every row with all its columns, UUIDs aside. */
export async function dumpOf(server: OvsdbServerProcess): Promise<readonly string[]> {
  const { stdout } = await run('ovsdb-client', ['--format=json', 'dump', server.unix, 'OVN_Northbound'], { maxBuffer: 2 ** 28 });
  return withoutUuids(parseDump(stdout));
}

/** A few of the rows that differ; the whole would be megabytes. */
export function difference(before: readonly string[], after: readonly string[]): readonly string[] {
  const [had, has] = [new Set(before), new Set(after)];
  const lost = before.filter((row) => !has.has(row)).map((row) => `- ${row}`);
  return [...lost, ...after.filter((row) => !had.has(row)).map((row) => `+ ${row}`)].slice(0, 4).map((row) => row.slice(0, 600));
}

/** A Vpc with a Subnet and so many ports, which are in a group of another object. */
export function network(ports: number): { readonly kept: Output[]; readonly lost: Output[] } {
  const ofVpc = rowsOf(vpc);
  const ofSubnet = rowsOf(subnet);
  const router = rowId('Logical_Router', 'blue');
  const home = rowId('Logical_Switch', 's1');
  const dhcp = dhcpOptionsId('s1', 'IPv4');
  const names = Array.from({ length: ports }, (_, at) => `p${at}`);
  const portRows = names.map((name, at) =>
    ofSubnet(
      rowId('Logical_Switch_Port', name),
      {
        name,
        addresses: [`0a:00:00:00:${hex(at >> 8)}:${hex(at & 255)} 10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`],
        dhcpv4_options: { ref: dhcp },
      },
      { id: home, column: 'ports' },
    ),
  );
  const lost: RowOutput[] = [
    ofVpc(router, { name: 'blue' }),
    ofVpc(
      rowId('Logical_Router_Port', 'blue-s1'),
      { name: 'blue-s1', mac: '0a:00:00:00:00:01', networks: ['10.0.0.1/8'] },
      { id: router, column: 'ports' },
    ),
    ofVpc(
      staticRouteId('blue', '', '', '0.0.0.0/0', '10.9.9.9'),
      { ip_prefix: '0.0.0.0/0', nexthop: '10.9.9.9' },
      { id: router, column: 'static_routes' },
    ),
    { ...ofSubnet(dhcp, { cidr: '10.0.0.0/8', options: { router: '10.0.0.1' } }), externalIds: { ls: 's1', protocol: 'IPv4' } },
    ofSubnet(home, { name: 's1', other_config: { mcast_snoop: 'true' } }),
    ofSubnet(
      aclId('s1', 'to-lport', 1001, 'ip4'),
      { direction: 'to-lport', priority: 1001, match: 'ip4', action: 'drop' },
      { id: home, column: 'acls' },
    ),
    ...portRows,
  ];
  const pg = rowId('Port_Group', 'pg');
  const members = names.map((name): Output => {
    const member = { ref: rowId('Logical_Switch_Port', name) };
    return { kind: 'member', row: pg, column: 'ports', member };
  });
  return { kept: [rowsOf(group)(pg, { name: 'pg' })], lost: [...lost, ...members] };
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

export function presentOf({ session, world }: WriterProcess, owners: ReadonlySet<string> = new Set()): Present {
  assert.ok(session.schema);
  return {
    schema: session.schema,
    row: (table, uuid) => session.replica.table(table).get(uuid),
    rowsOf: (id) => world.rows.rowsOf(id),
    // The row of DNS is there all the time.
    exists: (table, uuid) => table === 'DNS' || session.replica.table(table).has(uuid),
    translating: () => [],
    entriesGo: () => undefined,
    ownerExists: (owner) => owners.has(owner),
  };
}

export async function plan(kiln: WriterProcess, of: string, owners?: ReadonlySet<string>): Promise<UndoPlan> {
  const { transactions, problems } = await readJournal(of);
  assert.deepEqual(problems, []);
  return undoPlan(selectedChanges(transactions, {}), presentOf(kiln, owners));
}

export async function undo(kiln: WriterProcess, of: string): Promise<UndoPlan> {
  const planned = await plan(kiln, of);
  const [global] = kiln.session.replica.table('NB_Global').values();
  const outcome = await kiln.session.transact(undoTransaction(planned, global));
  assert.equal(outcome.ok, true, outcome.ok ? '' : outcome.error.message);
  await kiln.quiet();
  return planned;
}
