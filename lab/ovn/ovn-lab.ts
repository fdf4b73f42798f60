import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Daemon } from '../programs/daemon.ts';
import { freePorts } from '../programs/free-port.ts';
import { findOvn, type OvnInstallation, type OvnProgram, type OvnRelease } from '../programs/ovn.ts';
import { runProgram } from '../programs/run-program.ts';
import { makeTemporaryFolder } from '../temporary-folder.ts';

/** The daemons of an OVN central: two databases, and northd between them. */
export type OvnDaemon = 'nb' | 'sb' | 'northd';

/** PEM files; with them both databases also listen on TLS. */
export interface OvnLabTls {
  readonly privateKey: string;
  readonly certificate: string;
  readonly caCertificate: string;
}

/** All options have defaults: a temporary folder, the machine's OVN, Unix sockets only, with northd. */
export interface OvnLabOptions {
  /** The folder of databases, sockets and logs. `stop` keeps a folder given here, and its databases are used again. */
  readonly directory?: string;
  readonly release?: OvnRelease;
  /** Both databases also listen on TCP, on a port of 127.0.0.1 that the system chooses. */
  readonly tcp?: boolean;
  readonly tls?: OvnLabTls;
  /** False: without northd, for tests of the database alone. */
  readonly northd?: boolean;
}

/** There is no OVN to run: the message names what is missing, and how to install it. */
export class OvnMissingError extends Error {
  override name = 'OvnMissingError';
  readonly code = 'OVN_MISSING';
}

interface Database {
  readonly daemon: Daemon;
  readonly file: string;
  readonly schema: string;
  readonly socket: string;
  readonly ports: Ports;
}

/** Ports in addition to the Unix socket, if requested. */
interface Ports {
  readonly tcp: number | undefined;
  readonly tls: number | undefined;
}

/** The path of a Unix socket has at most 107 bytes; the longest name in the folder is `northd.ctl`. */
const LONGEST_DIRECTORY = 107 - '/northd.ctl'.length;

/**
 * A real OVN central (ovsdb-server for Northbound and Southbound, ovn-northd) in its own folder, independent of other programs of the
 * machine. Its daemons are child processes and end with this process.
 */
export class OvnLab implements AsyncDisposable {
  readonly #options: OvnLabOptions;
  /** Also has the programs of nodes. */
  readonly installation: OvnInstallation;
  #directory: string | undefined;
  #databases: Readonly<Record<'nb' | 'sb', Database>> | undefined;
  #northd: Daemon | undefined;
  #starting: Promise<void> | undefined;

  constructor(options: OvnLabOptions = {}) {
    const release = options.release ?? 'system';
    const installation = findOvn(release);
    if (installation === undefined) {
      throw new OvnMissingError(
        release === 'system'
          ? 'OVN was not found: install the Debian packages ovn-central, ovn-host and openvswitch-switch (or run `node scripts/setup.mjs start`)'
          : `OVN ${release} was not found in the cache: run \`node scripts/setup.mjs test\``,
      );
    }
    this.#options = options;
    this.installation = installation;
  }

  /**
   * Starts the daemons that do not run. Resolves when northd has translated an empty network; without northd, when both databases answer.
   */
  async start(): Promise<void> {
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    await this.#starting;
  }

  /** Folder of databases, sockets and logs. Defined after the first start. */
  get directory(): string {
    return this.#started(this.#directory);
  }

  /** `unix:` endpoint of the Northbound database. */
  get nbEndpoint(): string {
    return `unix:${this.#database('nb').socket}`;
  }

  /** `unix:` endpoint of the Southbound database. */
  get sbEndpoint(): string {
    return `unix:${this.#database('sb').socket}`;
  }

  /** `tcp:` endpoint, with the option `tcp`. The port stays the same across restarts. */
  get nbTcpEndpoint(): string {
    return `tcp:127.0.0.1:${this.#started(this.#database('nb').ports.tcp)}`;
  }

  /** `ssl:` endpoint, with the option `tls`. The port stays the same across restarts. */
  get nbTlsEndpoint(): string {
    return `ssl:127.0.0.1:${this.#started(this.#database('nb').ports.tls)}`;
  }

  /** Process id of a daemon while it runs. */
  pid(which: OvnDaemon): number | undefined {
    return this.#daemon(which).pid;
  }

  /** Sends a signal, SIGKILL by default; if the signal ends the daemon, waits for its end. */
  async kill(which: OvnDaemon, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await this.#daemon(which).kill(signal);
  }

  /** Restarts a daemon, running or not; resolves when it serves. Databases keep their contents. */
  async restart(which: OvnDaemon): Promise<void> {
    await this.#daemon(which).stop();
    if (which === 'northd') await this.#startNorthd();
    else await this.#startDatabase(which);
  }

