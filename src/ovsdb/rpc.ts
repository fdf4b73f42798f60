import type { Clock } from './clock.ts';
import { OvsdbError, toOvsdbError } from './errors.ts';
import { type Ailment, InactivityProbe } from './inactivity-probe.ts';
import { MessageStream, type TakeRows } from './message-stream.ts';
import type { Wire } from './transport.ts';

/** Rows are read for so long at a stretch, in milliseconds; then everybody else has a turn. */
const stretchMs = 10;

/** What came of a request: the result, the peer's `error` member, or the loss of the connection. */
export type RpcReply =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'lost'; readonly error: OvsdbError };

interface Request {
  readonly method: string;
  readonly sentAt: number;
  /** The answer may take so long for a reason that the request names. */
  readonly mayTakeMs: number;
  readonly onReply: (reply: RpcReply) => void;
}

export interface RpcOptions {
  readonly clock: Clock;
  /** Silence after which an echo is sent, and again after which the connection is given up; see {@link InactivityProbe}. */
  readonly probeIntervalMs: number;
  readonly maxMessageBytes: number;
  readonly onNotification: (method: string, params: readonly unknown[]) => void;
  /** Called once, whoever ended the connection, after every open request was answered with `lost`. */
  readonly onClosed: (error: OvsdbError) => void;
}

/**
 * JSON-RPC 1.0 over one open socket (RFC 7047 section 4).
 *
 * Replies and notifications are handed over synchronously and in the order they arrive: an update that the server sent before the
 * reply to a transaction is seen before it, and no update slips between the reply to a monitor request and its handling.
 */
export class RpcConnection {
  readonly #socket: Wire;
  readonly #options: RpcOptions;
  readonly #stream: MessageStream;
  readonly #probe: InactivityProbe;
  /** Open requests, oldest first. */
  readonly #pending = new Map<number, Request>();
  /** The oldest open request of all that a later one was answered before, and since when. */
  #passedOver: { readonly id: number; readonly method: string; readonly since: number } | undefined;
  /** When a message was begun that is not whole. */
  #begunAt: number | undefined;
  #nextId = 1;
  #closed = false;
  /** When an answer came last, or a part of one. */
  #answeredAt = -Infinity;
  #expectsRows = false;
  /** When the event loop's present turn began to read rows. */
  #stretchBegan: number | undefined;

