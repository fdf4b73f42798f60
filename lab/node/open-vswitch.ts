import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Daemon } from '../programs/daemon.ts';
import type { OvnInstallation, OvnProgram } from '../programs/ovn.ts';
import { runProgram } from '../programs/run-program.ts';
import type { NetworkNamespace } from './namespace.ts';

/** The daemons of a node. */
export type NodeDaemon = 'ovsdb-server' | 'ovs-vswitchd' | 'ovn-controller';

/** Files in PEM. */
export interface ControllerKeys {
  readonly key: string;
  readonly certificate: string;
  readonly authorities: string;
}

function keyArguments(keys: ControllerKeys | undefined): readonly string[] {
  return keys === undefined ? [] : [`--private-key=${keys.key}`, `--certificate=${keys.certificate}`, `--ca-cert=${keys.authorities}`];
}

/** Open vSwitch and ovn-controller of one node, in its namespace. Database, sockets and logs are in one folder; nothing of the host's is used. */
export class OpenVSwitch {
  readonly #namespace: NetworkNamespace;
  readonly #installation: OvnInstallation;
  readonly #directory: string;
  readonly #daemons: Readonly<Record<NodeDaemon, Daemon>>;

  /** @param keys of ovn-controller, for a Southbound database with TLS */
  constructor(namespace: NetworkNamespace, installation: OvnInstallation, directory: string, keys?: ControllerKeys) {
    this.#namespace = namespace;
    this.#installation = installation;
    this.#directory = directory;
    const listen = [`--remote=punix:${this.#path('db.sock')}`, '--remote=db:Open_vSwitch,Open_vSwitch,manager_options'];
    this.#daemons = {
      'ovsdb-server': this.#describe('ovsdb-server', [...listen, this.#path('conf.db')]),
      // Without the system datapath: every bridge is in userspace.
      'ovs-vswitchd': this.#describe('ovs-vswitchd', ['--disable-system', this.endpoint]),
      'ovn-controller': this.#describe('ovn-controller', [...keyArguments(keys), this.endpoint]),
    };
  }

  /** Endpoint of the Open_vSwitch database. */
  get endpoint(): string {
    return `unix:${this.#path('db.sock')}`;
  }

  /** Starts the database and the switch; `startController` follows once the node is configured. */
  async start(): Promise<void> {
    await mkdir(this.#directory, { recursive: true });
    const { command, vswitchSchema } = this.#installation;
    if (!existsSync(this.#path('conf.db'))) await runProgram([...command('ovsdb-tool'), 'create', this.#path('conf.db'), vswitchSchema]);
    await this.restart('ovsdb-server');
    await this.vsctl('--no-wait', 'init');
    await this.restart('ovs-vswitchd');
  }

  /** Ends a daemon if it runs, and starts it; resolves when it serves. */
  async restart(name: NodeDaemon): Promise<void> {
    const daemon = this.#daemons[name];
    await daemon.stop();
    daemon.start();
    const serves = { 'ovsdb-server': ['--no-wait', 'show'], 'ovs-vswitchd': ['show'], 'ovn-controller': undefined }[name];
    await daemon.waitUntil(() => (serves === undefined ? existsSync(this.#control(name)) : succeeds(this.vsctl('--timeout=5', ...serves))));
  }

  /** Sends a signal, SIGKILL by default. */
  async kill(name: NodeDaemon, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await this.#daemons[name].kill(signal);
  }

  async stop(): Promise<void> {
    await this.#daemons['ovn-controller'].stop();
    await this.#daemons['ovs-vswitchd'].stop();
    await this.#daemons['ovsdb-server'].stop();
  }

  /** Runs `ovs-vsctl`: the view of a program that is not ours. */
  async vsctl(...args: readonly string[]): Promise<string> {
    return await this.#run('ovs-vsctl', [`--db=${this.endpoint}`, '--timeout=60', ...args]);
  }

  /** Runs `ovs-ofctl`. */
  async ofctl(...args: readonly string[]): Promise<string> {
    return await this.#run('ovs-ofctl', args);
  }

  /** Runs `ovs-appctl` on a daemon: `appctl('ovs-vswitchd', 'dpctl/dump-conntrack')`. */
  async appctl(name: NodeDaemon, ...args: readonly string[]): Promise<string> {
    return await this.#run('ovs-appctl', ['--target', this.#control(name), ...args]);
  }

  /** The socket for `ovs-appctl`; ovn-controller of OVN 23.03 chooses its name. */
  #control(name: NodeDaemon): string {
    return this.#path(name === 'ovn-controller' ? `${name}.${this.#daemons[name].pid}.ctl` : `${name}.ctl`);
  }

  #describe(program: NodeDaemon, args: readonly string[]): Daemon {
    const control = program === 'ovn-controller' ? [] : [`--unixctl=${this.#path(`${program}.ctl`)}`];
    const command = [...this.#installation.command(program), ...control, '-vconsole:info', ...args] as const;
    return new Daemon({
      name: `${program} of ${this.#namespace.name}`,
      command: this.#namespace.command(...command),
      log: this.#path(`${program}.log`),
      env: this.#environment(),
    });
  }

  async #run(program: OvnProgram, args: readonly string[]): Promise<string> {
    const command = [...this.#installation.command(program), ...args] as readonly string[] as readonly [string, ...string[]];
    return await runProgram(this.#namespace.command(...command), { env: this.#environment() });
  }

  #environment(): Record<string, string | undefined> {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(?:OVN|OVS)_/.test(name));
    const own = ['RUNDIR', 'LOGDIR', 'DBDIR'].flatMap((name) => [`OVN_${name}`, `OVS_${name}`]);
    return { ...Object.fromEntries(inherited), ...Object.fromEntries(own.map((name) => [name, this.#directory])) };
  }

  #path(file: string): string {
    return join(this.#directory, file);
  }
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  return await work.then(
    () => true,
    () => false,
  );
}
