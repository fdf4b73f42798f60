/**
 * How fast addresses are allocated and released, and what one costs in memory (with `--expose-gc`). `run` returns rows for a table; as a
 * program it prints them: `node --expose-gc bench/ipam.ts [case …]`.
 */

import { pathToFileURL } from 'node:url';
import { macFromNumber } from '../src/net/mac.ts';
import type { Mac } from '../src/net/mac.ts';
import type { Holder, HolderKind } from '../src/ipam/holder.ts';
import { Ledger } from '../src/ipam/ledger.ts';
import { parseSubnetFields } from '../src/ipam/subnet-spec.ts';

export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

const v4 = { cidrBlock: '10.0.0.0/8', gateway: '10.0.0.1' };
const v6 = { cidrBlock: 'fd00:10:16::/64', gateway: 'fd00:10:16::1' };
const dual = { cidrBlock: '10.0.0.0/8,fd00:10:16::/64', gateway: '10.0.0.1,fd00:10:16::1' };

const cases: readonly (readonly [string, (name: string) => Row[] | Promise<Row[]>])[] = [
  ['v4', (name) => measure(name, v4, 1, 65_000)],
  ['v4, keys of their own', (name) => measure(name, v4, 1, 65_000, 'holder')],
  ['v6', (name) => measure(name, v6, 1, 65_000)],
  ['dual', (name) => measure(name, dual, 2, 65_000)],
  ['v4, a million held', (name) => measure(name, v4, 1, 1_000_000)],
  ['dual, a million held', (name) => measure(name, dual, 2, 500_000)],
  ['fragmented /8', (name) => fragmented(name, 50_000)],
  ['memory', () => memory(200_000)],
];

/** Cases of many addresses run once: they take long, and their size evens out variations. */
const repeatsOf = (name: string): number => (name.includes('million') || name === 'memory' ? 1 : 5);

export async function run(asked: readonly string[] = []): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [name, take] of cases) {
    if (asked.length > 0 && !asked.includes(name)) continue;
    const runs: Row[][] = [];
    for (let n = 0; n < repeatsOf(name); n++) {
      runs.push(await take(name));
      // Lets the event loop turn between two measurements, as between two turns of a controller.
      await new Promise(setImmediate);
    }
    rows.push(...best(runs));
  }
  return rows;
}

/** The best value of each row over several runs: other programs on a shared machine only ever make a run slower. */
function best(runs: readonly (readonly Row[])[]): Row[] {
  return (runs[0] ?? []).map((row, index) => {
    const values = runs.map((run) => run[index]?.value ?? row.value);
    return { ...row, value: row.unit === 'addresses/s' ? Math.max(...values) : Math.min(...values) };
  });
}

/** The key of a reservation is its claimant, as in the allocation step; `prefix` makes it a different text. */
function measure(name: string, subnet: { cidrBlock: string; gateway: string }, families: number, count: number, prefix = ''): Row[] {
  const holders = holdersOf('reservation', count, prefix);
  const ledger = ledgerOf(subnet);
  const allocating = seconds(() => {
    for (const holder of holders) ledger.allocate('s', { holder });
  });
  const again = seconds(() => {
    for (const holder of holders) ledger.allocate('s', { holder });
  });
  const churn = holders.slice(0, Math.min(count, 65_000));
  const churning = seconds(() => {
    for (const { kind, key } of churn) ledger.release(kind, key);
    for (const holder of churn) ledger.allocate('s', { holder });
  });
  const usage = textSeconds(ledger);
  const releasing = seconds(() => {
    for (const { kind, key } of holders) ledger.release(kind, key);
  });
  if (ledger.counts('s', subnet.cidrBlock.includes(':') ? 6 : 4)?.using !== 0n) throw new Error('the ledger is not empty at the end');
  const addresses = count * families;
  return [
    { name: `${name}: allocate`, value: addresses / allocating, unit: 'addresses/s' },
    { name: `${name}: allocate again what is held`, value: addresses / again, unit: 'addresses/s' },
    { name: `${name}: release all and allocate anew`, value: (2 * churn.length * families) / churning, unit: 'addresses/s' },
    { name: `${name}: release`, value: addresses / releasing, unit: 'addresses/s' },
    { name: `${name}: status text`, value: usage * 1000, unit: 'ms' },
  ];
}

/** Static addresses spread over a /8 by a fixed generator, then random ones between them. */
function fragmented(name: string, count: number): Row[] {
  const ledger = ledgerOf(v4);
  const holders = holdersOf('reservation', 2 * count);
  const macs = macsOf(count);
  let state = 1;
  const strewn = Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return BigInt(0x0a00_0002 + ((state >>> 8) % 0xff_fff0));
  });
  const placing = seconds(() => {
    for (const [n, value] of strewn.entries())
      ledger.allocate('s', { holder: holders[n] as Holder, static: { v4: { family: 4, value } }, mac: macs[n] as Mac });
  });
  const text = textSeconds(ledger);
  const filling = seconds(() => {
    for (const holder of holders.slice(count)) ledger.allocate('s', { holder });
  });
  return [
    { name: `${name}: static, with a MAC`, value: count / placing, unit: 'addresses/s' },
    { name: `${name}: random between them`, value: count / filling, unit: 'addresses/s' },
    { name: `${name}: status text`, value: text * 1000, unit: 'ms' },
  ];
}

