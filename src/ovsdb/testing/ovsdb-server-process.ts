import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../../testing/until.ts';

const run = promisify(execFile);

/** Where Debian's package ovn-common puts the schema of the Northbound database. */
export const northboundSchemaFile = '/usr/share/ovn/ovn-nb.ovsschema';

/** Files, not contents: they are given to ovsdb-server as they are. */
export interface ServerTlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface OvsdbServerOptions {
  /** The schema to create the database from; OVN's Northbound by default. */
  readonly schemaFile?: string;
  /** A file of a database to begin with, as `ovsdb-client backup` writes it: copied, and converted to the schema. */
  readonly backupFile?: string;
  /** Listen on a TCP port of 127.0.0.1 that the system chooses. */
  readonly tcp?: boolean;
  /** Listen for TLS on a port of 127.0.0.1 that the system chooses. */
  readonly ssl?: ServerTlsFiles;
}

/** A schema file as far as a test changes one. */
export interface SchemaJson {
  version: string;
  cksum?: string;
  tables: Record<string, { columns: Record<string, unknown>; isRoot?: boolean }>;
}

/** How a member of a cluster begins; used by `OvsdbCluster`. */
export interface ServerBirth {
  readonly directory: string;
  readonly name: string;
  /** Makes the database file, before the first start. */
  readonly create: (databaseFile: string) => Promise<void>;
}

/** Servers that were not stopped end with the process that started them. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A real ovsdb-server with one database in a directory of its own. It keeps its addresses when it is started again. */
export class OvsdbServerProcess {
  readonly directory: string;
  /** `unix:/path` */
  readonly unix: string;
  /** Path of its control socket, for `ovs-appctl -t`. */
  readonly control: string;
  readonly #ownsDirectory: boolean;
  readonly #logFile: string;
  readonly #databaseFile: string;
  readonly #options: OvsdbServerOptions;
  #child: ChildProcess | undefined;
  #tcpPort = 0;
  #sslPort = 0;

  private constructor(birth: ServerBirth, ownsDirectory: boolean, options: OvsdbServerOptions) {
    const file = (suffix: string): string => join(birth.directory, `${birth.name}.${suffix}`);
    this.directory = birth.directory;
    this.unix = `unix:${file('sock')}`;
    this.control = file('ctl');
    this.#logFile = file('log');
    this.#databaseFile = file('db');
    this.#ownsDirectory = ownsDirectory;
    this.#options = options;
  }

  /** Makes a database, an empty one unless it is to begin with a backup, and serves it. Resolves when the server listens. */
  static async start(options: OvsdbServerOptions = {}): Promise<OvsdbServerProcess> {
    const directory = await mkdtemp(join(tmpdir(), 'ovsdb-'));
    const schema = options.schemaFile ?? northboundSchemaFile;
    const { backupFile } = options;
    const create = async (file: string): Promise<void> => {
      if (backupFile !== undefined) await copyFile(backupFile, file);
      await run('ovsdb-tool', [backupFile === undefined ? 'create' : 'convert', file, schema]);
    };
    return OvsdbServerProcess.born({ directory, name: 'db', create }, true, options);
  }

