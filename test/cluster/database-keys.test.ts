/** Who may do what with which key of OVN's databases: real ovsdb-servers with the keys and the arguments of members, and ports for clients before them. */
import assert from 'node:assert/strict';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Daemon } from '../../lab/programs/daemon.ts';
import { freePorts } from '../../lab/programs/free-port.ts';
import { findOvn, type OvnInstallation, type OvnProgram } from '../../lab/programs/ovn.ts';
import { runProgram } from '../../lab/programs/run-program.ts';
import { makeTemporaryFolder } from '../../lab/temporary-folder.ts';
import { CertificateAuthority } from '../../src/certificates/authority.ts';
import { ClientDoor } from '../../src/central/client-door.ts';
import { type ClusterStatus, parseClusterStatus } from '../../src/central/cluster-status.ts';
import { control } from '../../src/central/control-socket.ts';
import {
  type Command,
  createCommand,
  DATABASE_NAMES,
  DATABASES,
  type DatabaseName,
  joinCommand,
  type KeyFiles,
  serverCommand,
} from '../../src/central/databases.ts';
import { clusterKeys } from '../../src/central/key-stages.ts';
import { makeKeys, type Material } from '../../src/central/keys.ts';
import { SILENT } from '../../src/runtime/log.ts';
import { until } from '../../src/testing/until.ts';

const NOW = Date.now();
const keys = makeKeys(NOW);
const part = (name: string): Material => ({ key: keys.members[`${name}-key`] ?? '', cert: keys.members[`${name}-cert`] ?? '' });
/** As it is, but for whom its holder believes. */
const stolen = ({ key = '', cert = '' }: Material): Material => ({ key, cert });
const stranger = new CertificateAuthority('stranger', { from: NOW - 1_000, until: NOW + 3_600_000 });
const unknown = stranger.issue({ name: { commonName: 'ovn-member' }, purpose: 'peer' });
/** Every key that is not one of members among themselves. */
const OTHERS: Readonly<Record<string, Material>> = {
  'of nodes': stolen(keys.nodes),
  'of the controller': stolen(keys.controller),
  'of northd': part('northd'),
  'of the Northbound port for clients': part('nb'),
  'of the Southbound port for clients': part('sb'),
  'of another authority': { key: unknown.key, cert: unknown.certificate },
};
/** Who joins believes everybody: the member alone decides. */
const EVERY = [keys.cluster['cacert'], keys.members['northd-cacert'], stranger.certificate].join('');
/** Each server has the port of its database, at an address of the loopback network. */
const NETWORK = `127.${64 + (process.pid % 64)}.${Math.floor(process.pid / 64) % 256}`;
let lastHost = 0;

class Scene {
  readonly directory: string;
  readonly #installation: OvnInstallation;
  readonly #daemons: Daemon[] = [];

  constructor(directory: string, installation: OvnInstallation) {
    this.directory = directory;
    this.#installation = installation;
  }

