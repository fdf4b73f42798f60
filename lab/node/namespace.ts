import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../directory-claim.ts';
import { runProgram } from '../programs/run-program.ts';
import { Pinging } from './pinging.ts';
import { askServer, serveClients } from './tcp-exchange.ts';

/** Where `ip netns` keeps its namespaces. */
const FOLDER = '/run/netns';
/** The process id in the name tells whether its laboratory still runs. */
const NAME = /^kiln-(\d+)-/;
let made = 0;

export interface PingOptions {
  readonly seconds?: number;
  readonly size?: number;
}

/** A network namespace with a name of its own: `ip netns exec NAME …` enters it by hand. */
export class NetworkNamespace {
  readonly name: string;

  private constructor(name: string) {
    this.name = name;
  }

  /**
   * Creates one, with its loopback interface up. Namespaces of laboratories that were killed are deleted first.
   *
   * @param role part of the name: `node-1`, `default-web`
   * @throws ProgramError without the right to create namespaces (CAP_SYS_ADMIN)
   */
  static async create(role: string): Promise<NetworkNamespace> {
    await deleteAbandonedNamespaces();
    made += 1;
    const namespace = new NetworkNamespace(`kiln-${process.pid}-${made}-${role}`);
    await runProgram(['ip', 'netns', 'add', namespace.name]);
    await namespace.run('ip', 'link', 'set', 'lo', 'up');
    return namespace;
  }

  get path(): string {
    return join(FOLDER, this.name);
  }

  /** The command that runs a program in this namespace. Unlike `ip netns exec` it leaves /sys as it is, which container runtimes need. */
  command(...program: readonly [string, ...string[]]): readonly [string, ...string[]] {
    return ['nsenter', `--net=${this.path}`, '--', ...program];
  }

  /** Runs a program in it and returns what it prints. Throws `ProgramError` when it fails. */
  async run(...program: readonly [string, ...string[]]): Promise<string> {
    return await runProgram(this.command(...program), { timeoutMs: 60_000 });
  }

  /**
   * Whether an echo request is answered, of one every 100 ms for some seconds: the first packets of a tunnel wait for the neighbour entries of
   * the underlay. Works for IPv4 and IPv6.
   *
   * @param size bytes of payload, in one packet that must not be fragmented
   */
  async reaches(address: string, { seconds = 5, size }: PingOptions = {}): Promise<boolean> {
    const whole = size === undefined ? [] : ['-M', 'do', '-s', String(size)];
    const sent = this.run('ping', '-n', '-q', '-c', '1', '-i', '0.1', '-w', String(seconds), ...whole, address);
    return await sent.then(
      () => true,
      () => false,
    );
  }

  /** Starts to send echo requests, which go on until the result ends. */
  ping(address: string): Pinging {
    return new Pinging((...program) => this.command(...program), address);
  }

  /** Starts a server of TCP that tells each client its address. @returns ends it */
  async serve(port: number): Promise<() => Promise<void>> {
    return await serveClients((...program) => this.command(...program), port);
  }

  /** Asks such a server. @returns its answer, or the code of an error, or nothing */
  async ask(address: string, port: number): Promise<string> {
    return await askServer((...program) => this.command(...program), address, port);
  }

  /** Deletes the namespace with all its interfaces, as soon as no process is in it. */
  async delete(): Promise<void> {
    await deleteNamespace(this.name);
  }
}

/** Deletes a namespace by its name, if there is one. */
export async function deleteNamespace(name: string): Promise<void> {
  if (existsSync(join(FOLDER, name))) await runProgram(['ip', 'netns', 'delete', name]);
}

/** Deletes the namespaces of laboratories that were killed. */
export async function deleteAbandonedNamespaces(): Promise<void> {
  const names = existsSync(FOLDER) ? readdirSync(FOLDER) : [];
  for (const name of names) {
    const owner = Number(NAME.exec(name)?.[1] ?? process.pid);
    // Another laboratory may delete it at the same time.
    if (owner !== process.pid && !isAlive(owner)) await runProgram(['ip', 'netns', 'delete', name]).catch(() => '');
  }
}
