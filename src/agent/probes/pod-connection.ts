/** Connections from within a pod's network namespace to its own address. A program of the host makes each: a process has one namespace. */
import { spawn } from 'node:child_process';
import { Duplex } from 'node:stream';
import { inNamespace } from '../kernel/programs.ts';

export interface PodEnd {
  readonly namespacePath: string;
  /** Canonical. */
  readonly address: string;
  readonly port: number;
}

/** Opens a connection; one that is refused ends without a byte. */
export type ConnectToPod = (end: PodEnd) => Duplex;

/** The program. */
export const CONNECTOR = 'socat';

/** How long the program stays once one direction has ended: what the pod sends last has passed by then, and kubelet ends none before it has all. */
const HALF_CLOSED_SECONDS = 0.02;
const CONNECT_SECONDS = 3;
/** Nobody is there for most addresses, and probes wait for it. */
const HOST_SECONDS = 1;

export const connectToPod: ConnectToPod = ({ namespacePath, ...end }) => {
  const [program, ...args] = inNamespace(namespacePath, CONNECTOR, '-t', String(HALF_CLOSED_SECONDS), '-', addressOf(end));
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const { stdin, stdout } = child;
  // The program may end before it has read all; what it printed before that counts.
  stdin.on('error', () => undefined);
  const stream = new Duplex({
    read: () => void stdout.resume(),
    write: (chunk, encoding, done) => void stdin.write(chunk, encoding, () => done()),
    final: (done) => void stdin.end(() => done()),
    destroy: (error, done) => {
      child.kill('SIGKILL');
      done(error);
    },
  });
  stdout.on('data', (chunk: Buffer) => void (stream.push(chunk) || stdout.pause())).once('end', () => void stream.push(null));
  // The program is missing.
  child.once('error', (error) => stream.destroy(error));
  return stream;
};

/** Ends well if the port is open. */
export function checkCommand({ namespacePath, ...end }: PodEnd): readonly [string, ...string[]] {
  return inNamespace(namespacePath, CONNECTOR, '-u', 'OPEN:/dev/null', addressOf(end));
}

/** The same from the node itself: whether it reaches a host by the address. */
export function hostCheckCommand(end: Omit<PodEnd, 'namespacePath'>): readonly [string, ...string[]] {
  return [CONNECTOR, '-u', 'OPEN:/dev/null', addressOf(end, HOST_SECONDS)];
}

function addressOf({ address, port }: Omit<PodEnd, 'namespacePath'>, seconds = CONNECT_SECONDS): string {
  const host = address.includes(':') ? `TCP6:[${address}]` : `TCP4:${address}`;
  return `${host}:${port},connect-timeout=${seconds}`;
}
