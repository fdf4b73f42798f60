/** One database of a member: its file, its server, and what its leader does for the cluster. */
import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../runtime/log.ts';
import { beginningOf } from './beginning.ts';
import { ChildProgram, runTool } from './child-program.ts';
import type { ClusterRecord, SharedRecord } from './cluster-record.ts';
import { type ClusterStatus, parseClusterStatus, serversToRemove } from './cluster-status.ts';
import { control } from './control-socket.ts';
import {
  type Command,
  createCommand,
  DATABASES,
  type DatabaseName,
  joinCommand,
  type KeyFiles,
  type Places,
  serverCommand,
} from './databases.ts';

export interface MemberDatabaseOptions {
  readonly name: DatabaseName;
  readonly node: string;
  readonly address: string;
  readonly places: Places;
  readonly shared: SharedRecord;
  readonly log: Log;
  /** Milliseconds since 1970: in the name of a file that is set aside. */
  readonly wallTime: () => number;
}

/** Without a leader for so long, a server asks whether it was removed from its cluster meanwhile. */
const OUTSIDE_MS = 30_000;

export class MemberDatabase {
  readonly #options: MemberDatabaseOptions;
  readonly #server: ChildProgram;
  #status: ClusterStatus | undefined;
  /** When it was last seen with a leader. Monotonic milliseconds. */
  #insideAt = performance.now();
  #isPrepared = false;
  #keys: KeyFiles | undefined;

  constructor(options: MemberDatabaseOptions) {
    this.#options = options;
    this.#server = new ChildProgram(`ovsdb-server of ${DATABASES[options.name].schema}`, options.log);
  }

  get name(): DatabaseName {
    return this.#options.name;
  }

  get status(): ClusterStatus | undefined {
    return this.#status;
  }

  /** Why it does not serve; undefined if it does. */
  get problem(): string | undefined {
    const { schema } = DATABASES[this.#options.name];
    if (this.#status === undefined) return `${schema}: the server does not answer yet`;
    if (!this.#status.isMember) return `${schema}: the server waits until the other members take it`;
    return this.#status.knowsLeader ? undefined : `${schema}: the members have no leader (a majority of them has to run)`;
  }

  get hasFile(): boolean {
    return existsSync(this.#file);
  }

  /** The keys among members; a server that runs with others is started again. */
  async useKeys(keys: KeyFiles): Promise<void> {
    const { name, places } = this.#options;
    this.#keys = keys;
    if (!this.#server.running) return;
    this.#status = undefined;
    await this.#server.run(serverCommand(name, places, keys));
  }

  /** Makes the file if there is none, and starts the server. @param record undefined: not known now, there is a file */
  async start(record: ClusterRecord | undefined, members: readonly string[]): Promise<void> {
    const { name, node, address, places, log } = this.#options;
    if (this.#keys === undefined) throw new Error('the server has no keys yet');
    if (record !== undefined) {
      const beginning = beginningOf({ name, hasFile: this.hasFile, node, address, record, members });
      log.info('a database begins', { database: name, ...beginning });
      if (beginning.with === 'a new cluster') await runTool(createCommand(name, places, address));
      if (beginning.with === 'the others') await runTool(joinCommand(name, places, address, beginning.others, beginning.id));
    }
    this.#insideAt = performance.now();
    await this.#server.run(serverCommand(name, places, this.#keys));
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    this.#status = undefined;
  }

  /** Looks at the server, and does what its state asks for. @param members addresses; undefined: not known now */
  async look(members: readonly string[] | undefined): Promise<void> {
    const { name, places } = this.#options;
    const { schema, control: file } = DATABASES[name];
    const text = await control(join(places.runDirectory, file), 'cluster/status', schema).catch(() => undefined);
    this.#status = text === undefined ? undefined : parseClusterStatus(text);
    if (this.#status?.isMember === true && this.#status.knowsLeader) this.#insideAt = performance.now();
    if (this.#status?.isLeader === true) await this.#lead(this.#status, members);
    else {
      this.#isPrepared = false;
      if (performance.now() - this.#insideAt > OUTSIDE_MS) await this.#joinAgainIfRemoved(members);
    }
  }

  async #lead(status: ClusterStatus, members: readonly string[] | undefined): Promise<void> {
    const { name, places, shared, log } = this.#options;
    const { schema, control: file } = DATABASES[name];
    const strangers = serversToRemove(status, members);
    for (const { id, address: at } of strangers) {
      log.warn('a server is removed from its cluster: its member lost its disk, or its node is gone', {
        database: name,
        server: id,
        address: at,
      });
      await control(join(places.runDirectory, file), 'cluster/kick', schema, id);
    }
    if (!this.#isPrepared) {
      await this.#convert();
      this.#isPrepared = true;
    }
    if (status.cluster === undefined) return;
    const servers = status.servers.filter(({ id }) => !strangers.some((stranger) => stranger.id === id));
    await shared.publish(
      name,
      { id: status.cluster, servers: Object.fromEntries(servers.map(({ id, address: at }) => [id, at])) },
      members,
    );
  }

  /** After an upgrade the leader brings the database to its own, newer schema; never to an older one. */
  async #convert(): Promise<void> {
    const { name, places, log } = this.#options;
    const { schema, schemaFile, socket } = DATABASES[name];
    const [server, file] = [`unix:${join(places.runDirectory, socket)}`, join(places.schemas, schemaFile)];
    const ask = async (...command: Command): Promise<string> => (await runTool(command)).trim();
    const from = await ask('ovsdb-client', '--timeout=30', 'get-schema-version', server, schema);
    const to = await ask('ovsdb-tool', 'schema-version', file);
    if (!isNewer(to, from)) return;
    log.info('a database is converted to a newer schema', { database: name, from, to });
    await runTool(['ovsdb-client', '--timeout=60', 'convert', server, file]);
  }

  /** A member that was away while its server was removed comes back with a file that no other member knows. The file is set aside. */
  async #joinAgainIfRemoved(members: readonly string[] | undefined): Promise<void> {
    const { name, shared, log, wallTime } = this.#options;
    const self = this.#status?.self;
    if (self === undefined || members === undefined) return;
    const record = await shared.read();
    const servers = record?.[name]?.servers;
    if (record === undefined || servers === undefined || Object.keys(servers).length === 0 || self in servers) return;
    // One that is joining is not in the record yet.
    if (this.#status?.isMember !== true) return;
    const aside = `${this.#file}.removed-${wallTime()}`;
    log.warn('this server was removed from its cluster: it joins again with an empty file', { database: name, server: self, aside });
    await this.stop();
    await rename(this.#file, aside);
    await this.start(record, members);
  }

  get #file(): string {
    return join(this.#options.places.directory, DATABASES[this.#options.name].file);
  }
}

/** Of versions such as 7.11.0. */
export function isNewer(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => text.split('.').map(Number)) as [number[], number[]];
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [x = 0, y = 0] = [a[at], b[at]];
    if (x !== y) return x > y;
  }
  return false;
}
