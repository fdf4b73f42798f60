/** The same kubectl sessions on the lab and on a real cluster: the output must be equal. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { after, before, describe, test } from 'node:test';
import { LabApiServer } from '../../lab/apiserver/server.ts';
import { findKubernetesProgram } from '../../lab/programs/kubernetes.ts';
import { apiServerMinor, missingClusterPrograms, RealCluster } from '../../lab/real-cluster/real-cluster.ts';
import type { KubectlResult } from './kubectl.ts';
import { Kubectl } from './kubectl.ts';
import { until } from '../../src/testing/until.ts';
import { SESSIONS } from './sessions/sessions.ts';
import type { Step } from './sessions/sessions.ts';
import { definition, kit, widget } from './widgets.ts';

const missing = missingClusterPrograms() ?? (findKubernetesProgram('kubectl') === undefined ? 'kubectl was not found' : undefined);
const minor = missing === undefined ? await apiServerMinor() : 0;

/** Replaces what differs between two runs on the same server. */
function plain(text: string): string {
  return (
    text
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME')
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC/g, 'TIME')
      .replaceAll(/(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w+ \d{4} \d\d:\d\d:\d\d [-+]\d{4}/g, 'TIME')
      .replaceAll(/(resourceVersion"?: ?"?)\d+/gi, '$1N')
      .replaceAll(/(Resource Version: +)\d+/g, '$1N')
      .replaceAll(/\b(?:(?:\d+m)?\d+(?:\.\d+)?(?:ms|s)|[1-5]?\dm|\d{1,3}d)\b/g, 'AGE')
      .replaceAll(/\b10\.(?:9[6-9]|10\d|11[01])\.\d+\.\d+/g, 'CLUSTERIP')
      .replaceAll(/^[IWE]\d{4} .*\n/gm, '')
      .replaceAll(/127\.0\.0\.1:\d+/g, 'SERVER')
      // Releases before 1.34 repeat the name of the field.
      .replaceAll(/\b(?:kind|name|uid) must not be empty/g, 'must not be empty')
      .replaceAll(/\/tmp\/\S*(?:LIVE|MERGED)\S*/g, 'FILE')
      // A real API server lists the invalid fields in the random order of a Go map.
      .replaceAll(/(?:^\* .*\n)+/gm, (lines) => lines.split('\n').toSorted().join('\n'))
      .replaceAll(/ +/g, ' ')
      .replaceAll(/ +$/gm, '')
  );
}

async function take(kubectl: Kubectl, step: Step): Promise<KubectlResult> {
  if (step.edit !== undefined) return kubectl.edit(step.args, step.edit);
  if (step.args.includes('--timeout=1s')) return kubectl.waitUntilTimeout(step.args);
  const result = await kubectl.run(step.args, step.input);
  if (step.eventually !== true || result.code === 0) return result;
  await until(`kubectl ${step.args.join(' ')} succeeds`, async () => (await kubectl.run(step.args, step.input)).code === 0);
  return kubectl.run(step.args, step.input);
}

function shown(step: Step, result: KubectlResult | undefined): object {
  const { code = -1, stdout = '', stderr = '' } = result ?? {};
  return step.compare === 'code' ? { code } : { code, stdout: plain(stdout), stderr: plain(stderr) };
}

/**
 * Whether a foreground deletion ends. A garbage collector learns of a new kind within half a minute, and misses a deletion that falls into
 * the moment when it does.
 */
async function collects(kubectl: Kubectl): Promise<boolean> {
  const at = ['kit', 'collected', '-n', 'sides'];
  await kubectl.ok(['create', '-f', '-'], JSON.stringify({ ...kit('collected'), metadata: { name: 'collected', namespace: 'sides' } }));
  await kubectl.ok(['delete', ...at, '--cascade=foreground', '--wait=false']);
  const { code } = await kubectl.run(['wait', '--for=delete', ...at, '--timeout=5s']);
  if (code !== 0) await kubectl.run(['patch', ...at, '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
  return code === 0;
}

describe('kubectl prints the same for the laboratory and for a real cluster', { skip: missing ?? false }, () => {
  let directory: string;
  let lab: LabApiServer;
  let real: RealCluster;
  let sides: readonly { readonly name: string; readonly kubectl: Kubectl }[];

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kiln-sides-'));
    lab = new LabApiServer({ dataDir: directory });
    real = new RealCluster();
    await Promise.all([lab.start(), real.start()]);
    sides = [
      { name: 'lab', kubectl: new Kubectl(join(directory, 'kubeconfig'), join(directory, 'lab')) },
      { name: 'real', kubectl: new Kubectl(real.kubeconfig, join(directory, 'real')) },
    ];
    const crds = [definition('widgets', 'Widget', 'Cluster'), definition('kits', 'Kit', 'Namespaced')];
    for (const { kubectl } of sides) {
      await kubectl.ok(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: crds }));
      await kubectl.established();
      await until('both kinds are served', async () => (await kubectl.run(['get', 'kits,widgets'])).code === 0);
      await kubectl.ok(['create', 'ns', 'sides']);
      // A server accepts objects of a new kind a moment after it lists it.
      const tried = [widget('tried'), { ...kit('tried'), metadata: { name: 'tried', namespace: 'sides' } }];
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: tried });
      await until('both kinds are taken', async () => (await kubectl.run(['create', '--dry-run=server', '-f', '-'], list)).code === 0);
      await until('the garbage collector knows the kind', () => collects(kubectl));
    }
  });
  after(async () => {
    await lab?.stop();
    await real?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  for (const { name, since = 0, steps } of SESSIONS) {
    if (minor < since) {
      process.stdout.write(`not asked of Kubernetes 1.${minor}: ${name} (first in Kubernetes 1.${since})\n`);
      continue;
    }
    test(name, { timeout: 2_400_000 }, async () => {
      const different: object[] = [];
      for (const step of steps) {
        const [ours, theirs] = await Promise.all(sides.map(({ kubectl }) => take(kubectl, step)));
        const [lab_, real_] = [shown(step, ours), shown(step, theirs)];
        if (!isDeepStrictEqual(lab_, real_)) different.push({ typed: step.args.join(' '), lab: lab_, real: real_ });
      }
      assert.deepEqual(different, []);
    });
  }
});
