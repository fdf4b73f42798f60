import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Scheduler } from '../timing/clock.ts';
import type { Endpoint } from './endpoint.ts';
import { OvsdbError } from './errors.ts';

/** What an `ssl:` endpoint needs, as PEM text. */
export interface TlsMaterial {
  readonly ca: string | Buffer;
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
  /**
   * Whether the server's certificate has to name the endpoint's host. Off by default, as in OVS itself: certificates made by
   * ovs-pki name no host, and trust rests on the CA.
   */
  readonly verifyHostname?: boolean;
}

/** The material, or a function that is called at each connection, so that renewed certificates are used. */
export type TlsOption = TlsMaterial | (() => TlsMaterial);

/**
 * What a connection needs of its socket; `net.Socket` and `tls.TLSSocket` have it. A server in the same process may exchange messages as
 * objects instead of text: neither side changes a message that was sent.
 */
export interface Wire {
  on(event: 'message', listener: (message: unknown) => void): unknown;
  /** Instead of `write`. */
  send?(message: object): void;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'error', listener: (cause: Error) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  write(text: string): unknown;
  /** No more `data` until `resume`; TCP's flow control makes the peer wait. */
  pause(): unknown;
  resume(): unknown;
  destroy(): unknown;
}

export interface Dialing {
  /** Stops the attempt; neither callback is called afterwards. */
  cancel(): void;
}

export type Dial = (
  endpoint: Endpoint,
  tls: TlsOption | undefined,
  timeoutMs: number,
  clock: Scheduler,
  onOpen: (wire: Wire) => void,
  onFailed: (error: OvsdbError) => void,
) => Dialing;

/** Opens a socket, with TLS for an `ssl:` endpoint. Calls exactly one of the two functions, never before it returns. */
export function dial(
  endpoint: Endpoint,
  tls: TlsOption | undefined,
  timeoutMs: number,
  clock: Scheduler,
  onOpen: (wire: Wire) => void,
  onFailed: (error: OvsdbError) => void,
): Dialing {
  let over = false;
  let socket: Socket | undefined;
  const finish = (): boolean => {
    if (over) return false;
    over = true;
    cancelTimer();
    return true;
  };
  const fail = (error: OvsdbError): void => {
    if (!finish()) return;
    socket?.destroy();
    onFailed(error);
  };
  const cancelTimer = clock.schedule(timeoutMs, () => {
    fail(new OvsdbError('OVSDB_CONNECT_TIMEOUT', `${endpoint.text} did not answer within ${timeoutMs} ms`, { endpoint: endpoint.text }));
  });
  const failed = (cause: unknown): void => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    fail(new OvsdbError('OVSDB_CONNECT_FAILED', `cannot connect to ${endpoint.text}: ${reason}`, { cause, endpoint: endpoint.text }));
  };
  try {
    socket = open(endpoint, tls);
  } catch (cause) {
    queueMicrotask(() => failed(cause));
    return { cancel: finish };
  }
  const opened = socket;
  opened.once('error', failed);
  opened.once(endpoint.kind === 'ssl' ? 'secureConnect' : 'connect', () => {
    if (!finish()) return;
    opened.off('error', failed);
    opened.setNoDelay(true);
    onOpen(opened);
  });
  return {
    cancel() {
      if (finish()) {
        opened.on('error', () => {});
        opened.destroy();
      }
    },
  };
}

function open(endpoint: Endpoint, tls: TlsOption | undefined): Socket {
  if (endpoint.kind === 'unix') return connectPlain({ path: endpoint.path });
  if (endpoint.kind === 'tcp') return connectPlain({ host: endpoint.host, port: endpoint.port });
  const material = typeof tls === 'function' ? tls() : tls;
  if (material === undefined) throw new OvsdbError('OVSDB_BAD_OPTION', `${endpoint.text} needs the option tls (ca, cert, key)`);
  return connectTls({
    host: endpoint.host,
    port: endpoint.port,
    ca: material.ca,
    cert: material.cert,
    key: material.key,
    minVersion: 'TLSv1.2',
    ...(material.verifyHostname === true ? {} : { checkServerIdentity: () => undefined }),
  });
}
