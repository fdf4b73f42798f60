/** The protocol in front of a simulated database: connections, transactions, monitors with resume, members of a cluster. */
import type { Scheduler } from '../../../timing/clock.ts';
import { OvsdbError } from '../../errors.ts';
import type { ColumnSchema } from '../../schema.ts';
import { readSchema } from '../../schema.ts';
import type { Dial } from '../../transport.ts';
import { zeroUuid, type Uuid } from '../../uuid.ts';
import type { RowDifference } from '../../simulated/database.ts';
import { SimulatedDatabase } from '../../simulated/database.ts';
import { execute, type Execution } from '../../simulated/transaction.ts';
import type { WrittenUpdates } from '../../simulated/updates.ts';
import { updatesOf, written } from '../../simulated/updates.ts';
import { SimulatedWire } from './wire.ts';

export interface SimulatedServerOptions {
  /** A `<database-schema>` of RFC 7047 section 3.2. */
  readonly schemaJson: unknown;
  readonly clock: Scheduler;
  readonly newUuid: () => Uuid;
  /** Milliseconds from sending a message until it arrives. Default 0. */
  readonly latency?: () => number;
  /**
   * The fault of each transaction of a client: the connection breaks before the request or the reply arrives, or the last operation fails.
   */
  readonly fate?: (client: string, operations: readonly unknown[]) => 'execute' | 'lose-request' | 'lose-reply' | 'reject';
  /**
   * @param client undefined: not a connected client
   * @param unseen changes by other clients that the client had not received when it sent this
   */
  readonly onTransaction?: (
    execution: Execution,
    operations: readonly unknown[],
    client: string | undefined,
    unseen: readonly RowDifference[],
  ) => void;
  /** Servers of a cluster; 1 stands alone. Default 1. */
  readonly members?: number;
}

/** Transactions that a monitor can resume through. */
const HISTORY = 100;

interface Message {
  readonly method?: string;
  readonly params?: readonly unknown[];
  readonly id?: unknown;
}

interface Monitor {
  readonly id: unknown;
  readonly columns: ReadonlyMap<string, readonly ColumnSchema[]>;
}

interface Connection {
  readonly client: string;
  readonly wire: SimulatedWire;
  readonly member: number;
  serverMonitor: unknown;
  monitor: Monitor | undefined;
  /** The last transaction that the client has received. */
  received: Uuid;
  /** The same when it sent each of its requests that are under way, the oldest first: they arrive in order. */
  readonly receivedBySent: Uuid[];
}

interface Past {
  readonly id: Uuid;
  readonly client: string | undefined;
  readonly differences: readonly RowDifference[];
}

export class SimulatedServer {
  readonly database: SimulatedDatabase;
  readonly #options: SimulatedServerOptions;
  readonly #connections = new Set<Connection>();
  readonly #history: Past[] = [];
  #lastTxnId: Uuid;
  #leader = 0;
  /** Index in the cluster's log; never decreases. */
  #index = 0;
  #down = false;

  constructor(options: SimulatedServerOptions) {
    this.#options = options;
    this.database = new SimulatedDatabase(readSchema(options.schemaJson));
    this.#lastTxnId = options.newUuid();
  }

