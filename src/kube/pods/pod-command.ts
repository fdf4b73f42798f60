/** Runs a command in a container, as `kubectl exec` does, without input, and takes what it prints. */
import { KubeError, type KubeSubject } from '../errors.ts';
import type { Connection } from '../transport/connection.ts';
import type { PodName } from './pod-port.ts';
import { CHANNELS } from './pod-port.ts';
import { openWebSocket } from './web-socket.ts';

export interface PodCommand extends PodName {
  readonly container: string;
  /** The program and its arguments; no shell reads them. */
  readonly command: readonly string[];
  readonly timeoutMs: number;
  /** Of what it prints. */
  readonly mostBytes: number;
}

const OUTPUT = 1;
const ERRORS = 2;
const STATUS = 3;
const MOST_ERROR_BYTES = 16 * 1_024;

/** @throws KubeError if it is refused, fails, or prints too much: `create` and `get` of `pods/exec` are needed */
export async function runInPod(connection: Connection, options: PodCommand): Promise<string> {
  const { namespace, name, container, command, timeoutMs, mostBytes } = options;
  const query = new URLSearchParams([
    ['container', container],
    ['stdout', 'true'],
    ['stderr', 'true'],
    ...command.map((word): [string, string] => ['command', word]),
  ]);
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/exec?${query.toString()}`;
  const subject: KubeSubject = { verb: 'exec', resource: 'pods/exec', namespace, name };
  const failed = (why: string): KubeError =>
    new KubeError('KUBE_DISCONNECTED', subject, `${command[0] ?? ''} in container ${container}: ${why}`);
  const printed: Buffer[] = [];
  let size = 0;
  let errors = '';
  let status: CommandStatus | undefined;
  let end: (error: Error | undefined) => void = () => undefined;
  const ended = new Promise<Error | undefined>((done) => (end = done));
  const socket = await openWebSocket({
    ...{ connection, subject, path, timeoutMs, protocol: CHANNELS },
    events: {
      message: (data) => {
        const rest = data.subarray(1);
        if (data[0] === OUTPUT) {
          size += rest.length;
          if (size > mostBytes) end(failed(`it printed more than ${mostBytes} bytes`));
          else printed.push(rest);
        } else if (data[0] === ERRORS && errors.length < MOST_ERROR_BYTES) errors += rest.toString('utf8');
        else if (data[0] === STATUS && rest.length > 0) {
          status = statusOf(rest.toString('utf8'));
          end(undefined);
        }
      },
      closed: end,
    },
  });
  const timer = setTimeout(() => end(failed(`not done after ${timeoutMs / 1_000} s`)), timeoutMs);
  try {
    const error = await ended;
    if (error !== undefined) throw error instanceof KubeError ? error : failed(error.message);
    // Without a status the stream was cut: what was printed may not be whole.
    if (status === undefined) throw failed('the stream ended before the command did');
    if (status.status !== 'Success') throw failed(errors.trim() === '' ? (status.message ?? 'it failed') : errors.trim());
    return Buffer.concat(printed).toString('utf8');
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}

/** As the kubelet ends a command. */
interface CommandStatus {
  readonly status?: string;
  readonly message?: string;
}

function statusOf(text: string): CommandStatus {
  try {
    return JSON.parse(text) as CommandStatus;
  } catch {
    return { status: 'Failure', message: text };
  }
}
