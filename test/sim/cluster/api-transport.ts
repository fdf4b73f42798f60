/** How one process reaches the simulated API server: the same requests as over HTTPS, with delays and faults. */
import { Readable } from 'node:stream';
import { errorFromStatus, KubeError, type KubeSubject } from '../../../src/kube/errors.ts';
import { stringifyJson } from '../../../src/kube/json.ts';
import type { KubeRequest, OpenWatch, Transport, WatchReader } from '../../../src/kube/transport/transport.ts';
import type { InProcessApi } from '../../../lab/apiserver/in-process.ts';
import type { KubeObject } from '../../../lab/apiserver/object.ts';
import { ApiError } from '../../../lab/apiserver/status.ts';
import type { WatchLine, WatchSink } from '../../../lab/apiserver/watch-stream.ts';
import type { ProcessClock } from './virtual-time.ts';

/** What happens to a request. */
export type RequestFate =
  | { readonly kind: 'execute' }
  /** Rejected by a server that is overloaded or in trouble; it did nothing. */
  | { readonly kind: 'reject'; readonly status: number; readonly retryAfterSeconds?: number }
  /** The server performs the request, but the answer is an error, or there is none. */
  | { readonly kind: 'fail-after'; readonly status: 0 | 500 }
  /** Another write comes in between: the object has changed. */
  | { readonly kind: 'conflict' };

export interface ApiFaults {
  fate(request: KubeRequest): RequestFate;
  /** Milliseconds of extra delay for the next message of a watch of this kind. */
  watchDelay(plural: string): number;
  /** Whether the next line of a watch is delivered twice. */
  repeats(plural: string): boolean;
}

/** Another writer changes the object while a patch or a deletion is under way. */
export interface Overtakes {
  /** Uid of the object that a request is about, as it is on the server now. */
  uidOf(request: KubeRequest): string | undefined;
  /** Called right before the server performs the request. */
  before(request: KubeRequest): void;
  /** The request took effect on another object than the one that had the name when it was sent. */
  missed(request: KubeRequest, meant: string, hit: string): void;
}

export interface ApiTransportOptions {
  readonly api: InProcessApi;
  readonly clock: ProcessClock;
  readonly latency: () => number;
  readonly faults: ApiFaults;
  readonly onRequest?: (request: KubeRequest, status: number) => void;
  readonly onSend?: (request: KubeRequest) => void;
  readonly overtakes?: Overtakes;
  /** False for a process that reads once and ends before any event could arrive: its watches are never answered. Default true. */
  readonly watches?: boolean;
}

export class ApiTransport implements Transport {
  readonly #options: ApiTransportOptions;
  readonly #streams = new Set<ClientStream>();
  /** Paths that were ever watched, without their queries. */
  readonly #watched = new Set<string>();

  constructor(options: ApiTransportOptions) {
    this.#options = options;
  }

  async request(request: KubeRequest): Promise<unknown> {
    const { api, faults, overtakes, onSend } = this.#options;
    onSend?.(request);
    const meant = overtakes?.uidOf(request);
    await this.#underWay(request);
    const fate = faults.fate(request);
    if (fate.kind === 'reject') throw this.#failed(request, fate.status, { message: 'rejected by the simulation' }, fate.retryAfterSeconds);
    if (fate.kind === 'conflict') throw this.#failed(request, 409, { reason: 'Conflict', message: 'changed by the simulation' });
    const { method, path, body, contentType } = request;
    overtakes?.before(request);
    const hit = overtakes?.uidOf(request);
    let answer: unknown;
    try {
      const reply = await api.request({
        method,
        path,
        ...(body === undefined ? {} : { body }),
        ...(contentType === undefined ? {} : { contentType }),
      });
      answer = reply.body;
      if (meant !== undefined && hit !== undefined && hit !== meant) overtakes?.missed(request, meant, hit);
      this.#options.onRequest?.(request, reply.status);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#options.onRequest?.(request, error.code);
      await this.#underWay(request);
      throw errorFromStatus(request.subject, error.code, JSON.parse(JSON.stringify(error.toStatus())) as object);
    }
    if (fate.kind === 'fail-after' && fate.status === 500) throw this.#failed(request, 500, { message: 'failed by the simulation' });
    await this.#underWay(request);
    if (fate.kind !== 'fail-after') return this.#received(request, answer);
    this.#options.clock.noteFault();
    throw new KubeError('KUBE_DISCONNECTED', request.subject, 'the simulation lost the answer');
  }

  async text(request: KubeRequest): Promise<string> {
    return stringifyJson(await this.request(request));
  }

  async stream(request: KubeRequest): Promise<Readable> {
    return Readable.from([Buffer.from(await this.text(request))]);
  }