/** The ledger's memory for one address, without the texts of keys and claimants, which belong to the objects. */
async function memory(count: number): Promise<Row[]> {
  if (globalThis.gc === undefined) return [];
  const reservations = holdersOf('reservation', count);
  const macs = macsOf(count);
  const kinds: readonly HolderKind[] = ['ip', 'pod', 'row'];
  const further = kinds.map((kind) => holdersOf(kind, count, kind));
  const fill = (withMac: boolean, more: readonly (readonly Holder[])[]): Ledger => {
    const ledger = ledgerOf(v4);
    for (const [n, holder] of reservations.entries()) ledger.allocate('s', withMac ? { holder, mac: macs[n] as Mac } : { holder });
    for (const [n, value] of Array.from({ length: more.length > 0 ? count : 0 }, (_, each) => 0x0a00_0002n + BigInt(each)).entries())
      for (const holders of more) ledger.hold('s', holders[n] as Holder, { addresses: [{ family: 4, value }], mac: macs[n] as Mac });
    return ledger;
  };
  const one = await bytesOf(() => fill(false, []));
  const oneWithMac = await bytesOf(() => fill(true, []));
  const four = await bytesOf(() => fill(true, further));
  const row = (what: string, bytes: number): Row => ({ name: `memory: ${what}`, value: bytes / count, unit: 'bytes/address' });
  return [
    row('one holder', one),
    row('one holder, with a MAC', oneWithMac),
    row('four holders of one claimant, with a MAC', four),
    row('each further holder, with a MAC', (four - oneWithMac) / further.length),
  ];
}

/** The retained bytes of a ledger: the second of two is measured, so that one-time allocations do not count. */
async function bytesOf(fill: () => Ledger): Promise<number> {
  const ledgers: Ledger[] = [];
  let bytes = 0;
  for (let turn = 0; turn < 2; turn++) {
    const before = await heap();
    ledgers.push(fill());
    bytes = (await heap()) - before;
  }
  if (ledgers.some((ledger) => ledger.counts('s', 4)?.using === 0n)) throw new Error('a ledger is empty');
  return bytes;
}

/**
 * Holders as in a real caller: their texts are flat, as if read from JSON, and hashed already. V8 computes the hash at first use and keeps
 * it in the text.
 */
function holdersOf(kind: HolderKind, count: number, prefix = ''): Holder[] {
  const claimants = flat(Array.from({ length: count }, (_, n) => `claimant-${n}`));
  const keys = prefix === '' ? claimants : flat(claimants.map((_, n) => `${prefix}-${n}`));
  if (new Set([...keys, ...claimants]).size < count) throw new Error('two holders have one name');
  return claimants.map((claimant, n): Holder => ({ kind, key: keys[n] ?? claimant, claimant }));
}

function flat(texts: readonly string[]): readonly string[] {
  const read: unknown = JSON.parse(JSON.stringify(texts));
  if (!Array.isArray(read)) throw new Error('a list comes back as a list');
  return read.map(String);
}

function macsOf(count: number): Mac[] {
  return Array.from({ length: count }, (_, n) => macFromNumber(0x0a_00_00_00_00_00 + n));
}

function ledgerOf(subnet: { cidrBlock: string; gateway: string }): Ledger {
  const parsed = parseSubnetFields({ ...subnet, excludeIps: [] });
  if (!parsed.ok) throw new Error(parsed.problem);
  const ledger = new Ledger();
  ledger.upsertSubnet('s', parsed.spec);
  return ledger;
}

/** The time for one text, averaged over several: a thread's clock may be too coarse for one. */
function textSeconds(ledger: Ledger): number {
  const texts = 10;
  const all = seconds(() => {
    for (let n = 0; n < texts; n++) ledger.usage('s');
  });
  return all / texts;
}

/** Processor time of this thread: a wall clock would include other programs of a shared machine. */
function seconds(work: () => void): number {
  const start = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1e6;
}

/** Used bytes after collections; buffers are only freed between turns of the event loop. */
async function heap(): Promise<number> {
  for (let n = 0; n < 3; n++) {
    globalThis.gc?.();
    await new Promise(setImmediate);
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const { name, value, unit } of await run(process.argv.slice(2))) {
    process.stdout.write(
      `${name.padEnd(64)} ${value.toLocaleString('en', { maximumFractionDigits: value < 1000 ? 1 : 0 }).padStart(12)} ${unit}\n`,
    );
  }
}
