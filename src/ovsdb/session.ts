import { reconnectDelay } from './reconnect-delay.ts';
import { isProtocolViolation, OvsdbError, toOvsdbError } from './errors.ts';
import { Link, type LinkEvents } from './link.ts';
import { ListenerSet } from './listener-set.ts';
import { planMonitor, type MissingPart, type MonitorContents } from './monitor.ts';
import type { IncomingContents } from './incoming-contents.ts';
import type { Operation } from './operation.ts';
import { onlyReads, readOnlyError } from './read-only.ts';
import { ReplicaStore, type Replica } from './replica.ts';
import type { RowChange } from './row-change.ts';
import { readSchema, type DatabaseSchema } from './schema.ts';
import { checkServer, type ClusterProgress } from './server-status.ts';
import { resolveOptions, type OvsdbOptions, type ResolvedOptions } from './session-options.ts';
import { RollbackDetector } from './rollback-detector.ts';
import { sendTransaction, type TransactionPath, type TransactOptions } from './send-transaction.ts';
import { shownBy } from './shown-effects.ts';
import type { TransactOutcome } from './transaction.ts';
import { zeroUuid, type Uuid } from './uuid.ts';

/**
 * `connecting` and `syncing` occur before the first sync only. `stale`: after the first sync, while the replica may differ from the
 * database, because the connection is lost or the contents are read again.
 */
export type SessionState = 'connecting' | 'syncing' | 'synced' | 'stale' | 'closed';

/**
 * A session with an OVSDB server or cluster (RFC 7047): a replica of some tables, the changes to it as they happen, and
 * transactions.
 *
 * Guaranteed: while `state` is `synced`, the replica is a committed state of the database, and listeners have been called for every
 * difference to the state before, in the order of commits. A listener never sees half an update message. The session's own changes are
 * in the replica before `transact` resolves.
 *
 * Retried: the connection. The session reconnects until `close()`, through all endpoints, with a backoff of up to 5 s between rounds.
 * After a reconnect the server sends what changed meanwhile, or everything if it no longer remembers. Never retried: transactions.
 *
 * Costs: the monitored columns of all rows in memory; an echo for each interval without traffic; one pass over the contents at each full
 * read (1.8 s for 100,000 rows), during which the event loop is given back every 10 ms.
 */
export class OvsdbSession {
  readonly #options: ResolvedOptions;
  readonly #store: ReplicaStore;
  readonly #changeListeners = new ListenerSet<readonly RowChange[]>();
  readonly #stateListeners = new ListenerSet<SessionState>();
  readonly #errorListeners = new ListenerSet<OvsdbError>();
  readonly #updateListeners = new ListenerSet<void>();
  readonly #tables: ReadonlySet<string>;
  /** Update messages received, over all connections. */
  #updates = 0;
  #state: SessionState = 'connecting';
  #started = false;
  #schema: DatabaseSchema | undefined;
  /** The schema as the server sent it. */
  #schemaJson: unknown;
  #missing: readonly MissingPart[] = [];
  /** The last transaction in the replica; zero: the contents have to be read anew. */
  #lastTxnId: Uuid = zeroUuid;
  /** The contents that are being read. Dropped when the connection ends. */
  #incoming: IncomingContents | undefined;
  #progress: ClusterProgress | undefined;
  readonly #rollback: RollbackDetector;
  #link: Link | undefined;
  #endpointAt = 0;
  #failures = 0;
  #syncedAt: number | undefined;
  #cancelAttempt: () => void = () => {};

  /** @throws {OvsdbError} OVSDB_BAD_ENDPOINT or OVSDB_BAD_OPTION */
  constructor(options: OvsdbOptions) {
    this.#options = resolveOptions(options);
    this.#store = new ReplicaStore(Object.keys(options.tables));
    this.#tables = new Set(Object.keys(options.tables));
    this.#rollback = new RollbackDetector(this.#options.rollbackPatienceMs);
  }

  get state(): SessionState {
    return this.#state;
  }

  /** How often the replica became complete: one more at each sync and resync. */
  get generation(): number {
    return this.#store.generation;
  }

  /** The server's schema, from before the first sync on. */
  get schema(): DatabaseSchema | undefined {
    return this.#schema;
  }

  /** The same as the server sent it. */
  get schemaJson(): unknown {
    return this.#schemaJson;
  }

  /** The id of the cluster of the server in use; undefined: it stands alone. */
  get cluster(): string | undefined {
    return this.#progress?.cluster;
  }

  /** Tables and columns of the option `tables` that the server's schema lacks. */
  get missing(): readonly MissingPart[] {
    return this.#missing;
  }

  get replica(): Replica {
    return this.#store;
  }