  async watch(request: KubeRequest): Promise<OpenWatch> {
    if (this.#options.watches === false) return new Promise(() => undefined);
    await this.#underWay(request);
    const fate = this.#options.faults.fate(request);
    if (fate.kind === 'reject') throw this.#failed(request, fate.status, { message: 'rejected by the simulation' }, fate.retryAfterSeconds);
    this.#watched.add(request.path.split('?')[0] ?? '');
    const stream = new ClientStream(this.#options, request, () => this.#streams.delete(stream));
    this.#streams.add(stream);
    try {
      stream.open();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#options.clock.noteFault();
      throw errorFromStatus(request.subject, error.code, JSON.parse(JSON.stringify(error.toStatus())) as object);
    }
    return stream;
  }

  streamFailure(subject: KubeSubject, error: unknown): KubeError {
    return new KubeError('KUBE_DISCONNECTED', subject, error instanceof Error ? error.message : String(error));
  }

  /** Every watch is open, and no message of the server is still under way. */
  get caughtUp(): boolean {
    const open = new Set([...this.#streams].filter(({ idle }) => idle).map(({ path }) => path));
    return open.size === this.#watched.size && open.size === this.#streams.size;
  }

  /** Breaks every watch of a kind, or all watches. */
  breakWatches(plural?: string): void {
    for (const stream of [...this.#streams]) if (plural === undefined || stream.plural === plural) stream.break();
  }

  /** The process has ended: the server closes its watches, and delivers nothing more. */
  abandon(): void {
    for (const stream of [...this.#streams]) stream.abandon();
  }

  close(): Promise<void> {
    for (const stream of [...this.#streams]) stream.end();
    return Promise.resolve();
  }

  #underWay(request: KubeRequest): Promise<void> {
    const { clock, latency } = this.#options;
    // An aborted request ends only when its message arrives: a listener on the signal costs more than the message.
    return new Promise((resolve, reject) => {
      clock.carry(latency(), () => {
        if (request.signal?.aborted === true) reject(new KubeError('KUBE_CLOSED', request.subject, 'aborted'));
        else resolve();
      });
    });
  }

  /** A list counts as news of each object in it: after a broken watch no other event comes. */
  #received(request: KubeRequest, answer: unknown): unknown {
    const { items } = (answer ?? {}) as { readonly items?: readonly Partial<KubeObject>[] };
    if (request.method === 'GET' && items !== undefined)
      for (const { metadata } of items) this.#options.clock.hears(pluralOf(request), metadata?.name ?? '', metadata?.namespace);
    return answer;
  }

  #failed(request: KubeRequest, status: number, fields: object, retryAfterSeconds?: number): KubeError {
    this.#options.onRequest?.(request, status);
    this.#options.clock.noteFault();
    const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
    return errorFromStatus(request.subject, status, { kind: 'Status', code: status, ...details, ...fields });
  }
}

/** A watch as its client sees it: lines come in order, late, and sometimes twice. */
class ClientStream implements WatchSink, OpenWatch {
  readonly plural: string;
  readonly #options: ApiTransportOptions;
  readonly #request: KubeRequest;
  readonly #closed: () => void;
  readonly #onClose: (() => void)[] = [];
  #reader: WatchReader | undefined;
  #until = 0;
  #over = false;
  #ending = false;

  constructor(options: ApiTransportOptions, request: KubeRequest, closed: () => void) {
    this.#options = options;
    this.#request = request;
    this.#closed = closed;
    this.plural = pluralOf(request);
  }

  get path(): string {
    return this.#request.path.split('?')[0] ?? '';
  }

  get idle(): boolean {
    return !this.#over && !this.#ending && this.#until < this.#options.clock.now();
  }

  open(): void {
    this.#options.api.watch({ method: 'GET', path: this.#request.path }, this);
    this.#request.signal?.addEventListener('abort', () => this.close(), { once: true });
  }

  read(reader: WatchReader): void {
    this.#reader = reader;
  }

  close(): void {
    if (this.#over) return;
    this.#release();
    this.#options.clock.noteFault();
    this.#reader?.ended();
  }

  readonly writableLength = 0;

  writeHead(): void {}

  flushHeaders(): void {}

  on(event: 'close' | 'error', listener: () => void): void {
    if (event === 'close') this.#onClose.push(listener);
  }

  write(): void {
    throw new Error('lines come as they are, not as text');
  }

  take(line: WatchLine): void {
    const { clock, latency, faults } = this.#options;
    this.#until = Math.max(this.#until, clock.now() + latency() + faults.watchDelay(this.plural));
    const times = faults.repeats(this.plural) ? 2 : 1;
    clock.carry(this.#until - clock.now(), () => {
      const { metadata } = line.object as Partial<KubeObject>;
      clock.hears(this.plural, metadata?.name ?? '', metadata?.namespace);
      for (let time = 0; time < times && !this.#over; time++) this.#reader?.take(line);
    });
  }

  /** The server ends the watch. */
  end(): void {
    const { clock } = this.#options;
    this.#ending = true;
    clock.carry(Math.max(0, this.#until - clock.now()), () => {
      this.close();
    });
  }

  destroy(): void {
    this.break();
  }

  /** The connection breaks: messages under way are lost. */
  break(): void {
    if (this.#over) return;
    this.#release();
    this.#options.clock.noteFault();
    this.#reader?.failed(new KubeError('KUBE_DISCONNECTED', this.#request.subject, 'the simulation broke the connection'));
  }

  abandon(): void {
    this.#release();
  }

  #release(): void {
    if (this.#over) return;
    this.#over = true;
    this.#closed();
    for (const listener of this.#onClose) listener();
  }
}

function pluralOf({ path }: KubeRequest): string {
  return /\/([^/?]+)(\?|$)/.exec(path)?.[1] ?? '';
}
