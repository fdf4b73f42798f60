/** The manifests of OVN, Open vSwitch and the controller on real kubelets: they start in the order in which they need each other, with nothing edited. */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseAllDocuments, stringify } from 'yaml';
import { hostImage, type Image } from '../../lab/cluster/images.ts';
import { KubernetesCluster } from '../../lab/cluster/kubernetes-cluster.ts';
import { findNodePrograms } from '../../lab/cluster/node-programs.ts';
import { onPath } from '../../lab/programs/executable.ts';
import { makeTemporaryFolder } from '../../lab/temporary-folder.ts';
import { buildExecutable } from '../../scripts/build/executable.ts';
import { buildPrograms } from '../../scripts/build/programs.ts';
import { deployed } from '../../src/testing/controller-account.ts';
import { eventually } from '../../src/testing/until.ts';
import { VERSION } from '../../src/runtime/version.ts';

const PROGRAMS = [
  ...['ovsdb-server', 'ovsdb-tool', 'ovsdb-client', 'ovn-northd', 'ovn-nbctl', 'ovn-sbctl', 'ovn-appctl'],
  ...['ovs-vswitchd', 'ovs-vsctl', 'ovs-appctl', 'ovn-controller'],
] as const;
const skip = [findNodePrograms()].find((found) => typeof found === 'string') ?? false;
let cluster: KubernetesCluster;
let folder: string;

/** The images of the Containerfile, of this host's programs. */
async function images(into: string): Promise<readonly Image[]> {
  const dist = join(folder, 'dist');
  await buildPrograms({ programs: { kiln: 'src/cli/built.ts' }, directory: dist });
  const entrypoint = ['/bin/node', '/kiln/dist/kiln.mjs'] as const;
  const image = (name: string, programs: readonly string[], files: Readonly<Record<string, string>>): Promise<Image> => {
    const paths = programs.map((program) => onPath(program) ?? assert.fail(`${program} is not installed`));
    const whole = { 'kiln/dist': dist, ...files };
    return hostImage(
      { name: `docker.io/library/${name}:${VERSION}`, programs: [process.execPath, ...paths], files: whole, entrypoint },
      into,
    );
  };
  const schemas = { 'usr/share/ovn': '/usr/share/ovn', 'usr/share/openvswitch': '/usr/share/openvswitch' };
  return [await image('kiln-ovn', PROGRAMS, schemas), await image('kiln', [], {})];
}

before(async () => {
  if (skip !== false) return;
  folder = await makeTemporaryFolder('kiln-manifests-');
  const plugin = join(folder, 'kiln-cni');
  await buildExecutable('src/cni/main.ts', plugin);
  cluster = await KubernetesCluster.start({ plugin, nodes: 3, images });
});
after(async () => {
  await cluster?.[Symbol.asyncDispose]();
  if (skip === false) await rm(folder, { recursive: true });
});

const rollout = async (what: string): Promise<string> =>
  await cluster.kubectl('-n', 'kube-system', 'rollout', 'status', what, '--timeout=300s');
const inMember = async (...command: readonly string[]): Promise<string> =>
  await cluster.kubectl('-n', 'kube-system', 'exec', 'daemonset/kiln-ovn-central', '--', ...command);

test('members of OVN, the controller and Open vSwitch become ready by themselves', { skip }, async (context) => {
  for (const { name } of cluster.nodes) await cluster.kubectl('label', 'node', name, 'node-role.kubernetes.io/control-plane=');
  // The agent of the laboratory runs already.
  const switches = parseAllDocuments(deployed('agent.yaml')).map(
    (document) => document.toJS() as { readonly metadata: { readonly name: string } },
  );
  const manifests = [
    // In the order of their names, as kubectl applies a folder.
    ...switches.filter(({ metadata }) => metadata.name === 'kiln-ovs').map((object) => stringify(object)),
    ...['controller.yaml', 'crds.yaml', 'ovn-central.yaml', 'rbac.yaml', 'webhook.yaml'].map(deployed),
  ];
  const begun = performance.now();
  await cluster.control.kubectl(['apply', '-f', '-'], manifests.join('---\n'));
  for (const what of ['daemonset/kiln-ovn-central', 'deployment/kiln-controller']) await rollout(what);
  context.diagnostic(`ready after ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  // It replaces no pod by itself, and so has no status of a rollout.
  await cluster.kubectl('-n', 'kube-system', 'wait', '--for=condition=Ready', 'pod', '-l', 'app=kiln-ovs', '--timeout=300s');
  const status = await inMember('ovs-appctl', '-t', '/run/ovn/ovnnb_db.ctl', 'cluster/status', 'OVN_Northbound');
  assert.equal(status.match(/ at ssl:172\.18\./g)?.length, 3, status);
  const file = (what: string): string => `/var/lib/kiln/ovn/tls/northd-${what}`;
  const keys = [`--private-key=${file('key')}`, `--certificate=${file('cert')}`, `--ca-cert=${file('cacert')}`];
  for (const [tool, port] of [
    ['ovn-nbctl', 6641],
    ['ovn-sbctl', 6642],
  ] as const)
    // The ports of clients.
    await inMember(tool, '--no-leader-only', `--db=ssl:127.0.0.1:${port}`, ...keys, 'show');
});

test('a member that is deleted comes back, and no container was started again', { skip }, async () => {
  const pods = async (): Promise<readonly { readonly name: string; readonly restarts: number }[]> => {
    const { items } = JSON.parse(
      await cluster.kubectl('-n', 'kube-system', 'get', 'pods', '-l', 'app.kubernetes.io/name=kiln', '-o', 'json'),
    ) as {
      readonly items: readonly {
        readonly metadata: { readonly name: string };
        readonly status: { readonly containerStatuses?: readonly { readonly restartCount: number }[] };
      }[];
    };
    return items.map(({ metadata, status }) => ({
      name: metadata.name,
      restarts: (status.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0),
    }));
  };
  const member = (await pods()).find(({ name }) => name.startsWith('kiln-ovn-central')) ?? assert.fail('there is a member');
  await cluster.kubectl('-n', 'kube-system', 'delete', 'pod', member.name);
  await rollout('daemonset/kiln-ovn-central');
  await eventually('three servers', async () => {
    const status = await inMember('ovs-appctl', '-t', '/run/ovn/ovnsb_db.ctl', 'cluster/status', 'OVN_Southbound');
    return status.match(/ at ssl:172\.18\./g)?.length === 3;
  });
  assert.deepEqual(
    (await pods()).filter(({ restarts }) => restarts > 0),
    [],
  );
});