  command([program, ...args]: Command): readonly [string, ...string[]] {
    return [...this.#installation.command(program as OvnProgram), ...args];
  }

  async files(name: string, material: Material): Promise<KeyFiles> {
    const path = (what: string): string => join(this.directory, `${name.replaceAll(' ', '-')}-${what}`);
    for (const [what, text] of Object.entries({ cacert: EVERY, ...material })) await writeFile(path(what), text, { mode: 0o600 });
    return { key: path('key'), certificate: path('cert'), authorities: path('cacert') };
  }

  /** A server that founds the cluster, or asks `founder` to take it. */
  async server(database: DatabaseName, label: string, material: Material, founder?: Server): Promise<Server> {
    const name = `${database}-${label.replaceAll(' ', '-')}`;
    const directory = join(this.directory, name);
    await mkdir(directory);
    const schemas = join(this.#installation.northboundSchema, '..');
    const places = { directory, runDirectory: directory, schemas };
    const address = `${NETWORK}.${++lastHost}`;
    const made =
      founder === undefined
        ? createCommand(database, places, address)
        : joinCommand(database, places, address, [founder.address], undefined);
    await runProgram(this.command(made));
    const log = join(directory, 'log');
    const command = this.command(serverCommand(database, places, await this.files(name, material)));
    const daemon = new Daemon({ name, command, log });
    daemon.start();
    this.#daemons.push(daemon);
    const server = new Server(database, directory, address);
    await daemon.waitUntil(async () => (await server.status()) !== undefined);
    return server;
  }

  async stop(): Promise<void> {
    for (const daemon of this.#daemons) await daemon.stop();
  }
}

class Server {
  readonly database: DatabaseName;
  readonly directory: string;
  readonly address: string;

  constructor(database: DatabaseName, directory: string, address: string) {
    [this.database, this.directory, this.address] = [database, directory, address];
  }

  get socket(): string {
    return join(this.directory, DATABASES[this.database].socket);
  }

  async status(): Promise<ClusterStatus | undefined> {
    const { control: socket, schema } = DATABASES[this.database];
    const text = await control(join(this.directory, socket), 'cluster/status', schema).catch(() => undefined);
    return text === undefined ? undefined : parseClusterStatus(text);
  }

  async log(): Promise<string> {
    return await readFile(join(this.directory, 'log'), 'utf8');
  }
}

for (const release of ['system', '25.03'] as const) {
  const installation = findOvn(release);
  const skip = installation === undefined && `OVN ${release} is not installed`;
  describe(`OVN ${release}`, { skip }, () => {
    let scene: Scene;
    before(async () => {
      scene = new Scene(await makeTemporaryFolder('kiln-keys-'), installation as OvnInstallation);
    });
    after(async () => {
      await scene.stop();
      await rm(scene.directory, { recursive: true, force: true });
    });

    for (const database of DATABASE_NAMES) {
      test(`${DATABASES[database].schema}: of all keys that there are, a member's alone lets a server join`, async () => {
        const member = await scene.server(database, 'founder', clusterKeys(keys, database, 'requires'));
        const labels = Object.keys(OTHERS);
        const joining = await Promise.all(labels.map((label) => scene.server(database, label, OTHERS[label] ?? {}, member)));
        for (const server of joining)
          await until('the member refuses twice', async () => ((await server.log()).match(/alert unknown ca/g) ?? []).length >= 2);
        for (const [at, server] of joining.entries()) assert.equal((await server.status())?.isMember, false, labels[at]);
        assert.deepEqual(
          (await member.status())?.servers.map(({ address }) => address),
          [member.address],
        );

        const second = await scene.server(database, 'second', { ...keys.cluster, cacert: EVERY }, member);
        await until('a server with the key of a member joins', async () => (await second.status())?.isMember === true);
        assert.equal((await member.status())?.servers.length, 2);
      });
    }

    test('the harness finds what it looks for: where members accept the authority of nodes, a node joins', async () => {
      const member = await scene.server('sb', 'earlier', clusterKeys(keys, 'sb', 'accepts'));
      const node = await scene.server('sb', 'node', stolen(keys.nodes), member);
      await until('it joins', async () => (await node.status())?.isMember === true);
    });

    test('clients work by the ports before the servers, each with its own keys, and a node can neither convert nor lock', async () => {
      const ports = Object.fromEntries(await freePorts(2).then((free) => DATABASE_NAMES.map((name, at) => [name, free[at] ?? 0])));
      const doors: ClientDoor[] = [];
      const servers = new Map<DatabaseName, Server>();
      for (const name of DATABASE_NAMES) {
        const server = await scene.server(name, 'served', clusterKeys(keys, name, 'requires'));
        await until('it leads', async () => (await server.status())?.isLeader === true);
        servers.set(name, server);
        const { schema } = DATABASES[name];
        const door = new ClientDoor({ schema, address: '127.0.0.1', port: ports[name] ?? 0, socket: server.socket, log: SILENT });
        const { key = '', cert = '' } = part(name);
        const authorities = keys.members[`${name}-cacert`] ?? '';
        door.open({ key, certificate: cert, authorities, central: keys.members['nb-cacert'] ?? '' });
        await until('its port is open', () => door.problem === undefined);
        doors.push(door);
      }
      const files = new Map<string, KeyFiles>();
      for (const [label, material] of Object.entries(OTHERS))
        files.set(label, await scene.files(`client ${label}`, { key: material['key'] ?? '', cert: material['cert'] ?? '' }));
      const tls = (label: string): readonly string[] => {
        const { key, certificate, authorities } = files.get(label) as KeyFiles;
        return [`--private-key=${key}`, `--certificate=${certificate}`, `--ca-cert=${authorities}`, '--timeout=10'];
      };
      const remote = (name: DatabaseName): string => `ssl:127.0.0.1:${ports[name]}`;
      const ask = async (label: string, name: DatabaseName, ...words: readonly string[]): Promise<string> =>
        await runProgram(scene.command(['ovsdb-client', ...tls(label), ...words.map((word) => (word === '@' ? remote(name) : word))]));
      const write = JSON.stringify(['OVN_Southbound', { op: 'insert', table: 'Chassis_Private', row: { name: 'n' } }]);

      assert.match(await ask('of the controller', 'nb', 'get-schema-version', '@', 'OVN_Northbound'), /^\d/);
      assert.match(await ask('of nodes', 'sb', 'get-schema-version', '@', 'OVN_Southbound'), /^\d/);
      assert.match(await ask('of nodes', 'sb', 'transact', '@', write), /uuid/);
      await assert.rejects(ask('of nodes', 'nb', 'list-dbs', '@'));
      for (const name of DATABASE_NAMES) await assert.rejects(ask('of another authority', name, 'list-dbs', '@'));
      const anonymous = ['ovsdb-client', '--private-key=none', '--certificate=none', '--ca-cert=none', '--timeout=5', 'list-dbs'] as const;
      for (const name of DATABASE_NAMES) await assert.rejects(runProgram(scene.command([...anonymous, remote(name)])));

      // To the schema that it has: what is refused is the asking.
      const schema = join((installation as OvnInstallation).southboundSchema);
      for (const label of ['of nodes', 'of the controller', 'of northd'])
        await assert.rejects(ask(label, 'sb', 'convert', '@', schema), /convert/, label);
      await runProgram(scene.command(['ovsdb-client', 'convert', `unix:${servers.get('sb')?.socket}`, schema]));

      const lock = async (label: string): Promise<string> =>
        await runProgram(['timeout', '3', ...scene.command(['ovsdb-client', ...tls(label), 'lock', remote('sb'), 'ovn_northd'])]).catch(
          (error: unknown) => (error as { readonly stdout: string }).stdout,
        );
      assert.doesNotMatch(await lock('of nodes'), /true/);
      assert.match(await lock('of northd'), /true/);

      // A row of the database opens no port, as it did before.
      const [port] = await freePorts(1);
      const sbctl = ['ovn-sbctl', `--db=${remote('sb')}`, ...tls('of nodes')] as const;
      await runProgram(scene.command([...sbctl, '--', 'init', '--', 'set-connection', `ptcp:${port}:127.0.0.1`]));
      await assert.rejects(runProgram(scene.command(['ovsdb-client', '--timeout=5', 'list-dbs', `tcp:127.0.0.1:${port}`])));
      for (const door of doors) door.close();
    });
  });
}
