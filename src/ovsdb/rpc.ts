import type { Scheduler } from '../timing/clock.ts';
import { OvsdbError, toOvsdbError } from './errors.ts';
import { type SilenceKind, InactivityProbe } from './inactivity-probe.ts';
import { MessageStream, type TakeRows } from './message-stream.ts';
import type { Wire } from './transport.ts';

/** Rows are read for so many milliseconds at a stretch; then the event loop runs everything else that is due. */
const stretchMs = 10;

/** How a request ended: with a result, with the peer's `error` member, or with the loss of the connection. */
export type RpcReply =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'lost'; readonly error: OvsdbError };

interface Request {
  readonly method: string;
  readonly sentAt: number;
  /** How long the request itself lets the server wait: the reply may take that much longer. */
  readonly mayTakeMs: number;
  readonly onReply: (reply: RpcReply) => void;
}

export interface RpcOptions {
  readonly clock: Scheduler;
  /** After this long without a byte an echo is sent; after as long again the connection is closed. See {@link InactivityProbe}. */
  readonly probeIntervalMs: number;
  readonly maxMessageBytes: number;
  readonly onNotification: (method: string, params: readonly unknown[]) => void;
  /** Called once when the connection ended on either side, after every open request ended with `lost`. */
  readonly onClosed: (error: OvsdbError) => void;
}

/**
 * JSON-RPC 1.0 over one open socket (RFC 7047 section 4).
 *
 * Guaranteed: replies and notifications are handed over synchronously, in the order of arrival. So an update that the server sent before
 * the reply to a transaction is handled before that reply, and no update comes between the reply to a monitor request and its handling.
 * Not retried: a request ends with its reply or with the connection.
 */
export class RpcConnection {
  readonly #socket: Wire;
  readonly #options: RpcOptions;
  readonly #stream: MessageStream;
  readonly #probe: InactivityProbe;
  /** Open requests, oldest first. */
  readonly #pending = new Map<number, Request>();
  /** The oldest request that the server skipped: it has answered a later one since. */
  #skipped: { readonly id: number; readonly method: string; readonly since: number } | undefined;
  /** When the first part of an incomplete message arrived. */
  #begunAt: number | undefined;
  #nextId = 1;
  #closed = false;
  /** When the last reply, or a part of one, arrived. */
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
      (ms, kind) => this.close(givenUp(ms, kind, this.#skipped?.method)),
      () => this.#unansweredSince(),
      () => this.#skipped?.since,
    );
    socket.on('data', (chunk: Buffer) => {
      // White space is no content: a peer that sends nothing else counts as silent.
      const hasContent = !isBlank(chunk);
      this.#read(() => this.#stream.push(chunk), hasContent);
    });
    socket.on('message', (message) => this.#read(() => this.#receive(message)));
    socket.on('error', (cause) => this.close(rejectedByTls(cause) ?? broken(cause)));
    socket.on('close', () => this.close(new OvsdbError('OVSDB_DISCONNECTED', 'the server closed the connection')));
  }

  /**
   * Sends a request; `onReply` is called exactly once.
   * @param mayTakeMs how long the request itself lets the server wait
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

  /** {@link call} as a promise. It resolves after the whole chunk was handled: too late for a monitor's first contents. */
  request(method: string, params: readonly unknown[]): Promise<RpcReply> {
    return new Promise((resolve) => this.call(method, params, resolve));
  }

  notify(method: string, params: readonly unknown[]): void {
    if (!this.#closed) this.#send({ method, params, id: null });
  }

  /** Hands over the rows of the next result while they arrive: see {@link MessageStream.expectRows}. */
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

  #unansweredSince(): number | undefined {
    for (const { sentAt } of this.#pending.values()) return Math.max(sentAt, this.#answeredAt);
    // An incomplete message counts as unanswered too: nothing else can arrive before its end.
    return this.#begunAt;
  }

  /** @param answered a request that was answered now */
  #noteSkipped(answered: number): void {
    if (this.#skipped !== undefined && this.#pending.has(this.#skipped.id)) return;
    this.#skipped = undefined;
    for (const [id, { method, sentAt, mayTakeMs }] of this.#pending) {
      if (id > answered) return;
      if (this.#answeredAt - sentAt < mayTakeMs) continue;
      this.#skipped = { id, method, since: this.#answeredAt };
      return;
    }
  }

  #send(message: object): void {
    if (this.#socket.send === undefined) this.#socket.write(JSON.stringify(message));
    else this.#socket.send(message);
  }

  #read(take: () => void, hasContent = true): void {
    if (this.#closed) return;
    if (hasContent) this.#probe.received();
    // While rows of a large result arrive, the server is answering.
    if (this.#expectsRows && hasContent) this.#answeredAt = this.#options.clock.now();
    try {
      take();
    } catch (thrown) {
      this.close(toOvsdbError(thrown, 'OVSDB_PROTOCOL'));
    }
    if (!this.#stream.inMessage || this.#expectsRows) this.#begunAt = undefined;
    else this.#begunAt ??= this.#options.clock.now();
    // Parsing a large message takes time during which this process received nothing: that is not the server's silence.
    if (hasContent) this.#probe.received();
    if (this.#expectsRows) this.#pace();
  }

  /** Pauses the socket after a stretch: it would hand over up to 2 MB in one turn of the event loop. */
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
    this.#noteSkipped(id as number);
    request.onReply(error === null || error === undefined ? { kind: 'result', result } : { kind: 'error', error });
  }
}

function isBlank(chunk: Buffer): boolean {
  for (const byte of chunk) if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return false;
  return true;
}

function givenUp(ms: number, kind: SilenceKind, method = 'a request'): OvsdbError {
  const time = `for ${Math.round(ms)} ms`;
  if (kind === 'skipped-request')
    return new OvsdbError('OVSDB_NO_REPLY', `the server answers echoes and has left ${method} without an answer ${time}`);
  const what = kind === 'silent' ? 'was silent' : 'sent, and answered nothing,';
  return new OvsdbError('OVSDB_PROBE_TIMEOUT', `the server ${what} ${time}`);
}

function broken(cause: Error): OvsdbError {
  return new OvsdbError('OVSDB_DISCONNECTED', `the connection broke: ${cause.message}`, { cause });
}

/**
 * With TLS 1.3 a server checks the client's certificate only after the connection is open, and closes it with an alert (RFC 8446 section
 * 6.2).
 */
function rejectedByTls(cause: Error): OvsdbError | undefined {
  const alert = /\balert ((?:certificate|bad certificate|unsupported certificate|unknown ca|access denied|decrypt error)[^:]*):/.exec(
    cause.message,
  )?.[1];
  if (alert === undefined) return undefined;
  return new OvsdbError('OVSDB_CONNECT_FAILED', `the server does not accept the client's certificate: TLS alert "${alert}"`, { cause });
}
