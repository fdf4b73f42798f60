import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { NetworkNamespace } from '../../lab/node/namespace.ts';

/** A port of its own for each connection, so that the server of another one never answers. */
let port = 9_100;
const SERVER = `require('net').createServer((one) => one.on('error', () => {}).pipe(one))
  .listen(Number(process.argv[1]), '::', () => console.log('listens'))`;
/** Sends a byte every 20 ms, gets each back, and tells when it is ended how it went. */
const CLIENT = `
  const [started, report] = [performance.now(), { sent: 0, answered: 0, longestMs: 0, ended: null }];
  let last = started;
  const one = require('net').connect(Number(process.argv[2]), process.argv[1]);
  one.setNoDelay(true);
  one.on('connect', () => setInterval(() => { if (report.ended === null) { one.write('x'); report.sent++; } }, 20));
  one.on('data', ({ length }) => {
    if (report.answered === 0) { console.log('connected'); last = performance.now(); }
    report.answered += length;
    report.longestMs = Math.max(report.longestMs, performance.now() - last);
    last = performance.now();
  });
  one.on('error', ({ code }) => (report.ended ??= code)).on('close', () => (report.ended ??= 'closed'));
  process.on('SIGTERM', () => { console.log(JSON.stringify(report)); process.exit(); });`;

export interface Held {
  readonly sent: number;
  readonly answered: number;
  /** The longest time between two answers, in milliseconds. */
  readonly longestMs: number;
  /** Why the connection ended before its time; null: it lived. */
  readonly ended: string | null;
}

/** One connection of TCP, on which bytes go there and back until it ends. It is never made again. */
export class HeldConnection {
  readonly #server: ChildProcess;
  readonly #client: ChildProcess;

  private constructor(server: ChildProcess, client: ChildProcess) {
    this.#server = server;
    this.#client = client;
  }

  /** Returns once a byte came back. */
  static async open(from: NetworkNamespace, to: NetworkNamespace, address: string): Promise<HeldConnection> {
    port += 1;
    const own = String(port);
    const server = await started(to, SERVER, own);
    try {
      return new HeldConnection(server, await started(from, CLIENT, address, own));
    } catch (error) {
      server.kill('SIGKILL');
      throw error;
    }
  }

  async end(): Promise<Held> {
    let shown = '';
    this.#client.stdout?.setEncoding('utf8').on('data', (text: string) => (shown += text));
    this.#client.kill('SIGTERM');
    await once(this.#client, 'close');
    this.kill();
    return JSON.parse(shown) as Held;
  }

  /** Ends it without a report. */
  kill(): void {
    for (const child of [this.#client, this.#server]) child.kill('SIGKILL');
  }
}

/** @returns a process that has printed a line @throws Error if it ends or prints nothing for half a minute */
async function started(namespace: NetworkNamespace, source: string, ...args: readonly string[]): Promise<ChildProcess> {
  const [program, ...rest] = namespace.command(process.execPath, '-e', source, ...args);
  const child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    await once(child.stdout, 'data', { signal: AbortSignal.timeout(30_000) });
  } catch {
    child.kill('SIGKILL');
    throw new Error(`no connection of TCP: ${args.join(' ')}`);
  }
  return child;
}