  /**
   * For the session's option `dial`; the port's last digit chooses the member, from 1.
   * @param onSent called with the method of each message that the client has sent
   */
  dialFor(client: string, onSent?: (method: string | undefined) => void): Dial {
    return (endpoint, _tls, _timeoutMs, clock, onOpen, onFailed) => {
      const member = ((endpoint.kind === 'unix' ? 1 : endpoint.port) % 10) - 1;
      const cancel = clock.schedule(this.#options.latency?.() ?? 0, () => {
        if (this.#down) onFailed(new OvsdbError('OVSDB_CONNECT_FAILED', `cannot connect to ${endpoint.text}`, { endpoint: endpoint.text }));
        else onOpen(this.#accept(client, member, clock, onSent));
      });
      return { cancel };
    };
  }

  /** Runs a transaction of a client without a connection here, such as a user's ovn-nbctl. */
  transact(operations: readonly unknown[]): Execution {
    return this.#execute(operations, undefined, []);
  }

  /** Another member of the cluster leads from now on. */
  moveLeader(): void {
    this.#leader = (this.#leader + 1) % (this.#options.members ?? 1);
    for (const connection of this.#connections)
      if (connection.serverMonitor !== undefined)
        connection.wire.deliver({ method: 'update', params: [connection.serverMonitor, this.#serverRows(connection.member)], id: null });
  }

  /** Every connection breaks, or those of one client. */
  disconnect(client?: string): void {
    for (const connection of [...this.#connections]) if (client === undefined || connection.client === client) connection.wire.break();
  }

  /** As after a restart from its file: no connection, and no history to resume from. */
  restart(): void {
    this.disconnect();
    this.#history.length = 0;
    this.#lastTxnId = this.#options.newUuid();
  }

  stop(): void {
    this.#down = true;
    this.disconnect();
  }

  start(): void {
    this.#down = false;
  }

  #execute(operations: readonly unknown[], client: string | undefined, unseen: readonly RowDifference[]): Execution {
    const execution = execute(this.database, operations, this.#options.newUuid);
    if (execution.ok && execution.differences.length > 0) this.#publish(execution.differences, client);
    this.#options.onTransaction?.(execution, operations, client, unseen);
    return execution;
  }

  #accept(client: string, member: number, clock: Scheduler, onSent?: (method: string | undefined) => void): SimulatedWire {
    const wire: SimulatedWire = new SimulatedWire({
      clock,
      latency: this.#options.latency ?? ((): number => 0),
      toServer: (message) => this.#answer(connection, message, connection.receivedBySent.shift() ?? zeroUuid),
      onSent: (message) => {
        connection.receivedBySent.push(connection.received);
        onSent?.((message as Message).method);
      },
      closed: () => this.#connections.delete(connection),
    });
    const connection: Connection = {
      client,
      wire,
      member,
      serverMonitor: undefined,
      monitor: undefined,
      received: zeroUuid,
      receivedBySent: [],
    };
    this.#connections.add(connection);
    return wire;
  }

  #answer(connection: Connection, { method, params = [], id }: Message, received: Uuid): void {
    if (method === undefined || id === null || id === undefined) return;
    const reply = (result: unknown, onReceived?: () => void): void => connection.wire.deliver({ id, result, error: null }, onReceived);
    switch (method) {
      case 'echo':
        return reply(params);
      case 'list_dbs':
        return reply([this.database.schema.name, '_Server']);
      case 'get_schema':
        return reply(this.#options.schemaJson);
      case 'monitor':
        if (params[0] !== '_Server') break;
        connection.serverMonitor = params[1];
        return reply(this.#serverRows(connection.member));
      case 'monitor_cond_since':
        return reply(this.#startMonitor(connection, params), this.#markReceived(connection));
      case 'transact':
        return this.#transactFor(connection, params.slice(1), received, reply);
    }
    connection.wire.deliver({ id, result: null, error: { error: 'unknown method', details: `no method ${method} here` } });
  }

  /** The client's own updates go out before the reply, as ovsdb-server sends them. */
  #transactFor(connection: Connection, operations: readonly unknown[], received: Uuid, reply: (result: unknown) => void): void {
    const fate = this.#options.fate?.(connection.client, operations) ?? 'execute';
    if (fate === 'lose-request') return connection.wire.break();
    if (fate === 'reject') {
      const failure = { error: 'resources exhausted', details: 'failed by the simulation' };
      return reply(operations.map((_, at) => (at === operations.length - 1 ? failure : {})));
    }
    const { results } = this.#execute(operations, connection.client, this.#unseen(received, connection.client));
    if (fate === 'lose-reply') connection.wire.break();
    else reply(results);
  }

  #startMonitor(connection: Connection, [, id, requests, since]: readonly unknown[]): unknown {
    const columns = new Map<string, readonly ColumnSchema[]>();
    for (const [table, request] of Object.entries(
      requests as Readonly<Record<string, readonly { readonly columns: readonly string[] }[]>>,
    )) {
      const names = request[0]?.columns ?? [];
      columns.set(
        table,
        names.map((name) => this.database.schema.tables.get(table)?.columns.get(name) as ColumnSchema),
      );
    }
    const monitor: Monitor = { id, columns };
    connection.monitor = monitor;
    const missed = this.#since(since as Uuid);
    if (missed !== undefined) return [true, this.#lastTxnId, updatesOf(monitor.columns, missed)];
    const contents: WrittenUpdates = {};
    for (const [table, monitored] of columns) {
      const rows = Array.from(this.database.rows(table), ([uuid, row]): [string, unknown] => [uuid, { initial: written(monitored, row) }]);
      if (rows.length > 0) contents[table] = Object.fromEntries(rows);
    }
    return [false, this.#lastTxnId, contents];
  }

  /** What changed after a transaction, each row once; undefined where that is not remembered. */
  #since(id: Uuid): readonly RowDifference[] | undefined {
    if (id === zeroUuid) return undefined;
    if (id === this.#lastTxnId) return [];
    const at = this.#history.findIndex((entry) => entry.id === id);
    if (at < 0) return undefined;
    const net = new Map<Uuid, RowDifference>();
    for (const { differences } of this.#history.slice(at + 1))
      for (const difference of differences) {
        const earlier = net.get(difference.uuid);
        net.set(difference.uuid, earlier === undefined ? difference : { ...difference, before: earlier.before });
      }
    return [...net.values()];
  }

  /** @returns the changes by other clients after a transaction, as far as the history has them */
  #unseen(received: Uuid, by: string): readonly RowDifference[] {
    if (received === this.#lastTxnId) return [];
    const at = this.#history.findIndex(({ id }) => id === received);
    return this.#history.slice(at + 1).flatMap(({ client, differences }) => (client === by ? [] : differences));
  }

  /** @returns a function to call when the client has received what is sent to it now */
  #markReceived(connection: Connection): () => void {
    const id = this.#lastTxnId;
    return () => {
      connection.received = id;
    };
  }

  #publish(differences: readonly RowDifference[], client: string | undefined): void {
    this.#lastTxnId = this.#options.newUuid();
    this.#index++;
    this.#history.push({ id: this.#lastTxnId, client, differences });
    if (this.#history.length > HISTORY) this.#history.shift();
    for (const connection of this.#connections) {
      const { monitor, wire } = connection;
      if (monitor === undefined) continue;
      const updates = updatesOf(monitor.columns, differences);
      const update = { method: 'update3', params: [monitor.id, this.#lastTxnId, updates], id: null };
      if (Object.keys(updates).length > 0) wire.deliver(update, this.#markReceived(connection));
    }
  }

  #serverRows(member: number): unknown {
    const clustered = (this.#options.members ?? 1) > 1;
    const row = {
      name: this.database.schema.name,
      model: clustered ? 'clustered' : 'standalone',
      leader: member === this.#leader,
      connected: true,
      cid: clustered ? ['uuid', '00000000-0000-4000-8000-00000000c1d0'] : ['set', []],
      index: clustered ? this.#index : ['set', []],
    };
    return { Database: { '00000000-0000-4000-8000-0000000000db': { new: row } } };
  }
}
