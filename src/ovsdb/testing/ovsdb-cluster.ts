import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { northboundSchemaFile, OvsdbServerProcess, type OvsdbServerOptions } from './ovsdb-server-process.ts';
import { until } from '../../testing/until.ts';

const run = promisify(execFile);

/** Three real ovsdb-servers that hold one database by raft, in one directory; raft itself runs over Unix sockets. */
export class OvsdbCluster {
  readonly members: readonly OvsdbServerProcess[];
  readonly database: string;
  readonly #directory: string;

  private constructor(directory: string, database: string, members: readonly OvsdbServerProcess[]) {
    this.#directory = directory;
    this.database = database;
    this.members = members;
  }

  /** Resolves when all three have joined. */
  static async start(options: OvsdbServerOptions = {}): Promise<OvsdbCluster> {
    const directory = await mkdtemp(join(tmpdir(), 'ovsdb-'));
    const schemaFile = options.schemaFile ?? northboundSchemaFile;
    const database = (JSON.parse(readFileSync(schemaFile, 'utf8')) as { name: string }).name;
    const raft = (name: string): string => `unix:${join(directory, `${name}.raft`)}`;
    const members: OvsdbServerProcess[] = [];
    for (const name of ['s1', 's2', 's3']) {
      const create = async (file: string): Promise<void> => {
        if (name === 's1') await run('ovsdb-tool', ['create-cluster', file, schemaFile, raft(name)]);
        else await run('ovsdb-tool', ['join-cluster', file, database, raft(name), raft('s1')]);
      };
      const member = await OvsdbServerProcess.born({ directory, name, create }, false, options);
      members.push(member);
      await run('ovsdb-client', ['--timeout=120', 'wait', member.unix, database, 'connected']);
    }
    return new OvsdbCluster(directory, database, members);
  }

  /** The endpoints of all members, by their Unix sockets. */
  get endpoints(): string[] {
    return this.members.map((member) => member.unix);
  }

  /** Waits until a running member reports that it leads. */
  async leader(): Promise<OvsdbServerProcess> {
    let found: OvsdbServerProcess | undefined;
    await until('the cluster has a leader', async () => {
      for (const member of this.members) {
        if (member.pid === undefined) continue;
        const status = await member.appctl('cluster/status', this.database);
        if (/^Role: leader$/m.test(status)) found = member;
      }
      return found !== undefined;
    });
    return found!;
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop()));
    await rm(this.#directory, { recursive: true, force: true });
  }
}
