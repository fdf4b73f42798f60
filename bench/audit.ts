/**
 * `audit`: time and memory of `kiln audit` in a cluster whose pods are all bound, as a process of its own. Beside it `kubectl get ips -A`, which lists
 * only one of the kinds, and the Northbound replica's own reading.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { findKubernetesProgram } from '../lab/programs/kubernetes.ts';
import { monitoredColumns } from '../src/nb/tables.ts';
import { OvsdbSession } from '../src/ovsdb/index.ts';
import { Crowd } from './crowd.ts';
import { measuredProgram } from './measured-program.ts';
import { NotMeasured } from './progress-watch.ts';
import type { BenchRow } from './row.ts';
import type { Sizes } from './sizes.ts';

const LOOK_MS = 20;
/** OVN gives no more ports of a switch a key; an audit says that of a Subnet from nine tenths of it on, and here all pods are in one. */
const OVN_PORTS = 0.9 * 32_767;
/** What an audit of 50,000 pods may take on a loaded machine. */
const TIMEOUT = '10m';

export async function audit({ pods }: Sizes['audit'], standing: readonly string[]): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const size of pods) rows.push(...(await auditOf(size, standing)));
  return rows;
}

async function auditOf(pods: number, standing: readonly string[]): Promise<BenchRow[]> {
  const crowd = await Crowd.of({ pods, standing });
  try {
    const { kubeconfig, northbound } = crowd;
    const before = await crowd.northboundFingerprint();
    const { file, env } = await measuredProgram('kiln');
    const flags = [`--kubeconfig=${kubeconfig}`, `--ovn-nb=${northbound}`, `--request-timeout=${TIMEOUT}`];
    const audited = await ended(process.execPath, [file, 'audit', '--output=json', ...flags], env);
    if (audited.exit > 1) throw new NotMeasured(`kiln audit ended with ${audited.exit}: ${audited.err}`);
    const { count, counts } = JSON.parse(audited.out) as { readonly count: number; readonly counts: Readonly<Record<string, number>> };
    if (counts['Pod'] !== pods) throw new NotMeasured(`the audit saw ${counts['Pod'] ?? 0} of ${pods} pods`);
    if ((await crowd.northboundFingerprint()) !== before) throw new NotMeasured('the audit wrote rows');
    const kubectl = findKubernetesProgram('kubectl');
    const listed =
      kubectl === undefined ? undefined : await ended(kubectl, ['get', 'ips.kubeovn.io', '-A', `--kubeconfig=${kubeconfig}`], {});
    if (listed !== undefined && listed.out.split('\n').length - 2 < pods)
      throw new NotMeasured(`kubectl listed too few: ${listed.exit}: ${listed.err}`);
    return [
      { name: `${pods} pods: the audit`, value: audited.seconds, unit: 's' },
      { name: `${pods} pods: the most memory of the audit`, value: audited.peakMb, unit: 'MB' },
      ...(listed === undefined
        ? []
        : [
            { name: `${pods} pods: kubectl get ips -A`, value: listed.seconds, unit: 's' },
            { name: `${pods} pods: the most memory of kubectl`, value: listed.peakMb, unit: 'MB' },
          ]),
      { name: `${pods} pods: the replica alone reads the Northbound database`, value: await replicaSeconds(northbound), unit: 's' },
      { name: `${pods} pods: findings`, value: count, unit: '', ...(pods < OVN_PORTS && { aim: '= 0' }) },
    ];
  } finally {
    await crowd.stop();
  }
}

interface Ended {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
  readonly seconds: number;
  readonly peakMb: number;
}

/** Runs a program, and asks the kernel for the most memory that it had; Linux alone. */
async function ended(file: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> {
  const began = performance.now();
  const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const text = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (text.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text.err += chunk.toString()));
  let peakKb = 0;
  const look = setInterval(() => {
    readFile(`/proc/${child.pid ?? 0}/status`, 'utf8').then(
      (status) => (peakKb = Math.max(peakKb, Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0))),
      () => undefined,
    );
  }, LOOK_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(look);
  return { exit: code ?? 255, ...text, seconds: (performance.now() - began) / 1_000, peakMb: peakKb / 1_024 };
}

async function replicaSeconds(northbound: string): Promise<number> {
  const began = performance.now();
  const session = new OvsdbSession({
    ...{ endpoints: [northbound], database: 'OVN_Northbound', tables: monitoredColumns(), readOnly: true },
  });
  session.start();
  await session.untilSynced();
  const seconds = (performance.now() - began) / 1_000;
  await session.close();
  return seconds;
}
