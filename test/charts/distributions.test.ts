/**
 * The chart on nodes as five distributions label and taint them, with the real Helm, API server, controllers and scheduler: every pod finds a node, in
 * clusters of one node too, rollouts end, and the plugin goes where the runtime of the distribution looks. No container runs.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { LabNode } from '../../lab/kubelet/lab-node.ts';
import { StandInKubelet } from '../../lab/kubelet/stand-in-kubelet.ts';
import { findKubernetesProgram } from '../../lab/programs/kubernetes.ts';
import { missingClusterPrograms, RealCluster } from '../../lab/real-cluster/real-cluster.ts';
import { KubeClient } from '../../src/kube/client/client.ts';
import { connectionFromKubeconfig } from '../../src/kube/transport/connection.ts';
import { KubeTransport } from '../../src/kube/transport/transport.ts';
import { Helm, KILN_CHART, type Rendered, withoutHelm } from './helm.ts';

const skip =
  withoutHelm ||
  (missingClusterPrograms() ??
    (findKubernetesProgram('kube-scheduler') === undefined && 'kube-scheduler was not found: run `node scripts/setup.mjs test`'));
/** What needs no node. */
const FEWER = ['--set', 'parts.crds=false,parts.policies=false,parts.webhook=false'] as const;
const IN = ['-n', 'kube-system'] as const;

type Taints = NonNullable<LabNode['taints']>;
const OF_CONTROL_PLANE: Taints = [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }];
/** As k3s and RKE2 advise for servers that run nothing of users. */
const CRITICAL_ONLY: Taints = [{ key: 'CriticalAddonsOnly', value: 'true', effect: 'NoExecute' }];
/** Until a CNI plugin is there. */
const NOT_READY: Taints = [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }];

interface Distribution {
  readonly servers: number;
  readonly agents: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints?: Taints;
  readonly bin: string;
  readonly conf: string;
}

const STANDARD = { bin: '/opt/cni/bin', conf: '/etc/cni/net.d' } as const;
const ROLE = 'node-role.kubernetes.io/control-plane';
const DISTRIBUTIONS: Readonly<Record<string, Distribution>> = {
  kubeadm: { servers: 1, agents: 1, labels: { [ROLE]: '' }, taints: OF_CONTROL_PLANE, ...STANDARD },
  k3s: {
    ...{ servers: 1, agents: 0, labels: { [ROLE]: 'true', 'node-role.kubernetes.io/master': 'true' } },
    ...{ bin: '/var/lib/rancher/k3s/data/cni', conf: '/var/lib/rancher/k3s/agent/etc/cni/net.d' },
  },
  rke2: { servers: 3, agents: 1, labels: { [ROLE]: 'true', 'node-role.kubernetes.io/etcd': 'true' }, taints: CRITICAL_ONLY, ...STANDARD },
  talos: { servers: 3, agents: 2, labels: { [ROLE]: '' }, taints: OF_CONTROL_PLANE, ...STANDARD },
  microk8s: {
    ...{ servers: 1, agents: 0 },
    labels: { 'microk8s.io/cluster': 'true', 'node.kubernetes.io/microk8s-controlplane': 'microk8s-controlplane' },
    ...{ bin: '/var/snap/microk8s/current/opt/cni/bin', conf: '/var/snap/microk8s/current/args/cni-network' },
  },
};

let folder: string;
let real: RealCluster;
let helm: Helm;
let client: KubeClient;

before(async () => {
  if (skip !== false) return;
  folder = await mkdtemp(join(tmpdir(), 'kiln-distributions-'));
  real = new RealCluster({ scheduler: true });
  await real.start();
  client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: real.kubeconfig })));
  helm = new Helm(folder, real.kubeconfig);
});
after(async () => {
  if (skip !== false) return;
  await client.close();
  await real.stop();
  await rm(folder, { recursive: true });
});

function nodesOf(name: string, { servers, agents, labels, taints = [] }: Distribution): readonly LabNode[] {
  return Array.from({ length: servers + agents }, (_, at) => {
    const node = `${name}-${at}`;
    const isServer = at < servers;
    const common = { 'kubernetes.io/hostname': node, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' };
    return {
      name: node,
      addresses: [`172.18.0.${at + 2}`],
      labels: { ...common, ...(isServer && labels) },
      taints: [...NOT_READY, ...(isServer ? taints : [])],
    };
  });
}

/** Its nodes with the stand-in for kubelets, until the result is disposed of. */
async function nodes(name: string, distribution: Distribution): Promise<AsyncDisposable> {
  const kubelet = new StandInKubelet({ client, nodes: nodesOf(name, distribution), bindsPods: false });
  await kubelet.start();
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      await helm.run('uninstall', 'kiln', ...IN, '--wait', '--timeout', '60s').catch(() => {});
      await kubelet.stop();
      await real.kubectl(['delete', 'nodes', '--all']);
    },
  };
}

async function rolledOut(): Promise<void> {
  for (const workload of ['deployment/kiln-controller', 'daemonset/kiln-agent', 'daemonset/kiln-ovn-central'])
    await real.kubectl(['rollout', 'status', workload, ...IN, '--timeout=60s']);
}

async function get<T>(...args: readonly string[]): Promise<T> {
  return JSON.parse(await real.kubectl(['get', ...args, ...IN, '-o', 'json'])) as T;
}

interface Pod {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName?: string };
}