  static async born(birth: ServerBirth, ownsDirectory: boolean, options: OvsdbServerOptions): Promise<OvsdbServerProcess> {
    const server = new OvsdbServerProcess(birth, ownsDirectory, options);
    await birth.create(server.#databaseFile);
    try {
      await server.restart();
    } catch (error) {
      // No caller has it yet, so no caller would stop it: it would keep the test's process alive.
      await server.stop();
      throw error;
    }
    return server;
  }

  /** `tcp:127.0.0.1:port` */
  get tcp(): string {
    return `tcp:127.0.0.1:${this.#tcpPort}`;
  }

  /** `ssl:127.0.0.1:port` */
  get ssl(): string {
    return `ssl:127.0.0.1:${this.#sslPort}`;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts a server that was killed, at the addresses it had. */
  async restart(): Promise<void> {
    const { tcp, ssl } = this.#options;
    await rm(this.#logFile, { force: true });
    const child = spawn(
      'sh',
      [
        // Without the trap the signal would end the server when a file must not grow; with it the write fails, as on a full disk.
        ...['-c', 'trap "" XFSZ; exec "$@"', 'sh', 'ovsdb-server'],
        '-vconsole:off',
        '-vfile:info',
        `--log-file=${this.#logFile}`,
        `--unixctl=${this.control}`,
        `--remote=p${this.unix}`,
        ...(ssl === undefined ? [] : [`--ca-cert=${ssl.ca}`, `--certificate=${ssl.cert}`, `--private-key=${ssl.key}`]),
        this.#databaseFile,
      ],
      { cwd: this.directory, stdio: 'ignore', env: { ...process.env, OVS_RUNDIR: this.directory } },
    );
    running.add(child);
    child.once('exit', () => running.delete(child));
    this.#child = child;
    await until(`ovsdb-server in ${this.directory} listens`, async () => {
      if (child.exitCode !== null) throw new Error(`ovsdb-server ended with ${child.exitCode}: ${await this.log()}`);
      return existsSync(this.control) && (await this.#answers());
    });
    if (tcp === true) this.#tcpPort = await this.#listen('ptcp', this.#tcpPort);
    if (ssl !== undefined) this.#sslPort = await this.#listen('pssl', this.#sslPort);
  }

  /** SIGKILL, and waits until the process is gone. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** The process keeps its connections and does nothing (SIGSTOP). */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  /** No file of the server can grow from now on: what it writes fails as on a full disk. */
  async fillDisk(): Promise<void> {
    await this.#limitFiles(String((await stat(this.#databaseFile)).size));
  }

  async emptyDisk(): Promise<void> {
    await this.#limitFiles('unlimited');
  }

  async #limitFiles(bytes: string): Promise<void> {
    await run('prlimit', [`--pid=${this.pid}`, `--fsize=${bytes}:`]);
  }

  /** Ends the server, and removes its directory. */
  async stop(): Promise<void> {
    this.resume();
    await this.#end('SIGTERM');
    if (this.#ownsDirectory) await rm(this.directory, { recursive: true, force: true });
  }

  async log(): Promise<string> {
    return existsSync(this.#logFile) ? readFile(this.#logFile, 'utf8') : '';
  }

  /** Copies the database file; the server may run. @returns restores the copy; the server must be stopped */
  async backUp(): Promise<() => Promise<void>> {
    const copy = `${this.#databaseFile}.backup`;
    await copyFile(this.#databaseFile, copy);
    return () => copyFile(copy, this.#databaseFile);
  }

  /** `ovs-appctl`, such as `('cluster/status', 'OVN_Northbound')`. */
  async appctl(...command: string[]): Promise<string> {
    return (await run('ovs-appctl', ['-t', this.control, ...command])).stdout;
  }

  /** What `ovn-nbctl` prints for these arguments, without the space around it. */
  async nbctl(...args: readonly string[]): Promise<string> {
    return (await run('ovn-nbctl', ['--no-leader-only', `--db=${this.unix}`, ...args])).stdout.trim();
  }

  /** Converts the database to a changed schema while it is served, as an upgrade of OVN does. */
  async convert(change: (schema: SchemaJson) => void): Promise<void> {
    const schema = JSON.parse(await readFile(this.#options.schemaFile ?? northboundSchemaFile, 'utf8')) as SchemaJson;
    change(schema);
    const file = join(this.directory, 'converted.ovsschema');
    await writeFile(file, JSON.stringify(schema));
    await run('ovsdb-client', ['--timeout=120', 'convert', this.unix, file]);
  }

  async #answers(): Promise<boolean> {
    return this.appctl('version').then(
      () => true,
      () => false,
    );
  }

  /** The port that the system chose is only in the log, which does not name the protocol: so the ports are opened one after the other. */
  async #listen(protocol: 'ptcp' | 'pssl', port: number): Promise<number> {
    await this.appctl('ovsdb-server/add-remote', `${protocol}:${port}:127.0.0.1`);
    if (port !== 0) return port;
    const taken = this.#tcpPort;
    let found: number | undefined;
    // The command is answered before the server opens the port.
    await until(`ovsdb-server in ${this.directory} says on which port of ${protocol} it listens`, async () => {
      const said = [...(await this.log()).matchAll(/:127\.0\.0\.1: listening on port (\d+)\n/g)].map((match) => Number(match[1]));
      found = said.findLast((candidate) => candidate !== taken);
      return found !== undefined;
    });
    return found ?? port;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await gone;
  }
}