  /** Number of endpoints: after as many failures in a row, each was tried. */
  get endpointCount(): number {
    return this.#options.endpoints.length;
  }

  /** The endpoint in use, or being tried. */
  get endpoint(): string {
    return this.#options.endpoints[this.#endpointAt]!.text;
  }

  /** Begins to connect. Does nothing when called again. */
  start(): void {
    if (this.#started || this.#state === 'closed') return;
    this.#started = true;
    this.#connect();
  }

  /**
   * Calls `listener` once for each update message, after the replica has changed; and once for a (re)sync that changed something, with
   * the differences to the replica before. @returns ends the calls
   */
  onChanges(listener: (batch: readonly RowChange[]) => void): () => void {
    return this.#changeListeners.add(listener);
  }

  /** Calls `listener` after each change of `state`. @returns ends the calls */
  onState(listener: (state: SessionState) => void): () => void {
    return this.#stateListeners.add(listener);
  }

  /**
   * Calls `listener` with the reason for each connection that failed or ended. The session reconnects by itself. @returns ends the calls
   */
  onError(listener: (error: OvsdbError) => void): () => void {
    return this.#errorListeners.add(listener);
  }

  /** Resolves when the replica is complete; rejects with OVSDB_CLOSED, or with the signal's reason. */
  untilSynced(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const finishedWith = (state: SessionState): boolean => {
        if (signal?.aborted === true) reject(signal.reason as Error);
        else if (state === 'synced') resolve();
        else if (state === 'closed') reject(new OvsdbError('OVSDB_CLOSED', 'the session was closed'));
        else return false;
        return true;
      };
      if (finishedWith(this.#state)) return;
      const finish = (): void => {
        if (!finishedWith(this.#state)) return;
        stop();
        signal?.removeEventListener('abort', finish);
      };
      const stop = this.onState(finish);
      signal?.addEventListener('abort', finish);
    });
  }

  /**
   * Sends the operations as one transaction: all of them take effect, or none. Never retried: a failure with outcome `unknown` may have
   * taken effect. When the promise resolves, the replica has the changes and listeners have been called. The promise never rejects: see
   * {@link TransactOutcome}.
   */
  transact(operations: readonly Operation[], options: TransactOptions = {}): Promise<TransactOutcome> {
    const link = this.#state === 'synced' ? this.#link : undefined;
    if (link === undefined || this.#schema === undefined) {
      const code = this.#state === 'closed' ? 'OVSDB_CLOSED' : 'OVSDB_DISCONNECTED';
      const error = new OvsdbError(code, `the session is ${this.#state}: the transaction was not sent`, { outcome: 'not-sent' });
      return Promise.resolve({ ok: false, error });
    }
    const { database, clock, probeIntervalMs, readOnly } = this.#options;
    if (readOnly && !onlyReads(operations)) return Promise.resolve({ ok: false, error: readOnlyError('the transaction') });
    const path: TransactionPath = {
      rpc: link.rpc,
      database,
      schema: this.#schema,
      clock,
      updates: () => this.#updates,
      shown: shownBy(this.#store, this.#schema, this.#tables),
      onUpdate: (look) => this.#updateListeners.add(look),
      effectMs: probeIntervalMs,
    };
    return sendTransaction(path, operations, options);
  }

  /**
   * For a caller whose guarded transactions fail again and again although the replica fulfils their guards: the server has not shown all
   * that the database holds. Closes the connection; the session reads everything again from the next endpoint.
   * @param why the transaction that failed, for the error that listeners get
   */
  abandonServer(why: string): void {
    const message = `the server has not shown all that its database holds: ${why}`;
    this.#link?.rpc.close(new OvsdbError('OVSDB_EFFECT_MISSING', message, { outcome: 'unknown' }));
  }

  /** Closes the connection and stops every timer. Open transactions end with OVSDB_CLOSED. The replica stays readable. */
  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#cancelAttempt();
    const link = this.#link;
    this.#link = undefined;
    if (this.#store.status === 'synced') this.#store.status = 'stale';
    this.#setState('closed');
    link?.rpc.close(new OvsdbError('OVSDB_CLOSED', 'the session was closed'));
    await link?.ended;
  }

  #connect(): void {
    const { tls, connectTimeoutMs, clock, dial } = this.#options;
    const endpoint = this.#options.endpoints[this.#endpointAt]!;
    const dialing = dial(
      endpoint,
      tls,
      connectTimeoutMs,
      clock,
      (wire) => {
        this.#cancelAttempt = () => {};
        if (this.#store.generation === 0) this.#setState('syncing');
        const link: Link = new Link(
          wire,
          this.#options,
          this.#eventsOf(() => link),
        );
        this.#link = link;
      },
      (error) => this.#down(error),
    );
    this.#cancelAttempt = () => dialing.cancel();
  }

  #eventsOf(link: () => Link): LinkEvents {
    return {
      serverStatus: (status, first) => {
        const { database, leaderOnly, clock } = this.#options;
        const problem = checkServer(status, database, leaderOnly, first ? this.#progress : undefined);
        const elsewhere = problem?.code === 'OVSDB_STALE_SERVER' || problem?.code === 'OVSDB_OTHER_CLUSTER';
        const lost = elsewhere && this.#rollback.olderServerSeen(clock.now());
        if (problem !== undefined && !lost) return problem;
        // The replica may have transactions that this server lacks: everything is read again.
        if (lost) this.#lastTxnId = zeroUuid;
        this.#rollback.reset();
        const { cluster, index } = status ?? {};
        this.#progress = cluster === undefined || index === undefined ? undefined : { cluster, index };
        return undefined;
      },
      schema: (json) => this.#takeSchema(json),
      incoming: () => (this.#incoming = this.#store.incoming()),
      contents: (contents) => this.#takeContents(contents),
      update: ({ updates, lastTxnId }) => {
        this.#change((changes) => this.#store.apply(updates, changes));
        this.#updates++;
        this.#updateListeners.call();
        if (lastTxnId !== undefined) this.#lastTxnId = lastTxnId;
      },
      down: (error) => {
        if (this.#link !== undefined && this.#link === link()) this.#down(error);
      },
    };
  }

  #takeSchema(json: unknown): ReturnType<LinkEvents['schema']> {
    const schema = readSchema(json);
    const plan = planMonitor(schema, this.#options.tables);
    const same = schema === this.#schema || (this.#schema !== undefined && JSON.stringify(json) === JSON.stringify(this.#schemaJson));
    if (!same) {
      this.#store.configure(plan.columns);
      this.#schema = schema;
      this.#schemaJson = json;
      this.#missing = plan.missing;
      this.#lastTxnId = zeroUuid;
    }
    return { plan, since: this.#lastTxnId };
  }

  #takeContents({ updates, resumed, lastTxnId }: MonitorContents): void {
    const incoming = this.#incoming!;
    this.#incoming = undefined;
    this.#change((changes) => {
      incoming.takeRest(updates);
      if (resumed) this.#store.apply(incoming.updates, changes);
      else this.#store.load(incoming, changes);
      this.#store.status = 'synced';
      this.#store.generation++;
    });
    this.#lastTxnId = lastTxnId ?? zeroUuid;
    this.#syncedAt = this.#options.clock.now();
    this.#setState('synced');
  }

  /** Listeners get all that changed, also when a later part of the update does not fit the replica; then everything is read again. */
  #change(apply: (changes: RowChange[]) => void): void {
    const changes: RowChange[] = [];
    try {
      apply(changes);
    } catch (thrown) {
      this.#lastTxnId = zeroUuid;
      if (this.#store.status === 'synced') this.#store.status = 'stale';
      throw thrown;
    } finally {
      if (changes.length > 0) this.#changeListeners.call(changes);
    }
  }

  #down(cause: OvsdbError): void {
    this.#link = undefined;
    this.#incoming = undefined;
    // The position that such a server reported cannot be resumed from.
    if (isProtocolViolation(cause.code)) this.#lastTxnId = zeroUuid;
    const { endpoints, backoff, clock, random } = this.#options;
    const wasStable = this.#syncedAt !== undefined && clock.now() - this.#syncedAt >= backoff.maxMs;
    this.#syncedAt = undefined;
    this.#failures = wasStable ? 0 : this.#failures + 1;
    if (this.#store.status === 'synced') this.#store.status = 'stale';
    const from = this.endpoint;
    this.#endpointAt = (this.#endpointAt + 1) % endpoints.length;
    this.#cancelAttempt = clock.schedule(reconnectDelay(this.#failures, endpoints.length, backoff, random()), () => this.#connect());
    this.#setState(this.#store.generation === 0 ? 'connecting' : 'stale');
    this.#errorListeners.call(withEndpoint(cause, from));
  }

  #setState(state: SessionState): void {
    if (this.#state === state || this.#state === 'closed') return;
    this.#state = state;
    this.#stateListeners.call(state);
  }
}

function withEndpoint(error: OvsdbError, endpoint: string): OvsdbError {
  if (error.endpoint !== undefined) return error;
  return new OvsdbError(error.code, `${endpoint}: ${toOvsdbError(error, error.code).message}`, {
    cause: error,
    endpoint,
    ...(error.serverError === undefined ? {} : { serverError: error.serverError }),
  });
}
