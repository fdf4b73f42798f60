/** Runs benchmarks: see `npm run bench -- --help`. */
import { parseArgs } from 'node:util';
import { audit } from './audit.ts';
import { bind } from './bind.ts';
import { change } from './change.ts';
import { churn } from './churn.ts';
import { cni } from './cni.ts';
import { Crowd } from './crowd.ts';
import { gc } from './gc.ts';
import { idle } from './idle.ts';
import { run as ipam } from './ipam.ts';
import { journal } from './journal.ts';
import { ovsdb } from './ovsdb.ts';
import { memory } from './memory.ts';
import { nat } from './nat.ts';
import { restart } from './restart.ts';
import { selections } from './selections.ts';
import { traffic } from './traffic.ts';
import { whyNoPackets } from '../lab/node/requirements.ts';
import { NotMeasured } from './progress-watch.ts';
import type { BenchRow } from './row.ts';
import { FULL, QUICK } from './sizes.ts';
import { table } from './table.ts';

const HELP = `npm run bench -- [NAME]... [OPTION]...

Measures what is named, or everything: audit, bind, change, churn, cni, gc, idle, ipam, journal, memory, nat, ovsdb, restart, selections, traffic.
cni and traffic need root on Linux: without it "everything" is the others.
What each measures: bench/README.md.

  -o, --output FORMAT  table (the default) or json
  --quick              the least sizes: that all of it works, and nothing worth knowing
  --pods N             of audit, bind, restart, memory and idle
  --namespaces N --nodes N --interfaces N
                       of bind
  --rate N --seconds N of churn
  --eips N             of nat
  --crowd FILE         measure audit, change, idle, memory and restart in a cluster that "crowd" keeps; may be given more than once
  --help

npm run bench -- crowd --pods N makes a cluster with that many pods and keeps it until Ctrl-C.

  npm run bench -- ovsdb -o json
  npm run bench -- bind --pods 10000 --namespaces 20 --nodes 50

Exit codes: 0 measured, 1 something could not be measured (it says why), 2 the command line is wrong.
`;

const { values: flags, positionals: asked } = readArguments();
if (flags.help) {
  process.stdout.write(HELP);
  process.exit();
}
const sizes = flags.quick ? QUICK : FULL;

const BENCHES: Readonly<Record<string, () => Promise<readonly BenchRow[]>>> = {
  audit: () => audit({ pods: flags.pods === undefined ? sizes.audit.pods : [count('pods', 0)] }, flags.crowd),
  bind: () => bindAll(),
  change: () => change(sizes.change, flags.crowd),
  churn: () =>
    churn({
      rates: flags.rate === undefined ? sizes.churn.rates : [count('rate', 1)],
      seconds: count('seconds', sizes.churn.seconds),
    }),
  cni: () => cni(sizes.cni),
  gc: () => gc(sizes.gc),
  idle: () => idle({ ...sizes.idle, pods: count('pods', sizes.idle.pods) }, flags.crowd),
  ipam: () => ipam(sizes.ipam.cases),
  journal: () => journal(sizes.journal),
  memory: () => memory({ ...sizes.memory, ...(flags.pods !== undefined && { pods: [count('pods', 0)] }) }, flags.crowd),
  nat: () => nat({ ...sizes.nat, eips: [sizes.nat.eips[0], count('eips', sizes.nat.eips[1])] }),
  ovsdb: () => ovsdb(sizes.ovsdb),
  restart: () => restart({ pods: flags.pods === undefined ? sizes.restart.pods : [count('pods', 0)] }, flags.crowd),
  selections: () => Promise.resolve(selections(sizes.selections)),
  traffic: () => traffic(sizes.traffic),
};

if (asked.length === 1 && asked[0] === 'crowd') await keepCrowd();
const unknown = asked.find((name) => !Object.hasOwn(BENCHES, name));
if (unknown !== undefined) refuse(`no benchmark "${unknown}"; there are: ${Object.keys(BENCHES).join(', ')} (and crowd, alone)`);
if (!['table', 'json'].includes(flags.output)) refuse(`-o ${flags.output} is neither table nor json`);

const results: Record<string, readonly BenchRow[]> = {};
const all = Object.keys(BENCHES).filter((name) => !['cni', 'traffic'].includes(name) || whyNoPackets() === undefined);
for (const name of asked.length > 0 ? asked : all) {
  process.stderr.write(`${name} …\n`);
  results[name] = await measured(name);
  if (flags.output === 'table') process.stdout.write(table(name, results[name]));
}
if (flags.output === 'json') process.stdout.write(`${JSON.stringify(results, undefined, 2)}\n`);

async function measured(name: string): Promise<readonly BenchRow[]> {
  try {
    return (await BENCHES[name]?.()) ?? [];
  } catch (error) {
    if (!(error instanceof NotMeasured)) throw error;
    process.stderr.write(`bench: ${name} was not measured: ${error.message}\n`);
    process.exit(1);
  }
}

/** Runs all sizes one after another; if a flag sets a number, only the first size with that number. */
async function bindAll(): Promise<readonly BenchRow[]> {
  const isSaid = (['pods', 'namespaces', 'nodes', 'interfaces'] as const).some((flag) => flags[flag] !== undefined);
  const rows: BenchRow[] = [];
  for (const { pods, namespaces, nodes, interfaces } of isSaid ? sizes.bind.slice(0, 1) : sizes.bind)
    rows.push(
      ...(await bind({
        pods: count('pods', pods),
        namespaces: count('namespaces', namespaces),
        nodes: count('nodes', nodes),
        interfaces: count('interfaces', interfaces),
      })),
    );
  return rows;
}

/** Keeps a crowd running until Ctrl-C. */
async function keepCrowd(): Promise<never> {
  const pods = count('pods', sizes.idle.pods);
  process.stderr.write(`crowd: ${pods} pods …\n`);
  const crowd = await Crowd.of({ pods });
  const over = new Promise((resolve) => ['SIGINT', 'SIGTERM'].forEach((signal) => process.once(signal, resolve)));
  process.stdout.write(`In another terminal: npm run bench -- restart --pods ${pods} --crowd ${await crowd.announce()}\nCtrl-C ends it.\n`);
  const held = setInterval(() => undefined, 60_000);
  await over;
  clearInterval(held);
  await crowd.stop();
  process.exit(0);
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        quick: { type: 'boolean', default: false },
        output: { type: 'string', short: 'o', default: 'table' },
        pods: { type: 'string' },
        namespaces: { type: 'string' },
        nodes: { type: 'string' },
        interfaces: { type: 'string' },
        eips: { type: 'string' },
        rate: { type: 'string' },
        seconds: { type: 'string' },
        crowd: { type: 'string', multiple: true, default: [] },
      },
    });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function count(flag: 'eips' | 'pods' | 'namespaces' | 'nodes' | 'interfaces' | 'rate' | 'seconds', otherwise: number): number {
  const text = flags[flag];
  if (text === undefined) return otherwise;
  const value = Number(text);
  return Number.isInteger(value) && value > 0 ? value : refuse(`--${flag} ${text} is not a whole number above 0`);
}

function refuse(why: string): never {
  process.stderr.write(`bench: ${why}\n`);
  process.exit(2);
}
