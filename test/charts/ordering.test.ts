/**
 * The example of the library chart: Vpc, Subnet, Namespace and Deployment at once, in every order, come up right the first time, and again after
 * they were uninstalled. On a real kube-apiserver, which has Jobs, with stand-ins for kubelets: no container runs, and a test runs what the hook does.
 */
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { findKubernetesProgram } from '../../lab/programs/kubernetes.ts';
import { findOvn } from '../../lab/programs/ovn.ts';
import { ProgramError } from '../../lab/programs/run-program.ts';
import { runHere } from '../../src/cli/testing/command-here.ts';
import { LONG_RUN } from '../../src/testing/long-run.ts';
import { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { treeSeed } from '../../src/testing/tree-seed.ts';
import { Random } from '../sim/cluster/random.ts';
import { CHARTS, Helm, objectsOf, type Rendered, withoutHelm } from './helm.ts';

const skip =
  withoutHelm ||
  (findOvn() === undefined && 'OVN was not found') ||
  (findKubernetesProgram('kube-apiserver') === undefined && 'kube-apiserver was not found');
const ROUNDS = LONG_RUN ? 20 : 3;

let folder: string;
let chart: string;
let helm: Helm;
let cluster: ScenarioCluster;
let objects: readonly Rendered[];

before(async () => {
  if (skip !== false) return;
  folder = await mkdtemp(join(tmpdir(), 'kiln-ordering-'));
  for (const name of ['kiln-ordering', 'kiln-example']) await cp(join(CHARTS, name), join(folder, name), { recursive: true });
  chart = join(folder, 'kiln-example');
  cluster = await ScenarioCluster.start({ api: 'real' });
  helm = new Helm(folder, cluster.api.kubeconfig);
  await helm.run('dependency', 'build', chart);
  objects = objectsOf(await helm.run('template', 'shop', chart));
  await cluster.startController().untilLogged('writing');
});
after(async () => {
  await cluster?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true });
});

/** Both pods run in the Subnet of the chart, which they had from the beginning. */
async function upAndRight(): Promise<void> {
  await cluster.eventually('two pods run', async () => {
    const pods = await Promise.all((await cluster.names('pod', 'shop')).map((name) => cluster.get('pod', name, 'shop')));
    assert.deepEqual(
      pods.map(({ status }) => status?.['phase']),
      ['Running', 'Running'],
    );
    return true;
  });
  for (const name of await cluster.names('pod', 'shop')) {
    const { metadata, status } = await cluster.get('pod', name, 'shop');
    assert.equal(metadata.annotations?.['ovn.kubernetes.io/logical_switch'], 'shop-web');
    assert.match(metadata.annotations['ovn.kubernetes.io/ip_address'] ?? '', /^10\.60\.0\./);
    // A pod that waited says so until its condition is written anew.
    assert.ok(!(status?.conditions ?? []).some(({ reason }) => reason === 'Misbound'), `${name} is not misbound`);
  }
}

async function untilNothingIsLeft(): Promise<void> {
  await cluster.eventually('all of it is gone', async () => {
    assert.equal(await cluster.find('namespace', 'shop'), undefined);
    for (const kind of ['vpc', 'subnet', 'ip'])
      assert.deepEqual(
        (await cluster.names(kind)).filter((name) => name.includes('shop')),
        [],
        kind,
      );
    return true;
  });
  const rows = [...(await cluster.dump())].flatMap(([table, all]) => (table === 'Connection' ? [] : all.map((row) => JSON.stringify(row))));
  assert.deepEqual(
    rows.filter((row) => row.includes('shop')),
    [],
  );
}

const yamlOf = (some: readonly Rendered[]): string => some.map((object) => stringify(object)).join('---\n');

/** One after the other, as a program does that knows no order: what the API server does not take yet, since the namespace is missing, comes again. */
async function inOrder(order: readonly Rendered[]): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await cluster.applyAtOnce(yamlOf(order));
    } catch (error) {
      if (!(error instanceof ProgramError) || !/namespaces "shop" not found/.test(error.stderr) || tries > 2) throw error;
    }
  }
}