  constructor(socket: Wire, options: RpcOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#stream = new MessageStream(options.maxMessageBytes, (message) => this.#receive(message));
    this.#probe = new InactivityProbe(
      options.clock,
      options.probeIntervalMs,
      () => this.call('echo', [], () => {}),
      (ms, ailment) => this.close(givenUp(ms, ailment, this.#passedOver?.method)),
      () => this.#owedSince(),
      () => this.#passedOver?.since,
    );
    socket.on('data', (chunk: Buffer) => {
      // White space between and in messages says nothing: a peer that sends no more than that is silent.
      const says = !isBlank(chunk);
      this.#read(() => this.#stream.push(chunk), says);
    });
    socket.on('message', (message) => this.#read(() => this.#receive(message)));
    socket.on('error', (cause) => this.close(refusedByTls(cause) ?? broken(cause)));
    socket.on('close', () => this.close(new OvsdbError('OVSDB_DISCONNECTED', 'the server closed the connection')));
  }

  /**
   * Sends a request; `onReply` is called exactly once.
   * @param mayTakeMs how long the request itself asks the server to wait
   * @returns the id, for `cancel`
   */
  call(method: string, params: readonly unknown[], onReply: (reply: RpcReply) => void, mayTakeMs = 0): number {
    const id = this.#nextId++;
    if (this.#closed) {
      onReply({ kind: 'lost', error: new OvsdbError('OVSDB_DISCONNECTED', 'the connection is closed') });
      return id;
    }
    this.#pending.set(id, { method, sentAt: this.#options.clock.now(), mayTakeMs, onReply });
    this.#send({ method, params, id });
    return id;
  }

  /** {@link call} as a promise. It settles after all that came in the same chunk was handled: not for a monitor's first contents. */
  request(method: string, params: readonly unknown[]): Promise<RpcReply> {
    return new Promise((resolve) => this.call(method, params, resolve));
  }

  notify(method: string, params: readonly unknown[]): void {
    if (!this.#closed) this.#send({ method, params, id: null });
  }

  /** The rows of a result are handed over while they come: see {@link MessageStream.expectRows}. They end with the reply. */
  expectRows(at: number | undefined, take?: TakeRows): void {
    this.#expectsRows = at !== undefined;
    this.#stream.expectRows(at, take);
  }

  setProbeInterval(intervalMs: number): void {
    this.#probe.setInterval(intervalMs);
  }

  close(error: OvsdbError): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#probe.stop();
    this.#stream.end();
    this.#socket.destroy();
    const open = [...this.#pending.values()];
    this.#pending.clear();
    for (const { onReply } of open) onReply({ kind: 'lost', error });
    this.#options.onClosed(error);
  }

  #owedSince(): number | undefined {
    for (const { sentAt } of this.#pending.values()) return Math.max(sentAt, this.#answeredAt);
    // A message that is not whole after long is owed as well: nothing else can come before it is.
    return this.#begunAt;
  }

  /** @param answered a request that was answered now */
  #notePassedOver(answered: number): void {
    if (this.#passedOver !== undefined && this.#pending.has(this.#passedOver.id)) return;
    this.#passedOver = undefined;
    for (const [id, { method, sentAt, mayTakeMs }] of this.#pending) {
      if (id > answered) return;
      if (this.#answeredAt - sentAt < mayTakeMs) continue;
      this.#passedOver = { id, method, since: this.#answeredAt };
      return;
    }
  }

  #send(message: object): void {
    if (this.#socket.send === undefined) this.#socket.write(JSON.stringify(message));
    else this.#socket.send(message);
  }

  #read(take: () => void, says = true): void {
    if (this.#closed) return;
    if (says) this.#probe.received();
    // Most of it are rows of the contents that were asked for, which go on for as long as they are many.
    if (this.#expectsRows && says) this.#answeredAt = this.#options.clock.now();
    try {
      take();
    } catch (thrown) {
      this.close(toOvsdbError(thrown, 'OVSDB_PROTOCOL'));
    }
    if (!this.#stream.inMessage || this.#expectsRows) this.#begunAt = undefined;
    else this.#begunAt ??= this.#options.clock.now();
    // Composing the objects of a large message takes time during which nothing could be heard.
    if (says) this.#probe.received();
    if (this.#expectsRows) this.#pace();
  }

  /** A socket with much to read hands over up to 2 MB in one turn. */
  #pace(): void {
    const { clock } = this.#options;
    if (this.#stretchBegan === undefined) {
      this.#stretchBegan = clock.now();
      setImmediate(() => {
        this.#stretchBegan = undefined;
        if (!this.#closed) this.#socket.resume();
      });
    } else if (clock.now() - this.#stretchBegan >= stretchMs) this.#socket.pause();
  }

  #receive(message: unknown): void {
    if (typeof message !== 'object' || message === null) throw new OvsdbError('OVSDB_PROTOCOL', 'a message is not an object');
    const { method, params, id, result, error } = message as Record<string, unknown>;
    if (typeof method === 'string') {
      if (!Array.isArray(params)) throw new OvsdbError('OVSDB_PROTOCOL', `${method} has no list of params`);
      if (id === null || id === undefined) this.#options.onNotification(method, params);
      else if (method === 'echo') this.#send({ id, result: params, error: null });
      else this.#send({ id, result: null, error: { error: 'unknown method' } });
      return;
    }
    const request = typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (request === undefined) throw new OvsdbError('OVSDB_PROTOCOL', `a reply has an id that no request had: ${JSON.stringify(id)}`);
    this.#pending.delete(id as number);
    this.#begunAt = undefined;
    this.#answeredAt = this.#options.clock.now();
    this.#notePassedOver(id as number);
    request.onReply(error === null || error === undefined ? { kind: 'result', result } : { kind: 'error', error });
  }
}

function isBlank(chunk: Buffer): boolean {
  for (const byte of chunk) if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return false;
  return true;
}

function givenUp(ms: number, ailment: Ailment, method = 'a request'): OvsdbError {
  const time = `for ${Math.round(ms)} ms`;
  if (ailment === 'choosy')
    return new OvsdbError('OVSDB_NO_REPLY', `the server answers echoes and has left ${method} without an answer ${time}`);
  const what = ailment === 'silent' ? 'was silent' : 'sent, and answered nothing,';
  return new OvsdbError('OVSDB_PROBE_TIMEOUT', `the server ${what} ${time}`);
}

function broken(cause: Error): OvsdbError {
  return new OvsdbError('OVSDB_DISCONNECTED', `the connection broke: ${cause.message}`, { cause });
}

/** With TLS 1.3 a server looks at the client's certificate when the connection is open already, and ends it with an alert (RFC 8446 section 6.2). */
function refusedByTls(cause: Error): OvsdbError | undefined {
  const alert = /\balert ((?:certificate|bad certificate|unsupported certificate|unknown ca|access denied|decrypt error)[^:]*):/.exec(
    cause.message,
  )?.[1];
  if (alert === undefined) return undefined;
  return new OvsdbError('OVSDB_CONNECT_FAILED', `the server does not accept the client's certificate: TLS alert "${alert}"`, { cause });
}