for (const [name, distribution] of Object.entries(DISTRIBUTIONS))
  test(`${name}: every pod finds a node, and a rollout of all ends`, { skip }, async () => {
    const { servers, agents, bin, conf } = distribution;
    await using _ = await nodes(name, distribution);
    await helm.run('install', 'kiln', KILN_CHART, ...IN, ...FEWER, '--set', `distribution=${name}`);
    await rolledOut();
    const { items } = await get<{ readonly items: readonly Pod[] }>('pods');
    const named = (part: string): number => items.filter(({ metadata }) => metadata.name.startsWith(part)).length;
    assert.deepEqual(
      items.filter(({ spec }) => spec.nodeName === undefined).map(({ metadata }) => metadata.name),
      [],
    );
    assert.equal(named('kiln-ovn-central-'), servers);
    assert.equal(named('kiln-agent-'), servers + agents);
    assert.equal(named('kiln-ovs-'), servers + agents);
    const controllers = items.filter(({ metadata }) => metadata.name.startsWith('kiln-controller-'));
    assert.equal(controllers.length, 2);
    const taken = new Set(controllers.map(({ spec }) => spec.nodeName));
    // Taints of servers that run nothing of users hold for it.
    const untainted = distribution.taints === CRITICAL_ONLY ? agents : servers + agents;
    assert.equal(taken.size, Math.min(2, untainted));
    const agent = await get<Rendered>('daemonset', 'kiln-agent');
    const volumes = JSON.stringify(agent);
    for (const path of [bin, conf]) assert.ok(volumes.includes(`"path":"${path}"`), path);

    // Members come one after the other, ten seconds each: they are no matter of this test.
    const all = ['controller', 'agent'].map((part) => `${part}.podAnnotations.example=changed`).join();
    await helm.run('upgrade', 'kiln', KILN_CHART, ...IN, ...FEWER, '--set', `distribution=${name},${all}`);
    await rolledOut();
    const { items: later } = await get<{ readonly items: readonly Pod[] }>('pods', '-l', 'app.kubernetes.io/component=controller');
    assert.equal(later.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length, 2);
  });

test('nodes without the label of members: the installation is refused, and names the label and the way out', { skip }, async () => {
  const { microk8s } = DISTRIBUTIONS;
  assert.ok(microk8s !== undefined);
  await using _ = await nodes('microk8s', microk8s);
  const failure = await helm.fails('install', 'kiln', KILN_CHART, ...IN, ...FEWER);
  assert.match(failure, /no node has label node-role\.kubernetes\.io\/control-plane, so OVN would have no member/);
  assert.match(failure, /kubectl label node NAME .*ovn\.nodeLabel.*distribution=microk8s/);
  // Members elsewhere, or none, are another matter.
  await helm.run('template', 'kiln', KILN_CHART, '--set', 'parts.ovn=false,ovn.nb=tcp:10.0.0.1:6641,ovn.sb=tcp:10.0.0.1:6642');
  await helm.run('install', 'kiln', KILN_CHART, ...IN, ...FEWER, '--set', 'ovn.nodeLabel=microk8s.io/cluster');
});

for (const [version, expected] of [
  ['v1.34.4+k3s1', 'k3s'],
  ['v1.34.4+rke2r1', 'rke2'],
  ['v1.34.4', 'kubeadm'],
] as const)
  test(`an API server of version ${version}: the places of ${expected}, without a value`, { skip }, async () => {
    await using server = await apiServerOfVersion(version);
    const printed = await server.helm.run('install', 'kiln', KILN_CHART, ...IN, ...FEWER, '--dry-run=server');
    for (const place of ['bin', 'conf'] as const) assert.ok(printed.includes(`path: ${DISTRIBUTIONS[expected]?.[place]}\n`), printed);
  });

test('values come before the distribution', { skip }, async () => {
  const agent = async (...values: readonly string[]): Promise<PodSpec | undefined> => {
    const objects = await helm.template('--set', values.join());
    const found = objects.find(({ kind, metadata }) => kind === 'DaemonSet' && metadata.name === 'kiln-agent');
    return (found?.['spec'] as { readonly template: { readonly spec: PodSpec } } | undefined)?.template.spec;
  };
  const spec = await agent('distribution=k3s', 'agent.cniBin=/opt/other');
  const paths = spec?.volumes.flatMap(({ hostPath }) => hostPath?.path ?? []) ?? [];
  assert.ok(paths.includes('/opt/other') && paths.includes(DISTRIBUTIONS['k3s']?.conf ?? ''), paths.join());
});

/** The API server, as that of a distribution: but for its version, what it answers is the real one's. */
async function apiServerOfVersion(gitVersion: string): Promise<AsyncDisposable & { readonly helm: Helm }> {
  const ca = await real.caCertificate();
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/version') === true)
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify({ major: '1', minor: '34', gitVersion }));
    const headers = { ...request.headers, authorization: `Bearer ${real.adminToken}` };
    const asked = httpsRequest(new URL(request.url ?? '/', real.server), { method: request.method, headers, ca }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    return void request.pipe(asked);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const kubeconfig = join(folder, `${gitVersion}.kubeconfig`);
  const { port } = server.address() as AddressInfo;
  const named = { clusters: [{ name: 'x', cluster: { server: `http://127.0.0.1:${port}` } }], users: [{ name: 'x', user: {} }] };
  const contexts = [{ name: 'x', context: { cluster: 'x', user: 'x' } }];
  await writeFile(kubeconfig, JSON.stringify({ apiVersion: 'v1', kind: 'Config', 'current-context': 'x', contexts, ...named }));
  return {
    helm: new Helm(join(folder, gitVersion), kubeconfig),
    async [Symbol.asyncDispose](): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

interface PodSpec {
  readonly volumes: readonly { readonly name: string; readonly hostPath?: { readonly path: string } }[];
}
