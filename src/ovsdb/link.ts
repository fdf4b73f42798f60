import type { Scheduler } from '../timing/clock.ts';
import { OvsdbError, readServerError, toOvsdbError } from './errors.ts';
import { readUpdate, startMonitor, type IncomingRows, type MonitorContents, type MonitorPlan } from './monitor.ts';
import { RpcConnection } from './rpc.ts';
import { readServerStatus, serverStatusColumns, type ServerStatus } from './server-status.ts';
import type { Wire } from './transport.ts';
import type { Uuid } from './uuid.ts';

export interface LinkOptions {
  readonly database: string;
  readonly clock: Scheduler;
  readonly probeIntervalMs: number;
  /** The silence allowed while the server composes the first contents: it answers nothing else meanwhile. */
  readonly syncSilenceMs: number;
  readonly maxMessageBytes: number;
}

/** Callbacks of the session that owns the link. */
export interface LinkEvents {
  /** The server's own status, at the start and at each change (undefined: it has no `_Server`). An error closes the connection. */
  serverStatus(status: ServerStatus | undefined, first: boolean): OvsdbError | undefined;
  /** The database's schema. Returns what to monitor, and the transaction to resume from. */
  schema(json: unknown): { readonly plan: MonitorPlan; readonly since: Uuid };
  /** Takes the rows of the first contents while they arrive. */
  incoming(): IncomingRows;
  contents(contents: MonitorContents): void;
  update(update: Omit<MonitorContents, 'resumed'>): void;
  /** Called once, when the connection has ended on either side. */
  down(error: OvsdbError): void;
}

const serverMonitorId = '_Server';

/** One connection from its opening to its end: checks the server, reads the schema, starts the monitor, passes updates on. */
export class Link {
  readonly rpc: RpcConnection;
  /** Resolves when the socket is gone. */
  readonly ended: Promise<void>;
  readonly #options: LinkOptions;
  readonly #events: LinkEvents;

  constructor(socket: Wire, options: LinkOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
    this.ended = new Promise((resolve) => socket.once('close', () => resolve()));
    this.rpc = new RpcConnection(socket, {
      clock: options.clock,
      probeIntervalMs: options.probeIntervalMs,
      maxMessageBytes: options.maxMessageBytes,
      onNotification: (method, params) => this.#notified(method, params),
      onClosed: (error) => events.down(error),
    });
    this.#establish().catch((thrown: unknown) => this.rpc.close(toOvsdbError(thrown, 'OVSDB_PROTOCOL')));
  }

  async #establish(): Promise<void> {
    const { database } = this.#options;
    await this.#watchServer();
    const reply = await this.rpc.request('get_schema', [database]);
    if (reply.kind === 'lost') return;
    if (reply.kind === 'error') {
      const { error, details } = readServerError(reply.error);
      throw new OvsdbError('OVSDB_NO_DATABASE', `the server gives no schema of ${database}: ${details ?? error}`, { serverError: error });
    }
    const { plan, since } = this.#events.schema(reply.result);
    this.rpc.setProbeInterval(Math.max(this.#options.syncSilenceMs, this.#options.probeIntervalMs));
    startMonitor(
      this.rpc,
      database,
      plan,
      since,
      this.#events.incoming(),
      (contents) => {
        this.#events.contents(contents);
        this.rpc.setProbeInterval(this.#options.probeIntervalMs);
      },
      (error) => this.rpc.close(error),
    );
  }

  #watchServer(): Promise<void> {
    const requests = { Database: [{ columns: serverStatusColumns }] };
    return new Promise((resolve) => {
      this.rpc.call('monitor', ['_Server', serverMonitorId, requests], (reply) => {
        if (reply.kind === 'result') this.#checkServerStatus(reply.result, true);
        else if (reply.kind === 'error') this.#closeOn(this.#events.serverStatus(undefined, true));
        resolve();
      });
    });
  }

  #checkServerStatus(tables: unknown, first: boolean): void {
    const { database } = this.#options;
    const status = readServerStatus(tables, database);
    if (status === 'gone') this.#closeOn(new OvsdbError('OVSDB_NO_DATABASE', `the server no longer has the database ${database}`));
    else if (status !== undefined) this.#closeOn(this.#events.serverStatus(status, first));
    // A server that just started listens before it has joined its cluster: its contents may be old.
    else if (first)
      this.#closeOn(
        new OvsdbError('OVSDB_NO_DATABASE', `the server does not have the database ${database}, or not yet: it was just started`),
      );
  }

  #closeOn(error: OvsdbError | undefined): void {
    if (error !== undefined) this.rpc.close(error);
  }

  #notified(method: string, params: readonly unknown[]): void {
    const update = readUpdate(method, params);
    if (update !== undefined) this.#events.update(update);
    else if (method === 'update' && params[0] === serverMonitorId) this.#checkServerStatus(params[1], false);
    else if (method === 'monitor_canceled') throw new OvsdbError('OVSDB_MONITOR_CANCELED', 'the server ended the monitor');
  }
}
