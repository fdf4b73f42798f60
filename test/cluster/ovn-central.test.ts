/** OVN's central part with three members: one is killed, one loses its disk, all lose power; the controller and ovn-controllers go on. */
import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { LabApiServer } from '../../lab/apiserver/server.ts';
import { installCrds } from '../../lab/crd-installation.ts';
import { PortForward } from '../../lab/node/port-forward.ts';
import { PacketNode } from '../../lab/node/packet-node.ts';
import { whyNoPackets } from '../../lab/node/requirements.ts';
import { Underlay } from '../../lab/node/underlay.ts';
import { Daemon } from '../../lab/programs/daemon.ts';
import { findOvn } from '../../lab/programs/ovn.ts';
import { runProgram } from '../../lab/programs/run-program.ts';
import { makeTemporaryFolder } from '../../lab/temporary-folder.ts';
import { DATABASE_NAMES } from '../../src/central/databases.ts';
import { KubeClient } from '../../src/kube/client/client.ts';
import type { KubeObject, Resource } from '../../src/kube/resource.ts';
import { connectionFromKubeconfig } from '../../src/kube/transport/connection.ts';
import { KubeTransport } from '../../src/kube/transport/transport.ts';
import { eventually } from '../../src/testing/until.ts';
import { CentralMember, CONFIG_MAPS, memberAccount, SECRETS } from './central-members.ts';

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts');
const SUBNETS: Resource = { group: 'kubeovn.io', version: 'v1', plural: 'subnets', kind: 'Subnet', namespaced: false };
const installation = findOvn();
const skip = whyNoPackets() ?? (installation === undefined && 'OVN is not installed');
const stops: (() => Promise<unknown>)[] = [];
let directory: string;
let api: LabApiServer;
let client: KubeClient;
let underlay: Underlay;
let members: readonly CentralMember[] = [];
const nodes: PacketNode[] = [];
let controllerKeys: readonly string[];

interface WithData extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

before(async () => {
  if (skip !== false) return;
  directory = await makeTemporaryFolder('kiln-central-');
  stops.unshift(() => rm(directory, { recursive: true, force: true }));
  api = new LabApiServer();
  await api.start();
  stops.unshift(() => api.stop());
  const admin = join(directory, 'kubeconfig');
  await api.writeKubeconfig(admin);
  client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: admin })));
  stops.unshift(() => client.close());
  await installCrds(client);
  underlay = await Underlay.create();
  stops.unshift(() => underlay.delete());
  const kubeconfig = await memberAccount(client, admin);
  const options = { api, client, kubeconfig, underlay, directory };
  const made: CentralMember[] = [];
  for (const index of [1, 2, 3]) {
    const member = await CentralMember.create(index, options);
    stops.unshift(() => member.delete());
    made.push(member);
  }
  members = made;
});
after(async () => {
  for (const stop of stops) await stop();
});

const clients = async (): Promise<Readonly<Record<string, string>>> =>
  (await client.get<WithData>(CONFIG_MAPS, { namespace: 'kube-system', name: 'kiln-ovn' })).data ?? {};

/** Resolves when every member that runs is ready, and each database has these servers. */
async function whole(among: readonly CentralMember[] = members): Promise<void> {
  await eventually('all members serve', async () => {
    for (const member of among) {
      for (const name of DATABASE_NAMES) {
        const status = await member.status(name);
        assert.deepEqual(
          [...new Set(status?.servers.map(({ address }) => address))].toSorted(),
          members.map(({ address }) => address),
        );
        assert.equal(status?.servers.length, members.length, `${name} of ${member.name}`);
      }
      assert.ok(await member.isReady(), `${member.name} is ready`);
    }
    return true;
  });
}

/** Writes the keys of a Secret as files. @returns their paths: key, certificate, authorities */
async function keyFiles(secret: string): Promise<{ readonly key: string; readonly certificate: string; readonly authorities: string }> {
  const { data = {} } = await client.get<WithData>(SECRETS, { namespace: 'kube-system', name: secret });
  const folder = join(directory, secret);
  await mkdir(folder);
  for (const [name, text] of Object.entries(data)) await writeFile(join(folder, name), Buffer.from(text, 'base64'), { mode: 0o600 });
  return { key: join(folder, 'key'), certificate: join(folder, 'cert'), authorities: join(folder, 'cacert') };
}

async function leader(): Promise<CentralMember> {
  return await eventually('the Northbound database has a leader', async () => {
    for (const member of members) if ((await member.status('nb'))?.isLeader === true) return member;
    return undefined;
  });
}

/** A Subnet is made in Kubernetes; every ovn-controller says that it carries out what follows from it. @returns seconds */
async function subnetReachesAllNodes(name: string, cidr: string): Promise<number> {
  const begun = performance.now();
  await client.create(SUBNETS, { metadata: { name }, spec: { cidrBlock: cidr } } as KubeObject);
  const { nb = '' } = await clients();
  await eventually(`switch ${name} is in OVN, and all nodes know`, async () => {
    const nbctl = ['ovn-nbctl', `--db=${nb}`, ...controllerKeys, '--timeout=10'] as const;
    if (!(await runProgram(underlay.namespace.command(...nbctl, 'ls-list'))).includes(`(${name})`)) return false;
    await runProgram(underlay.namespace.command(...nbctl, '--wait=hv', 'sync'));
    return true;
  });
  return (performance.now() - begun) / 1000;
}

