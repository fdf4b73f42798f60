/**
 * A laboratory with a controller for tests of commands, and the commands: most in processes that are used again, since loading the program takes
 * ten times what they do; with `runKiln` in one of their own, as a user's are.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import type { Controller } from '../../controller/controller.ts';
import { KubeClient } from '../../kube/client.ts';
import { connectionFromKubeconfig } from '../../kube/connection.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { KubeTransport } from '../../kube/transport.ts';
import { Laboratory } from '../../lab/laboratory.ts';
import { findOvn } from '../../lab/programs/ovn.ts';
import { SILENT } from '../../runtime/log.ts';
import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import { makeController, northboundSession } from '../connect.ts';
import { CommandHosts } from './command-hosts.ts';

const KILN = join(import.meta.dirname, '../../../bin/kiln');

/** How a process ended. */
export interface Ended {
  readonly exit: number | null;
  readonly out: string;
  readonly said: string;
}

export class CommandLab implements AsyncDisposable {
  readonly lab: Laboratory;
  readonly client: KubeClient;
  readonly controller: Controller;
  readonly directory: string;
  readonly #hosts = new CommandHosts();

  private constructor(directory: string, lab: Laboratory, client: KubeClient) {
    this.directory = directory;
    this.lab = lab;
    this.client = client;
    this.controller = makeController(client, northboundSession({ ovnNb: lab.ovn.nbEndpoint }, SILENT), SILENT, { collectionLimit: false });
  }

  static async open(): Promise<CommandLab> {
    const directory = await mkdtemp(join(tmpdir(), 'kiln-commands-'));
    const lab = new Laboratory({ directory, nodes: 1, step: (_what, done) => done.then(() => undefined) });
    await lab.start();
    const client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: lab.kubeconfig })));
    const opened = new CommandLab(directory, lab, client);
    opened.controller.start();
    await opened.controller.untilQuiet();
    return opened;
  }

  make(resource: ResourceName, object: object): Promise<KubeObject> {
    return this.client.create(traitsOf(resource), object as KubeObject);
  }

  /** Runs `kiln` with the laboratory's kubeconfig and Northbound database, in a process that other commands ran in before. */
  kiln(...args: readonly string[]): Promise<Ended> {
    return this.#hosts.run({ args: [...args, `--kubeconfig=${this.lab.kubeconfig}`], env: { KILN_OVN_NB: this.lab.ovn.nbEndpoint } });
  }

  /** The same, with Ctrl-C once this has been said. */
  kilnInterrupted(interruptAt: RegExp, ...args: readonly string[]): Promise<Ended> {
    return runKiln([...args, `--kubeconfig=${this.lab.kubeconfig}`], { interruptAt });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#hosts[Symbol.asyncDispose]();
    await this.controller.stop();
    await this.client.close();
    await this.lab.stop();
    await rm(this.directory, { recursive: true, force: true });
  }
}

/**
 * A laboratory for the tests of one file: open before the first of them, gone after the last.
 * @param use told of it once it is open; what it prepares is there before the first test
 * @returns why those tests are skipped here; false where they are not
 */
export function labOfThisFile(use: (lab: CommandLab) => void | Promise<void>): string | false {
  if (findOvn('system') === undefined) return 'OVN is not installed';
  let lab: CommandLab | undefined;
  before(async () => {
    lab = await CommandLab.open();
    await use(lab);
  });
  after(async () => {
    await lab?.[Symbol.asyncDispose]();
  });
  return false;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Sends Ctrl-C when this has been said on standard error, or printed. */
  readonly interruptAt?: RegExp;
  /** Told all that was printed so far, whenever something is. */
  readonly heard?: (out: string) => void;
}

export function runKiln(args: readonly string[], { env = {}, interruptAt, heard }: RunOptions = {}): Promise<Ended> {
  const child = spawn(KILN, args, { env: { ...process.env, LC_ALL: 'C.UTF-8', ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, said] = ['', ''];
  let interrupted = false;
  const interruptAtLast = (): void => {
    // Once: a second Ctrl-C ends the process without its last words.
    if (interrupted || interruptAt === undefined || !(interruptAt.test(said) || interruptAt.test(out))) return;
    interrupted = true;
    child.kill('SIGINT');
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    heard?.(out);
    interruptAtLast();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    interruptAtLast();
  });
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (exit) => done({ exit, out, said }));
  });
}
