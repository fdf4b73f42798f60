/** Members of an earlier release, which took part in their clusters with the keys that clients trust, are replaced one after the other. */
import assert from 'node:assert/strict';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { LabApiServer } from '../../lab/apiserver/server.ts';
import { whyNoPackets } from '../../lab/node/requirements.ts';
import { Underlay } from '../../lab/node/underlay.ts';
import { Daemon } from '../../lab/programs/daemon.ts';
import { findOvn } from '../../lab/programs/ovn.ts';
import { runProgram } from '../../lab/programs/run-program.ts';
import { makeTemporaryFolder } from '../../lab/temporary-folder.ts';
import {
  createCommand,
  DATABASE_NAMES,
  DATABASES,
  type DatabaseName,
  endpoints,
  joinCommand,
  type KeyFiles,
  northdCommand,
  type Places,
  serverCommand,
} from '../../src/central/databases.ts';
import { makeKeys, type Material } from '../../src/central/keys.ts';
import { KubeClient } from '../../src/kube/client/client.ts';
import type { KubeObject } from '../../src/kube/resource.ts';
import { connectionFromKubeconfig } from '../../src/kube/transport/connection.ts';
import { KubeTransport } from '../../src/kube/transport/transport.ts';
import { eventually, until } from '../../src/testing/until.ts';
import { CentralMember, CONFIG_MAPS, memberAccount, SECRETS } from './central-members.ts';

const skip = whyNoPackets() ?? (findOvn() === undefined && 'OVN is not installed');
const stops: (() => Promise<unknown>)[] = [];
const { cluster: _, ...KEYS } = makeKeys(Date.now());
const NAMESPACE = 'kube-system';
let directory: string;
let client: KubeClient;
let underlay: Underlay;
const members: CentralMember[] = [];
const addresses = (): readonly string[] => members.map(({ address }) => address);

before(async () => {
  if (skip !== false) return;
  directory = await makeTemporaryFolder('kiln-upgrade-');
  stops.unshift(() => rm(directory, { recursive: true, force: true }));
  const api = new LabApiServer();
  await api.start();
  stops.unshift(() => api.stop());
  const admin = join(directory, 'kubeconfig');
  await api.writeKubeconfig(admin);
  client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: admin })));
  stops.unshift(() => client.close());
  underlay = await Underlay.create();
  stops.unshift(() => underlay.delete());
  const kubeconfig = await memberAccount(client, admin);
  for (const index of [1, 2, 3]) {
    const member = await CentralMember.create(index, { api, client, kubeconfig, underlay, directory });
    stops.unshift(() => member.delete());
    members.push(member);
  }
});
after(async () => {
  for (const stop of stops) await stop();
});

/** Programs of a member as the earlier release ran them, in the places that the new one takes over. */
class EarlierMember {
  readonly #member: CentralMember;
  readonly #places: Places;
  readonly #daemons: Daemon[] = [];

  constructor(member: CentralMember) {
    this.#member = member;
    const own = join(directory, member.name);
    this.#places = { directory: join(own, 'data'), runDirectory: join(own, 'run'), schemas: '/usr/share/ovn' };
  }

