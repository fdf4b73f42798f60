/** firewalld itself (of Debian's package) in the namespace of a node, with a message bus of its own. */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NetworkNamespace } from '../../lab/node/namespace.ts';
import { Daemon } from '../../lab/programs/daemon.ts';
import { runProgram } from '../../lab/programs/run-program.ts';
import { onPath } from '../../lab/programs/executable.ts';
import { until } from '../../src/testing/until.ts';

/** Whether it can run here. */
export const hasFirewalld = ['firewalld', 'firewall-cmd', 'dbus-daemon'].every((program) => onPath(program) !== undefined);

export class Firewalld {
  readonly #bus: Daemon;
  readonly #daemon: Daemon;
  readonly #env: Record<string, string | undefined>;

  private constructor(namespace: NetworkNamespace, directory: string) {
    this.#env = { ...process.env, DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${join(directory, 'bus')}` };
    this.#bus = new Daemon({
      name: 'dbus-daemon',
      command: ['dbus-daemon', `--config-file=${join(directory, 'bus.conf')}`, '--nofork'],
      log: join(directory, 'bus.log'),
      env: this.#env,
    });
    this.#daemon = new Daemon({
      name: 'firewalld',
      command: namespace.command(
        'firewalld',
        '--nofork',
        '--nopid',
        '--system-config',
        join(directory, 'etc'),
        '--log-file',
        join(directory, 'fw.log'),
      ),
      log: join(directory, 'out.log'),
      env: this.#env,
    });
  }

  /** With its usual zone, which rejects what nobody allowed. @param directory does not exist yet */
  static async start(namespace: NetworkNamespace, directory: string): Promise<Firewalld> {
    await mkdir(directory, { recursive: true });
    await cp('/etc/firewalld', join(directory, 'etc'), { recursive: true });
    const policy =
      '<allow user="*"/><allow own="*"/><allow send_type="method_call"/><allow send_destination="*"/><allow receive_type="*"/>';
    const listen = `<type>system</type><listen>unix:path=${join(directory, 'bus')}</listen><auth>EXTERNAL</auth>`;
    await writeFile(join(directory, 'bus.conf'), `<busconfig>${listen}<policy context="default">${policy}</policy></busconfig>`);
    const started = new Firewalld(namespace, directory);
    started.#bus.start();
    started.#daemon.start();
    await until('firewalld runs', async () => (await started.command('--state').catch(() => '')).includes('running'));
    return started;
  }

  /** Runs `firewall-cmd`. */
  async command(...args: readonly string[]): Promise<string> {
    return await runProgram(['firewall-cmd', ...args], { env: this.#env });
  }

  /** It takes its rules away. */
  async stop(): Promise<void> {
    await this.#daemon.stop();
    await this.#bus.stop();
  }
}
