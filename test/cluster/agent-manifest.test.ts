/** The node agent as its DaemonSet runs it, with the capabilities of deploy/agent.yaml and no others, beside an Open vSwitch of the node. */
import assert from 'node:assert/strict';
import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { hostImage, type Image } from '../../lab/cluster/images.ts';
import { KubernetesCluster } from '../../lab/cluster/kubernetes-cluster.ts';
import { findNodePrograms } from '../../lab/cluster/node-programs.ts';
import { onPath } from '../../lab/programs/executable.ts';
import { makeTemporaryFolder } from '../../lab/temporary-folder.ts';
import { buildExecutable } from '../../scripts/build/executable.ts';
import { buildPrograms } from '../../scripts/build/programs.ts';
import { VERSION } from '../../src/runtime/version.ts';
import { deployed } from '../../src/testing/controller-account.ts';
import { ask, deployment, gone, inPod, nothingLeft, podsOf, rolledOut } from './workloads.ts';

/** What the image has beside the agent. */
const PROGRAMS = ['ip', 'nft', 'ethtool', 'sysctl', 'nsenter', 'setpriv', 'mount'] as const;
const skip = [findNodePrograms()].find((found) => typeof found === 'string') ?? false;
let cluster: KubernetesCluster;
let folder: string;

async function image(plugin: string, into: string): Promise<Image> {
  const dist = join(folder, 'dist');
  await buildPrograms({ programs: { kiln: 'src/cli/built.ts' }, directory: dist });
  const paths = PROGRAMS.map((program) => onPath(program) ?? assert.fail(`${program} is not installed`));
  return await hostImage(
    {
      name: `docker.io/library/kiln-agent:${VERSION}`,
      programs: [process.execPath, ...paths],
      files: { 'kiln/dist': dist, 'kiln/dist/kiln-cni': plugin },
      entrypoint: ['/bin/node', '/kiln/dist/kiln.mjs'],
    },
    into,
  );
}

before(async () => {
  if (skip !== false) return;
  folder = await makeTemporaryFolder('kiln-manifests-');
  const plugin = join(folder, 'kiln-cni');
  await buildExecutable('src/cni/main.ts', plugin);
  cluster = await KubernetesCluster.start({ plugin, images: async (into) => [await image(plugin, into)] });
  await rolledOut(cluster, 'deployment/coredns', 'kube-system');
});
after(async () => {
  await cluster?.[Symbol.asyncDispose]();
  if (skip === false) await rm(folder, { recursive: true });
});

test('the DaemonSet takes over from the agent of the laboratory: pods start, reach each other, and leave nothing', { skip }, async () => {
  for (const node of cluster.nodes) {
    await node.kill('kiln-agent');
    // Where an Open vSwitch of the node has its sockets.
    const ovs = join(node.directory, 'ovs');
    await node.machine.run('sh', '-c', 'mkdir -p /run/openvswitch && mount --bind "$1" /run/openvswitch', 'mount', ovs);
    const socket = join(node.directory, 'agent.sock');
    await rm(socket, { force: true });
    await symlink(join(ovs, 'kube-ovn-daemon.sock'), socket);
    await cluster.kubectl('label', 'node', node.name, 'kiln.io/ovs=host');
  }
  const { ovn } = cluster;
  const literals = [`--from-literal=nb=${ovn.nbEndpoint}`, `--from-literal=sb=${ovn.sbEndpoint}`];
  await cluster.kubectl('-n', 'kube-system', 'create', 'configmap', 'kiln-ovn', ...literals);
  const manifest = deployed('agent.yaml')
    .replace('- --southbound=$(OVN_SB)', '- --southbound=$(OVN_SB)\n            - --datapath=netdev')
    // The host's, which the nodes of the laboratory have in common.
    .replace('path: /opt/cni/bin', 'path: /var/lib/kiln/cni/bin')
    .replace('path: /etc/cni/net.d', 'path: /var/lib/kiln/cni/net.d');
  await cluster.control.kubectl(['apply', '-f', '-'], manifest);
  await rolledOut(cluster, 'daemonset/kiln-agent', 'kube-system');
  const switches = await cluster.kubectl(
    '-n',
    'kube-system',
    'get',
    'daemonset',
    'kiln-ovs',
    '--output=jsonpath={.status.desiredNumberScheduled}',
  );
  assert.equal(switches, '0', 'none on nodes with an Open vSwitch of their own');
  for (const { machine } of cluster.nodes)
    assert.match(
      await machine.run('ls', '/var/lib/kiln/cni/bin', '/var/lib/kiln/cni/net.d'),
      /kiln-cni\nkube-ovn\n[^]*01-kube-ovn\.conflist/,
    );

  await cluster.apply(deployment('web', 4));
  await rolledOut(cluster, 'deployment/web');
  const pods = await podsOf(cluster, 'web');
  assert.equal(new Set(pods.map(({ node }) => node)).size, 2, 'on both nodes');
  for (const pod of pods) {
    const answers = await inPod(cluster, pod, pods.flatMap(({ addresses }) => addresses.map((address) => ask(address))).join('; '));
    assert.deepEqual(
      answers.split('\n'),
      pods.map(({ name }) => name),
    );
  }
  await nothingLeft(cluster);
  const status = await cluster.kubectl(
    '-n',
    'kube-system',
    'exec',
    'daemonset/kiln-agent',
    '--',
    '/bin/node',
    '/kiln/dist/kiln.mjs',
    'agent',
    'status',
  );
  assert.match(status, /node-\d/);
  await cluster.kubectl('delete', 'deployment/web');
  await gone(cluster, 'web');
  await nothingLeft(cluster);
});