  async start(founder: string): Promise<void> {
    const { address, name: node } = this.#member;
    for (const folder of [this.#places.directory, this.#places.runDirectory]) await mkdir(folder, { recursive: true });
    for (const name of DATABASE_NAMES) {
      const made =
        address === founder ? createCommand(name, this.#places, address) : joinCommand(name, this.#places, address, [founder], undefined);
      await runProgram(made);
      const { schema } = DATABASES[name];
      const [program, ...rest] = serverCommand(name, this.#places, await this.#keys(name));
      this.#run(`${node}-${name}`, [program, `--remote=db:${schema},${name.toUpperCase()}_Global,connections`, ...rest]);
      await eventually(`${schema} of ${node} takes part`, async () => (await this.#member.status(name))?.isMember === true);
    }
    this.#run(`${node}-northd`, northdCommand(this.#places, await this.#keys('northd'), addresses()));
  }

  async stop(): Promise<void> {
    for (const daemon of this.#daemons.toReversed()) await daemon.stop();
  }

  async #keys(part: DatabaseName | 'northd'): Promise<KeyFiles> {
    return await keyFiles(join(directory, this.#member.name, part), KEYS.members, `${part}-`);
  }

  #run(name: string, command: readonly [string, ...string[]]): void {
    const daemon = new Daemon({ name, command: this.#member.namespace.command(...command), log: join(directory, `${name}.log`) });
    daemon.start();
    this.#daemons.push(daemon);
    stops.unshift(() => daemon.stop());
  }
}

async function keyFiles(folder: string, material: Material, prefix = ''): Promise<KeyFiles> {
  await mkdir(folder, { recursive: true });
  for (const what of ['key', 'cert', 'cacert']) await writeFile(join(folder, what), material[`${prefix}${what}`] ?? '', { mode: 0o600 });
  return { key: join(folder, 'key'), certificate: join(folder, 'cert'), authorities: join(folder, 'cacert') };
}

const tls = ({ key, certificate, authorities }: KeyFiles): readonly string[] => [
  `--private-key=${key}`,
  `--certificate=${certificate}`,
  `--ca-cert=${authorities}`,
];

/** As the earlier release left it. */
async function shared(): Promise<void> {
  const base64 = (material: Material): object =>
    Object.fromEntries(Object.entries(material).map(([name, text]) => [name, Buffer.from(text).toString('base64')]));
  const patch = async (name: string, material: Material): Promise<unknown> =>
    await client.mergePatch(SECRETS, { namespace: NAMESPACE, name }, { data: base64(material) });
  await patch('kiln-ovn-central-tls', { 'keys.json': JSON.stringify(KEYS) });
  await patch('kube-ovn-tls', KEYS.controller);
  await patch('kiln-ovn-node-tls', KEYS.nodes);
  const data: Record<string, string> = { founder: 'cp-1' };
  for (const name of DATABASE_NAMES) {
    const status = await members[0]?.status(name);
    data[name] = endpoints(name, addresses());
    const servers = Object.fromEntries((status?.servers ?? []).map(({ id, address }) => [id, address]));
    data[`${name}-cluster`] = JSON.stringify({ id: status?.cluster, servers });
  }
  await client.mergePatch(CONFIG_MAPS, { namespace: NAMESPACE, name: 'kiln-ovn' }, { data });
}

async function stages(): Promise<Readonly<Record<string, string>>> {
  const { data = {} } = await client.get<KubeObject & { readonly data?: Readonly<Record<string, string>> }>(CONFIG_MAPS, {
    namespace: NAMESPACE,
    name: 'kiln-ovn',
  });
  return JSON.parse(data['key-stages'] ?? '{}') as Readonly<Record<string, string>>;
}

async function threeServers(): Promise<void> {
  for (const name of DATABASE_NAMES)
    for (const member of members) {
      const status = await member.status(name);
      assert.deepEqual(status?.servers.map(({ address }) => address).toSorted(), addresses(), `${name} of ${member.name}`);
      assert.ok(status.knowsLeader);
    }
}

test('a rolling update keeps both databases and their clients; then no key of a client takes part any more', { skip }, async (context) => {
  const earlier: EarlierMember[] = [];
  for (const member of members) {
    const one = new EarlierMember(member);
    await one.start(members[0]?.address ?? '');
    earlier.push(one);
  }
  await members[0]?.tool('ovn-nbctl', 'init', '--', 'set-connection', 'pssl:6641:0.0.0.0');
  await members[0]?.tool('ovn-sbctl', 'init', '--', 'set-connection', 'pssl:6642:0.0.0.0');
  await shared();

  const controllerKeys = tls(await keyFiles(join(directory, 'controller'), KEYS.controller));
  const nodeKeys = await keyFiles(join(directory, 'node'), KEYS.nodes);
  const nb = ['ovn-nbctl', `--db=${endpoints('nb', addresses())}`, ...controllerKeys, '--timeout=60'] as const;
  const sb = ['ovn-sbctl', `--db=${endpoints('sb', addresses())}`, ...tls(nodeKeys), '--timeout=60', '--no-leader-only'] as const;
  const asNode = async (...words: readonly string[]): Promise<string> => await runProgram(underlay.namespace.command(...sb, ...words));
  let switches = 0;
  const works = async (): Promise<void> => {
    const name = `switch-${switches++}`;
    await runProgram(underlay.namespace.command(...nb, '--wait=sb', 'ls-add', name));
    await eventually(`a node sees ${name}`, async () => (await asNode('list', 'datapath')).includes(name));
  };
  await works();
  // A node asks all the time.
  const reading = new AbortController();
  let reads = 0;
  const longest = { seconds: 0 };
  const reader = (async (): Promise<void> => {
    while (!reading.signal.aborted) {
      const begun = performance.now();
      assert.match(await asNode('list', 'datapath'), /switch-0/);
      longest.seconds = Math.max(longest.seconds, (performance.now() - begun) / 1000);
      reads++;
    }
  })();
  reader.catch(() => undefined);

  for (const [at, member] of members.entries()) {
    assert.deepEqual([...new Set(Object.values(await stages()))], at === 0 ? [] : ['accepts'], 'nobody goes on before all are replaced');
    await earlier[at]?.stop();
    member.start();
    await eventually(`${member.name} serves`, async () => {
      assert.ok(await member.isReady());
      await threeServers();
      return true;
    });
    await works();
  }
  await until('all have the keys of members', async () => {
    const reached = await stages();
    return addresses().every((address) => reached[address] === 'requires');
  });
  await eventually('all serve', async () => {
    for (const member of members) assert.ok(await member.isReady());
    await threeServers();
    return true;
  });
  await works();
  reading.abort();
  await reader;
  context.diagnostic(`${reads} reads of a node, the longest took ${longest.seconds.toFixed(1)} s`);
  const found = await asNode('list', 'datapath');
  for (let one = 0; one < switches; one++) assert.ok(found.includes(`switch-${one}`), 'what was there stays');

  const places = { directory: join(directory, 'thief'), runDirectory: join(directory, 'thief'), schemas: '/usr/share/ovn' };
  await mkdir(places.directory);
  await writeFile(nodeKeys.authorities, `${KEYS.members['northd-cacert']}${await clusterAuthority()}`);
  await runProgram(joinCommand('sb', places, underlay.router, addresses(), undefined));
  const log = join(directory, 'thief.log');
  const thief = new Daemon({ name: 'thief', command: underlay.namespace.command(...serverCommand('sb', places, nodeKeys)), log });
  thief.start();
  stops.unshift(() => thief.stop());
  await until('it is refused', async () => ((await readFile(log, 'utf8')).match(/alert unknown ca/g) ?? []).length >= 3);
  await threeServers();
});

test('all keys are made anew at once, and none of before opens a port', { skip }, async () => {
  for (const name of ['kiln-ovn-central-tls', 'kube-ovn-tls', 'kiln-ovn-node-tls'])
    await client.mergePatch(SECRETS, { namespace: NAMESPACE, name }, { data: null });
  await Promise.all(members.map((member) => member.stop()));
  for (const member of members) member.start();
  await eventually('all serve', async () => {
    for (const member of members) assert.ok(await member.isReady());
    await threeServers();
    return true;
  });
  const secret = { namespace: NAMESPACE, name: 'kiln-ovn-node-tls' };
  const { data } = await client.get<KubeObject & { readonly data: Readonly<Record<string, string>> }>(SECRETS, secret);
  const made = Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text, 'base64').toString()]));
  const list = async (keys: KeyFiles): Promise<string> => {
    const words = [`--db=${endpoints('sb', addresses())}`, ...tls(keys), '--timeout=10', '--no-leader-only', 'list', 'datapath'] as const;
    return await runProgram(underlay.namespace.command('ovn-sbctl', ...words));
  };
  assert.match(await list(await keyFiles(join(directory, 'new-node'), made)), /switch-0/);
  await assert.rejects(list(await keyFiles(join(directory, 'old-node'), { ...KEYS.nodes, cacert: made['cacert'] ?? '' })));
});

async function clusterAuthority(): Promise<string> {
  const secret = { namespace: NAMESPACE, name: 'kiln-ovn-central-tls' };
  const { data } = await client.get<KubeObject & { readonly data: Readonly<Record<string, string>> }>(SECRETS, secret);
  const keys = JSON.parse(Buffer.from(data['keys.json'] ?? '', 'base64').toString()) as { readonly cluster: Material };
  return keys.cluster['cacert'] ?? '';
}