test('three members found one cluster, with keys, and the controller and ovn-controllers work with it', { skip }, async (context) => {
  const begun = performance.now();
  for (const member of members) member.start();
  await whole();
  context.diagnostic(`three members served after ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  const { nb = '', sb = '' } = await clients();
  assert.equal(nb, 'ssl:172.18.0.11:6641,ssl:172.18.0.12:6641,ssl:172.18.0.13:6641');
  assert.equal(sb, nb.replaceAll('6641', '6642'));

  const keys = await keyFiles('kube-ovn-tls');
  controllerKeys = [`--private-key=${keys.key}`, `--certificate=${keys.certificate}`, `--ca-cert=${keys.authorities}`];
  const forward = await PortForward.fromNamespace(underlay.namespace, Number(new URL(api.url).port), directory);
  stops.unshift(() => forward.stop());
  const flags = [`--kubeconfig=${join(directory, 'kubeconfig')}`, `--ovn-nb=${nb}`, '--metrics-bind-address=off', '--journal=off'];
  const tls = [`--ovn-key=${keys.key}`, `--ovn-cert=${keys.certificate}`, `--ovn-ca=${keys.authorities}`];
  const controller = new Daemon({
    name: 'kiln',
    command: underlay.namespace.command(process.execPath, MAIN, 'start', ...flags, ...tls),
    log: join(directory, 'controller.log'),
  });
  controller.start();
  stops.unshift(() => controller.stop());

  const nodeKeys = await keyFiles('kiln-ovn-node-tls');
  for (const index of [1, 2]) {
    const address = `172.18.0.2${index}` as const;
    const node = await PacketNode.start({
      name: `worker-${index}`,
      address: `${address}/16`,
      underlay,
      installation: installation as NonNullable<typeof installation>,
      directory: join(directory, `w${index}`),
      keys: nodeKeys,
    });
    stops.unshift(() => node.delete());
    nodes.push(node);
    const ids = {
      'ovn-remote': sb,
      'ovn-encap-type': 'geneve',
      'ovn-encap-ip': address,
      'system-id': node.name,
      'ovn-bridge-datapath-type': 'netdev',
    };
    await node.vswitch.vsctl(
      'set',
      'open',
      '.',
      ...Object.entries(ids).map(([key, value]) => `external_ids:${key}=${JSON.stringify(value)}`),
    );
    await node.vswitch.restart('ovn-controller');
  }
  const [first] = members;
  await eventually('both nodes are chassis', async () => {
    const found = await first?.tool('ovn-sbctl', '--bare', '--columns=name', 'list', 'chassis');
    return /worker-1/.test(found ?? '') && /worker-2/.test(found ?? '');
  });
  await subnetReachesAllNodes('before', '10.50.1.0/24');

  const refused = [
    'ovn-nbctl',
    `--db=${nb}`,
    '--timeout=5',
    `--private-key=${nodeKeys.key}`,
    `--certificate=${nodeKeys.certificate}`,
  ] as const;
  const asNode = runProgram(underlay.namespace.command(...refused, `--ca-cert=${keys.authorities}`, 'ls-list'));
  await assert.rejects(asNode, 'a node has no access to the Northbound database');
});

test(
  'the leader is killed: the controller and ovn-controllers go on with the others; it comes back with its files',
  { skip },
  async (context) => {
    const killed = await leader();
    await killed.kill();
    const seconds = await subnetReachesAllNodes('during', '10.50.2.0/24');
    context.diagnostic(`a Subnet reached all nodes ${seconds.toFixed(1)} s after the leader was killed`);
    killed.start();
    await whole();
    assert.match(await killed.tool('ovn-nbctl', 'ls-list'), /\(during\)/);
  },
);

test('a member that loses its disk joins again, and the server that it was is removed', { skip }, async (context) => {
  for (const lost of [await leader(), ...members.slice(0, 1)]) {
    const before = await lost.status('nb');
    await lost.kill();
    await lost.wipe();
    const begun = performance.now();
    lost.start();
    await whole();
    context.diagnostic(`${lost.name} served again after ${((performance.now() - begun) / 1000).toFixed(1)} s`);
    const afterwards = await lost.status('nb');
    assert.notEqual(afterwards?.self, before?.self);
    assert.equal(afterwards?.cluster, before?.cluster);
    assert.match(await lost.tool('ovn-nbctl', 'ls-list'), /\(during\)/);
  }
  await subnetReachesAllNodes('later', '10.50.3.0/24');
});

test(
  'after a power failure of all members they serve again with what they had, also before the API server does',
  { skip },
  async (context) => {
    for (const member of members) await member.kill();
    await api.stop();
    for (const member of members) member.start();
    const begun = performance.now();
    await whole();
    context.diagnostic(`all members served again after ${((performance.now() - begun) / 1000).toFixed(1)} s`);
    for (const member of members) assert.match(await member.tool('ovn-nbctl', 'ls-list'), /\(later\)/);
  },
);
