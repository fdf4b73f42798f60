/** What `npm run bench -- -o json` prints, of each benchmark at sizes that take seconds: programs read it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { LONG_RUN } from '../../src/testing/long-run.ts';
import { whyNoPackets } from '../../lab/node/requirements.ts';
import { missingClusterPrograms } from '../../lab/real-cluster/real-cluster.ts';

const ROOT = join(import.meta.dirname, '../..');

interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly aim?: string;
}

/** The rows that each must have, among others: those that the aims are about, and what must hold at any size. */
const WANTED: Readonly<Record<string, readonly (readonly [name: RegExp, unit: string, holds?: (value: number) => boolean])[]>> = {
  ipam: [[/v4.*allocate/, 'addresses/s', (value) => value > 0]],
  ovsdb: [
    [/2000 port rows: on top of the server's time/, '%'],
    [/rows written, 100 a transaction, four under way/, 'rows/s', (value) => value > 0],
    [/one row, in a switch of 600 ports: p99/, 'ms', (value) => value > 0],
  ],
  bind: [
    [/^40 pods, one Namespace, 2 nodes: pods bound per second/, 'pods/s', (value) => value > 0],
    [/^60 pods, 2 Namespaces, 3 nodes: share of that limit/, '%', (value) => value > 0],
    [/longest turn/, 'ms', (value) => value > 0],
  ],
  audit: [
    [/^60 pods: the audit/, 's', (value) => value > 0],
    [/^60 pods: the most memory of the audit/, 'MB', (value) => value > 50],
    [/^60 pods: the replica alone/, 's', (value) => value > 0],
    [/^60 pods: findings/, '', (value) => value === 0],
  ],
  restart: [
    [/60 pods: from the start of the process/, 's', (value) => value > 0],
    [/60 pods: the most memory/, 'MB', (value) => value > 50],
    [/60 pods: rows and objects written/, '', (value) => value === 0],
    [/60 pods: longest turn/, 'ms', (value) => value > 0],
  ],
  change: [
    [/40 pods, one comes and goes: operations sent to OVN/, '', (value) => value > 0],
    [/operations at 40 to those at 20/, '×', (value) => value > 0.5 && value < 1.5],
    [/processor time at 40 to that at 20/, '×', (value) => value > 0],
  ],
  idle: [
    [/processor time, of one core/, '%', (value) => value >= 0],
    [/requests that read or write objects/, '', (value) => value === 0],
    [/operations sent to the Northbound database/, '', (value) => value === 0],
    [/runs of rules and queries/, '', (value) => value === 0],
  ],
  memory: [
    [/^empty cluster: at rest/, 'MB', (value) => value > 50],
    [/^60 pods: at rest/, 'MB', (value) => value > 50],
    [/^60 pods: the most/, 'MB', (value) => value > 50],
    [/^each further pod/, 'kB'],
  ],
  nat: [
    [/^30 EIPs with rules, one comes and goes: the controller's processor time/, 'ms', (value) => value > 0],
    [/^operations at 30 to those at 3/, '×', (value) => value > 0.5 && value < 1.5],
    [/^12 EIPs churned: addresses/, '', (value) => value === 0],
    [/^12 EIPs churned: rows/, '', (value) => value === 0],
  ],
  selections: [
    [/^1000 pods, 20 policies: one pod comes: members to compare/, '', (value) => value === 20],
    [/^1000 pods, 2 policies: one pod's label changes: members to compare/, '', (value) => value === 2],
    [/^1000 pods, 20 policies: one policy is edited: runs/, '', (value) => value < 20],
    [/^1000 pods, 20 policies: one policy that selects nothing comes: members to compare/, '', (value) => value === 0],
    [/^1000 addresses of a Subnet that drains, one goes: runs/, '', (value) => value < 4],
  ],
  churn: [
    [/10 pods\/s: from creation to annotation, p50/, 'ms', (value) => value > 0],
    [/10 pods\/s: from creation to annotation, p99/, 'ms', (value) => value > 0],
    [/10 pods\/s: pods that ended before they were bound/, ''],
  ],
  cni: [
    [/^kiln-cni: ADD, alone, p50/, 'ms', (value) => value > 0],
    [/^kiln-cni: DEL, 3 at once, p99/, 'ms', (value) => value > 0],
    [/^bridge and host-local: ADD, 3 at once, p99/, 'ms', (value) => value > 0],
    [/^an agent with 5 pods: resident memory/, 'MB', (value) => value > 50],
    [/^an agent with 5 pods: its own processor time/, '%', (value) => value >= 0],
    [/^an agent with 5 pods: changes of .* by its start/, '', (value) => value === 0],
  ],
  traffic: [
    [/^throughput of pods to that by hand/, '%', (value) => value > 0],
    [/^round trip of pods to that by hand/, '×', (value) => value > 0],
  ],
};

/** Those that run each day: of the others each takes a cluster of its own. */
const SHORT: ReadonlySet<string> = new Set(['ipam', 'ovsdb', 'bind', 'selections']);

/** Those with nodes that carry packets. */
const PACKETS: ReadonlySet<string> = new Set(['cni', 'traffic']);

function noPackets(): string | undefined {
  const lacking = ['/usr/lib/cni/bridge', '/usr/bin/iperf3'].find((program) => !existsSync(program));
  return whyNoPackets() ?? (lacking === undefined ? undefined : `${lacking} is not installed`);
}

for (const [name, wanted] of Object.entries(WANTED)) {
  if (!LONG_RUN && !SHORT.has(name)) continue;
  const skip =
    name === 'ipam' || name === 'ovsdb' ? false : PACKETS.has(name) ? (noPackets() ?? false) : (missingClusterPrograms() ?? false);
  if (PACKETS.has(name) && skip !== false) continue;
  test(`${name}: rows with name, value and unit, those of its aims among them`, { skip }, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['bench/main.ts', name, '--quick', '-o', 'json'], { cwd: ROOT });
    const results = JSON.parse(stdout) as Readonly<Record<string, readonly Row[]>>;
    assert.deepEqual(Object.keys(results), [name]);
    const rows = results[name] ?? [];
    for (const row of rows) {
      assert.ok(Number.isFinite(row.value), `${row.name} is ${row.value}`);
      assert.equal(typeof row.unit, 'string', row.name);
    }
    assert.equal(new Set(rows.map((row) => row.name)).size, rows.length, 'names are not told apart');
    for (const [text, unit, holds] of wanted) {
      const row = rows.find((one) => text.test(one.name));
      assert.ok(row !== undefined, `no row ${String(text)} among ${rows.map((one) => one.name).join('; ')}`);
      assert.equal(row.unit, unit, row.name);
      if (holds !== undefined) assert.ok(holds(row.value), `${row.name} is ${row.value} ${row.unit}`);
    }
  });
}

test('--help names every benchmark, and an unknown argument or flag is one sentence with exit code 2', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['bench/main.ts', '--help'], { cwd: ROOT });
  for (const name of Object.keys(WANTED)) assert.match(stdout, new RegExp(`\\b${name}\\b`));
  for (const [argument, sentence] of [
    ['bnd', /^bench: no benchmark "bnd"; there are: .*\n$/],
    ['--nope', /^bench: Unknown option '--nope'.*\n$/],
  ] as const)
    await assert.rejects(promisify(execFile)(process.execPath, ['bench/main.ts', argument], { cwd: ROOT }), (error) => {
      assert.ok(error instanceof Error && 'code' in error && 'stderr' in error);
      assert.equal(error.code, 2);
      assert.match(String(error.stderr), sentence);
      return true;
    });
});