test(`${ROUNDS} times in a row, in random order, it comes up right the first time, and leaves nothing`, { skip }, async () => {
  const random = new Random(treeSeed());
  const shuffled = (): readonly Rendered[] =>
    objects
      .map((object) => ({ object, at: random.next() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ object }) => object);
  for (let round = 0; round < ROUNDS; round++) {
    const order = shuffled();
    const text = `round ${round}: ${order.map(({ kind }) => kind).join()}`;
    try {
      await inOrder(order);
      await upAndRight();
      await cluster.deleteAll(yamlOf(shuffled()));
      await untilNothingIsLeft();
    } catch (error) {
      throw new Error(text, { cause: error });
    }
  }
  await cluster.freshPlanIsEmpty();
});

test('pods that are there long before their Subnet wait for it, and are not bound elsewhere', { skip }, async () => {
  const isNetwork = ({ apiVersion }: Rendered): boolean => apiVersion.startsWith('kubeovn.io/');
  await inOrder(objects.filter((object) => !isNetwork(object)));
  await cluster.eventually('the controller has looked at both pods', async () => {
    const pods = await Promise.all((await cluster.names('pod', 'shop')).map((name) => cluster.get('pod', name, 'shop')));
    const looked = pods.filter(
      ({ metadata, status }) =>
        metadata.annotations?.['ovn.kubernetes.io/ip_address'] !== undefined ||
        (status?.conditions ?? []).some(({ type, status: bound }) => type === 'kiln.io/NetworkBound' && bound === 'False'),
    );
    return looked.length === 2;
  });
  await inOrder(objects.filter(isNetwork));
  await upAndRight();
  await cluster.deleteAll(yamlOf(objects));
  await untilNothingIsLeft();
});

test('Helm installs, uninstalls and installs it again', { skip }, async () => {
  for (let round = 0; round < 2; round++) {
    await helm.run('install', 'shop', chart, '--wait', '--timeout', '2m');
    await upAndRight();
    await helm.run('uninstall', 'shop', '--wait', '--timeout', '2m');
    await untilNothingIsLeft();
  }
});

test(
  'with the hook, helm install ends when the network is ready; it has the rights that the library gives, and no others',
  { skip },
  async () => {
    const installed = helm.run('install', 'shop', chart, '--set', 'hook=true', '--timeout', '2m');
    const job = await cluster.eventually('Helm runs the hook', async () => {
      const found = await cluster.kubectl(['get', 'job', 'shop-ready', '-o', 'json']);
      return JSON.parse(found) as {
        readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { readonly args: readonly string[] }[] } } };
      };
    });
    const token = (await cluster.kubectl(['create', 'token', 'shop-ready'])).trim();
    const { users, ...rest } = parse(await readFile(cluster.api.kubeconfig, 'utf8')) as {
      readonly users: readonly { readonly name: string }[];
    };
    const kubeconfig = join(folder, 'hook.kubeconfig');
    await writeFile(kubeconfig, stringify({ ...rest, users: users.map(({ name }) => ({ name, user: { token } })) }));
    // In place of the container.
    const { exit, err } = await runHere([...(job.spec.template.spec.containers[0]?.args ?? []), `--kubeconfig=${kubeconfig}`]);
    assert.equal(exit, 0, err);
    const other = await runHere(['wait', 'subnet/ovn-default', `--kubeconfig=${kubeconfig}`, '--for=Ready', '--timeout=0']);
    assert.equal(other.exit, 3, other.err);
    const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({ type, status: 'True' }));
    const complete = { status: { active: null, succeeded: 1, completionTime: new Date().toISOString(), conditions } };
    await cluster.eventually('the job has begun', async () => {
      const begun = await cluster.kubectl(['get', 'job', 'shop-ready', '-o', 'jsonpath={.status.startTime}']);
      return begun !== '';
    });
    await cluster.kubectl(['patch', 'job', 'shop-ready', '--subresource=status', '--type=merge', '-p', JSON.stringify(complete)]);
    await installed;
    await upAndRight();
    await helm.run('uninstall', 'shop', '--wait', '--timeout', '2m');
    await untilNothingIsLeft();
  },
);

test('the library refuses an object whose kind it does not know', { skip }, async () => {
  await writeFile(
    join(chart, 'templates/wrong.yaml'),
    '{{ include "kiln-ordering.rights" (dict "name" "a" "namespace" "b" "account" "c" "objects" (list "pod/x")) }}\n',
  );
  assert.match(await helm.fails('template', 'shop', chart), /pod\/x is none of .*subnet, .*with a name after a slash/);
});