  /** Ends every daemon. A temporary folder is removed, a given one is kept. The lab can be started again. */
  async stop(): Promise<void> {
    await this.#starting?.catch(() => {});
    await this.#northd?.stop();
    await Promise.all([this.#databases?.nb.daemon.stop(), this.#databases?.sb.daemon.stop()]);
    if (this.#options.directory === undefined && this.#directory !== undefined) {
      await rm(this.#directory, { recursive: true, force: true });
      this.#directory = undefined;
    }
    this.#databases = undefined;
    this.#northd = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Runs `ovn-nbctl` on this Northbound database and returns what it prints. `--wait=sb` waits for northd. */
  async nbctl(...args: readonly string[]): Promise<string> {
    return await this.#run('ovn-nbctl', [`--db=${this.nbEndpoint}`, '--timeout=120', ...args]);
  }

  /** Runs `ovn-sbctl` on this Southbound database and returns what it prints. */
  async sbctl(...args: readonly string[]): Promise<string> {
    return await this.#run('ovn-sbctl', [`--db=${this.sbEndpoint}`, '--timeout=120', ...args]);
  }

  /**
   * Traces a packet through the logical network: `trace('--minimal', 'ls1', 'inport == "lp1" && …')`. Options come first,
   * then the datapath and the microflow (ovn-trace(8)).
   */
  async trace(...args: readonly string[]): Promise<string> {
    return await this.#run('ovn-trace', [`--db=${this.sbEndpoint}`, ...args]);
  }

  async #start(): Promise<void> {
    await this.#prepare();
    await Promise.all([this.#startDatabase('nb'), this.#startDatabase('sb')]);
    if (this.#northd !== undefined) await this.#startNorthd();
  }

  async #prepare(): Promise<void> {
    if (this.#databases !== undefined) return;
    const given = this.#options.directory;
    const directory = given === undefined ? await makeTemporaryFolder('kiln-ovn-') : resolve(given);
    if (directory.length > LONGEST_DIRECTORY) {
      throw new RangeError(`OVN's folder ${directory} is too long for a unix socket's path: at most ${LONGEST_DIRECTORY} characters`);
    }
    await mkdir(directory, { recursive: true });
    this.#directory = directory;
    const { tcp = false, tls } = this.#options;
    const [a, b, c, d] = await freePorts(4);
    this.#databases = {
      nb: this.#describeDatabase('nb', { tcp: tcp ? a : undefined, tls: tls && b }),
      sb: this.#describeDatabase('sb', { tcp: tcp ? c : undefined, tls: tls && d }),
    };
    if (this.#options.northd ?? true) this.#northd = this.#describeNorthd(directory);
  }

  #describeDatabase(which: 'nb' | 'sb', ports: Ports): Database {
    const { tls } = this.#options;
    const path = (suffix: string): string => join(this.directory, `${which}.${suffix}`);
    const [file, socket] = [path('db'), path('sock')];
    const schema = which === 'nb' ? this.installation.northboundSchema : this.installation.southboundSchema;
    const listen = [`--remote=punix:${socket}`];
    if (ports.tcp !== undefined) listen.push(`--remote=ptcp:${ports.tcp}:127.0.0.1`);
    if (tls !== undefined) {
      listen.push(`--remote=pssl:${ports.tls}:127.0.0.1`);
      listen.push(`--private-key=${tls.privateKey}`, `--certificate=${tls.certificate}`, `--ca-cert=${tls.caCertificate}`);
    }
    const daemon = new Daemon({
      name: `ovsdb-server (${which})`,
      command: [...this.installation.command('ovsdb-server'), ...listen, `--unixctl=${path('ctl')}`, '-vconsole:info', file],
      log: path('log'),
      env: this.#environment(),
      cwd: this.directory,
    });
    return { daemon, file, schema, socket, ports };
  }

  #describeNorthd(directory: string): Daemon {
    return new Daemon({
      name: 'ovn-northd',
      command: [
        ...this.installation.command('ovn-northd'),
        `--ovnnb-db=${this.nbEndpoint}`,
        `--ovnsb-db=${this.sbEndpoint}`,
        `--unixctl=${join(directory, 'northd.ctl')}`,
        '-vconsole:info',
      ],
      log: join(directory, 'northd.log'),
      env: this.#environment(),
      cwd: directory,
    });
  }

  async #startDatabase(which: 'nb' | 'sb'): Promise<void> {
    const { daemon, file, schema, socket } = this.#database(which);
    if (!existsSync(file)) await this.#run('ovsdb-tool', ['create', file, schema]);
    daemon.start();
    await daemon.waitUntil(async () => {
      if (!existsSync(socket)) return false;
      return await this.#run('ovsdb-client', ['list-dbs', `unix:${socket}`]).then(
        () => true,
        () => false,
      );
    });
  }

  async #startNorthd(): Promise<void> {
    const northd = this.#daemon('northd');
    northd.start();
    await northd.waitUntil(() =>
      this.nbctl('--wait=sb', '--timeout=5', 'sync').then(
        () => true,
        () => false,
      ),
    );
  }

  /** The programs use sockets, databases and logs of their own folder, never those of the machine. */
  #environment(): Record<string, string | undefined> {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(OVN|OVS)_/.test(name));
    const own = ['RUNDIR', 'LOGDIR', 'DBDIR'].flatMap((name) => [`OVN_${name}`, `OVS_${name}`]);
    return { ...Object.fromEntries(inherited), ...Object.fromEntries(own.map((name) => [name, this.directory])) };
  }

  async #run(program: OvnProgram, args: readonly string[]): Promise<string> {
    return await runProgram([...this.installation.command(program), ...args], { env: this.#environment() });
  }

  #daemon(which: OvnDaemon): Daemon {
    return which === 'northd' ? this.#started(this.#northd) : this.#database(which).daemon;
  }

  #database(which: 'nb' | 'sb'): Database {
    return this.#started(this.#databases)[which];
  }

  #started<T>(value: T | undefined): T {
    if (value === undefined) throw new TypeError('this OVN does not run: call start() first (and northd only where it is not left out)');
    return value;
  }
}
