/**
 * One life's whole world: time, the laboratory's API store, a simulated Northbound database, nodes with kubelets, a StatefulSet controller,
 * and the controllers under test. The checks watch it.
 */
import { readFileSync } from 'node:fs';
import type { Rule } from '../../../src/compile/rule.ts';
import type { LoggedTransaction } from '../../../src/invariants/writers.ts';
import { InProcessApi } from '../../../lab/apiserver/in-process.ts';
import type { JsonObject } from '../../../lab/apiserver/json.ts';
import { ApiError } from '../../../lab/apiserver/status.ts';
import type { ResourceTarget } from '../../../lab/apiserver/request.ts';
import { ObjectStore, storeKey } from '../../../lab/apiserver/store.ts';
import { LabApi } from '../../../lab/apiserver/server.ts';
import { TERM_KEY } from '../../../src/nb/ownership.ts';
import type { Uuid } from '../../../src/ovsdb/index.ts';
import type { RowDifference } from '../../../src/ovsdb/simulated/database.ts';
import type { Execution } from '../../../src/ovsdb/simulated/transaction.ts';
import { SimulatedServer } from '../../../src/ovsdb/testing/simulated/server.ts';
import { northboundSchemaFile } from '../../../src/ovsdb/testing/ovsdb-server-process.ts';
import type { KubeRequest } from '../../../src/kube/transport/transport.ts';
import type { Fields, Log } from '../../../src/runtime/log.ts';
import type { Tenancy } from '../../../src/world/settings.ts';
import { Random } from './random.ts';
import { factKey } from './fact-key.ts';
import { NEIGHBOURS } from '../../fixtures/neighbour-rows.ts';
import { ForeignBaseline } from './foreign-snapshot.ts';
import type { Overtakes } from './api-transport.ts';
import { ArmedFaults } from './armed-faults.ts';
import { initialStore } from './initial-store.ts';
import type { Finding, Observer } from './observer.ts';
import { SimulatedJournal } from './simulated-journal.ts';
import { SimulatedController } from './simulated-controller.ts';
import { EPOCH, VirtualTime } from './virtual-time.ts';
import { Workloads } from './workloads.ts';

/** Methods of requests that change one existing object. */
const WRITES: ReadonlySet<string> = new Set(['PATCH', 'DELETE']);
/** Kinds that are never overtaken: the content of a Namespace would go with it, and faults of leadership are drawn separately. */
const NEVER_OVERTAKEN: ReadonlySet<string> = new Set(['namespaces', 'leases', 'events']);

const schemaJson: unknown = JSON.parse(readFileSync(northboundSchemaFile, 'utf8'));

export interface ClusterOptions {
  readonly seed: number;
  /** Called once for each process. */
  readonly rules: () => readonly Rule[];
  /** Objects of the API server are frozen: code that changes one throws. */
  readonly frozen?: boolean;
  /** Controllers read first lists above a small size from the API server's cache, and lists of IP objects in pages. */
  readonly listsFromCache?: boolean;
  /** The tenancy of its controllers; default `open`. */
  readonly tenancy?: Tenancy;
  /** The database has the rows of `test/fixtures/neighbours` from the beginning. */
  readonly neighbours?: boolean;
  /** Receives one line for each thing that happens; for a trace and for a person. */
  readonly trace?: (line: string) => void;
}

/** Fewer than the objects in the cluster of a life. */
const FEW_LISTED = 1;

export class SimulatedCluster {
  readonly time = new VirtualTime();
  readonly lab: LabApi;
  readonly api: InProcessApi;
  readonly ovn: SimulatedServer;
  readonly faults = new ArmedFaults();
  readonly workloads: Workloads;
  /** True while a user, or another program, acts: no controller made the changes of that time. */
  userActs = false;
  /** Transactions with comments, as the database's log would have them. */
  readonly log: LoggedTransaction[] = [];
  /** What was wrong when it happened; reported at the next check. */
  readonly alarms: Finding[] = [];
  /**
   * Names of switches that a user deleted and no controller made again since: once the Subnet is gone too, no network is left to run on.
   */
  readonly deletedSwitches = new Set<string>();
  /** Names of router ports that a user changed or deleted: they show which network is in effect while the spec asks for another one. */
  readonly editedRouterPorts = new Set<string>();
  /** Events that a controller dropped on purpose, named as by `factKey`. */
  readonly dropped = new Set<string>();
  /** A process was killed: Events that it had not sent yet are lost. */
  killed = false;
  /** How often any process took a term. */
  terms = 0;
  /** How often the wall clock of any process jumped. */
  dateJumps = 0;
  readonly foreign: ForeignBaseline;
  /** Rows of neighbours that no user changed: a server would give each a new version if Kiln wrote to it. */
  readonly neighbourRows = new Set<Uuid>();
  readonly controllers = new Map<string, SimulatedController>();
  /**
   * Another program's change right before a transaction takes effect. @returns whether the transaction has a row for it; then the race is
   * used up
   */
  race: ((operations: readonly unknown[]) => boolean) | undefined;
  /** Another program's change to the object of the next patch or deletion, right before that takes effect. @param path of the resource */
  overtaking: ((path: string, namespace: string, name: string) => void) | undefined;
  readonly rules: () => readonly Rule[];
  readonly tenancy: Tenancy;
  readonly #listsFromCache: boolean;
  readonly #chance: Random;
  readonly #trace: (line: string) => void;
  /** The number of writes after which a process is killed. */
  readonly #killAfter = new Map<string, { left: number; readonly restartMs: number }>();
  readonly #journals = new Map<string, SimulatedJournal>();
  #observers: ReadonlyMap<string, Observer> = new Map();
  #quietly = false;
  #started = 0;

  constructor({
    seed,
    rules,
    frozen = false,
    listsFromCache = false,
    tenancy = 'open',
    neighbours = false,
    trace = () => undefined,
  }: ClusterOptions) {
    this.rules = rules;
    this.tenancy = tenancy;
    this.#listsFromCache = listsFromCache;
    this.#trace = trace;
    this.#chance = new Random(seed ^ 0x5eed);
    const uuids = new Random(seed ^ 0x1d);
    const { revision, objects, namespaces, crds } = initialStore();
    const store = new ObjectStore(2_000);
    store.restore(revision, objects);
    // Draws as many as making them takes, so that later draws of a seed do not depend on whether they were made here.
    const draw = (count: number): void => {
      for (let left = count; left > 0; left--) uuids.uuid();
    };
    draw(namespaces);
    this.lab = new LabApi(
      {
        now: () => EPOCH + this.time.now,
        uid: () => uuids.uuid(),
        suffix: () => uuids.uuid().slice(0, 5),
        schedule: (step) => void this.time.after(0, step),
        after: (ms, run) => {
          const entry = this.time.after(ms, run);
          return () => this.time.cancel(entry);
        },
      },
      store,
    );
    this.api = new InProcessApi(this.lab);
    this.ovn = new SimulatedServer({
      schemaJson,
      clock: { now: () => this.time.now, schedule: (ms, run) => this.#schedule(ms, run) },
      newUuid: () => uuids.uuid() as Uuid,
      latency: () => this.#latency(0.2, 2),
      members: 3,
      fate: (client, operations) => {
        if (client === 'reader') return 'execute';
        for (const [check, one] of this.#observers)
          for (const what of one.transacting?.(operations) ?? []) this.alarm(check, `${client ?? ''} ${what}`);
        if (this.race?.(operations) === true) this.race = undefined;
        return this.faults.transactionFate();
      },
      onTransaction: (...what) => this.#transacted(...what),
    });
    this.foreign = new ForeignBaseline(this.ovn.database);
    this.ovn.transact([{ op: 'insert', table: 'NB_Global', row: {} }]);
    if (neighbours) this.#bringNeighbours();
    this.workloads = new Workloads(this.lab, this.time, this.#chance);
    draw(crds);
    this.lab.store.watchAll(({ type, table, key, object }) => {
      this.#changed(table, key);
      if (frozen) freeze(object);
      this.#trace(`${this.time.now.toFixed(3)} ${type} ${table} ${key} ${object.metadata.resourceVersion ?? ''}`);
    });
  }

  /** @param observers by the name that their alarms get; they replace the former ones */
  observe(observers: ReadonlyMap<string, Observer>): void {
    this.#observers = observers;
  }

  #changed(table: string, key?: string): void {
    for (const observer of this.#observers.values()) observer.changed?.(table, key);
  }

  /** Whether the wall clock of some process differs from the API server's. */
  get dateJumped(): boolean {
    return this.dateJumps > 0;
  }

  /** Ends all faults, and makes everything as fast as possible. */
  set quietly(quietly: boolean) {
    this.#quietly = quietly;
    for (const observer of this.#observers.values()) observer.quietly?.(quietly);
    if (!quietly) return;
    this.faults.clear();
    this.race = undefined;
    this.overtaking = undefined;
    for (const controller of this.controllers.values()) {
      controller.stopSending(undefined);
      controller.cutLease(0);
    }
    this.#killAfter.clear();
  }

  start(name: string): SimulatedController {
    this.#notify(name, 'started');
    const identity = `${name}-${++this.#started}`;
    const controller = new SimulatedController({
      name,
      identity,
      time: this.time,
      api: this.api,
      ovn: this.ovn,
      rules: this.rules(),
      random: new Random(this.#chance.below(2 ** 31)),
      latency: () => this.#latency(0.2, 3),
      faults: this.faults,
      settings: { tenancy: this.tenancy },
      log: this.#logOf(name),
      journal: this.journalOf(name).journal,
      onWrite: () => this.#wrote(name),
      onSend: (request) => this.#sending(name, request),
      onTransact: () => this.#sending(name, undefined),
      onTransactionFailed: () => this.#notify(name, 'failed'),
      overtakes: this.#overtakes(name),
      ...(this.#listsFromCache && { cachedAbove: FEW_LISTED }),
    });
    this.controllers.set(name, controller);
    return controller;
  }

  /** The journal of the processes of this name. */
  journalOf(name: string): SimulatedJournal {
    let journal = this.#journals.get(name);
    if (journal === undefined) this.#journals.set(name, (journal = new SimulatedJournal()));
    return journal;
  }

  alarm(check: string, message: string): void {
    this.alarms.push({ kind: `alarm ${check}`, message, check });
  }

  #sending(name: string, request: KubeRequest | undefined): void {
    const sender = this.controllers.get(name);
    if (sender === undefined) return;
    const { method, path } = request ?? { method: 'POST', path: '/transaction' };
    for (const [check, one] of this.#observers)
      for (const what of one.sending?.(sender, request) ?? []) this.alarm(check, `${name}: ${method} ${path.split('?')[0] ?? ''} ${what}`);
  }

  #notify(name: string, what: 'started' | 'leads' | 'failed'): void {
    for (const observer of this.#observers.values()) observer.process?.(name, what);
  }

  kill(name: string): void {
    this.#trace(`${this.time.now.toFixed(3)} kill ${name}`);
    this.killed = true;
    this.controllers.get(name)?.kill();
    this.controllers.delete(name);
  }

  /** Kills the process right after this many more writes took effect, and starts another one in its place. */
  killAfterWrites(name: string, writes: number, restartMs: number): void {
    this.#killAfter.set(name, { left: writes, restartMs });
  }

  /** Whether a controller dropped an Event of this object and reason on purpose. */
  wasDropped(uid: string, reason: string): boolean {
    return [...this.dropped].some((key) => key.startsWith(`${uid} ${reason} `));
  }

  /** The controllers that believe they lead. */
  get leaders(): readonly SimulatedController[] {
    return [...this.controllers.values()].filter(({ controller }) => controller.status.phase === 'leading');
  }

  /** A process that has just started and may not write, to read the cluster with. Its date is the leader's. */
  freshController(): SimulatedController {
    return new SimulatedController({
      dateOffMs: this.leaders[0]?.clock.dateOffMs ?? 0,
      name: 'reader',
      identity: 'reader',
      time: this.time,
      api: this.api,
      ovn: this.ovn,
      rules: this.rules(),
      random: new Random(1),
      latency: () => 0,
      faults: new ArmedFaults(),
      settings: { tenancy: this.tenancy },
      log: this.#logOf('reader'),
      readOnly: true,
    });
  }

  #overtakes(name: string): Overtakes {
    return {
      uidOf: ({ method, path }) => (WRITES.has(method) ? this.#named(path)?.uid : undefined),
      before: ({ method, path }) => {
        const named = this.overtaking !== undefined && WRITES.has(method) ? this.#named(path) : undefined;
        if (named?.uid === undefined || NEVER_OVERTAKEN.has(named.target.plural)) return;
        const { group, version, plural, namespace, name: of } = named.target;
        const resource = `${group === '' ? '' : `${group}/`}${version}/${plural}`;
        const { overtaking } = this;
        this.overtaking = undefined;
        overtaking?.(resource, namespace, of);
      },
      missed: ({ method, path }, meant, hit) =>
        this.alarm(
          'requests',
          `${name}: ${method} ${path.split('?')[0] ?? ''} was sent when uid ${meant} had the name, and took effect on uid ${hit}`,
        ),
    };
  }

  /** The object that a request names. */
  #named(path: string): { readonly target: ResourceTarget; readonly uid?: string; readonly version?: string } | undefined {
    const target = this.api.targetOf(path);
    if (target === undefined || target.name === '') return undefined;
    const { group, version, plural, namespace, name } = target;
    const definition = this.lab.registry.find(group, version, plural);
    const object = definition === undefined ? undefined : this.lab.store.get(definition.table, storeKey(namespace, name));
    const { uid, resourceVersion: at } = object?.metadata ?? {};
    return { target, ...(uid !== undefined && { uid }), ...(at !== undefined && { version: at }) };
  }

  /** @param path `<group>/<version>/<plural>`, without the group and its slash for the core. @returns the error's text, or nothing */
  create(path: string, namespace: string, object: JsonObject): string | undefined {
    return this.#try(path, (definition) => this.lab.operations.create(definition, namespace, object));
  }

  /** The server compacts a kind's history: every watch of it ends, and cannot resume. */
  forgetPast(plural: string): void {
    for (const definition of this.lab.registry.all()) {
      if (definition.plural !== plural) continue;
      this.lab.store.forgetHistory(definition.table);
      this.api.endWatches(definition.table);
    }
  }

  #try(path: string, act: (definition: Parameters<LabApi['operations']['create']>[0]) => unknown): string | undefined {
    const parts = path.split('/');
    const plural = parts.pop() ?? '';
    const version = parts.pop() ?? '';
    const definition = this.lab.registry.find(parts.join('/'), version, plural);
    if (definition === undefined) return `no resource ${path}`;
    try {
      act(definition);
      return undefined;
    } catch (error) {
      if (error instanceof ApiError) return error.message;
      throw error;
    }
  }

  update(
    path: string,
    namespace: string,
    name: string,
    change: (current: JsonObject) => JsonObject,
    subresource?: string,
  ): string | undefined {
    return this.#try(path, (definition) =>
      this.lab.operations.update(definition, namespace, name, (current) => change(current), {
        ...(subresource === undefined ? {} : { subresource: subresource as 'status' }),
      }),
    );
  }

  delete(path: string, namespace: string, name: string, graceSeconds?: number): string | undefined {
    return this.#try(path, (definition) =>
      this.lab.operations.delete(definition, namespace, name, graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds }),
    );
  }

  /** A user changes the Northbound database. The foreign rows are from now on to stay as this leaves them. */
  byHand(operations: readonly unknown[]): Execution {
    const execution = this.ovn.transact(operations);
    for (const { table, before, after } of execution.differences) {
      if (table === 'Logical_Switch' && before !== undefined && after === undefined) this.deletedSwitches.add(String(before['name']));
      else if (table === 'Logical_Router_Port') this.editedRouterPorts.add(String((before ?? after)?.['name']));
    }
    this.foreign.rowsChanged(execution.differences);
    for (const observer of this.#observers.values()) observer.changedByHand?.(execution.differences);
    return execution;
  }

  /** Another program writes a term that no leader has. */
  advanceTerm(by: number): void {
    const [global] = this.ovn.database.rows('NB_Global');
    const term = String(Number((global?.[1]['external_ids'] as ReadonlyMap<string, string> | undefined)?.get(TERM_KEY) ?? 0) + by);
    this.byHand([
      {
        op: 'mutate',
        table: 'NB_Global',
        where: [],
        mutations: [
          ['external_ids', 'delete', ['set', [TERM_KEY]]],
          ['external_ids', 'insert', ['map', [[TERM_KEY, term]]]],
        ],
      },
    ]);
  }

  #transacted(
    execution: Execution,
    operations: readonly unknown[],
    client: string | undefined,
    unreceived: readonly RowDifference[],
  ): void {
    for (const comment of execution.comments) this.log.push({ record: this.log.length, comment });
    for (const difference of execution.differences) {
      if (client === undefined) this.neighbourRows.delete(difference.uuid);
      else if (this.neighbourRows.has(difference.uuid))
        this.alarm('neighbours', `${client} wrote to ${difference.table}/${difference.uuid}, a row of a neighbour`);
      this.foreign.rowChangedByKiln(difference);
      this.#changed(difference.table);
    }
    for (const { table, before, after } of client === undefined ? [] : execution.differences)
      if (table === 'Logical_Switch' && before === undefined && after !== undefined) this.deletedSwitches.delete(String(after['name']));
    if (client !== undefined)
      for (const [check, one] of this.#observers)
        for (const what of one.transacted?.({ process: client, execution, operations, unreceived }) ?? [])
          this.alarm(check, `${client} ${what}`);
    this.#trace(
      `${this.time.now.toFixed(3)} transaction ${client ?? 'by hand'} ${execution.ok ? 'ok' : 'failed'} ${operations.length} ${execution.differences.map(({ table, uuid }) => `${table}/${uuid}`).join(' ')}`,
    );
    if (client !== undefined && execution.ok && execution.differences.length > 0) this.#wrote(client);
  }

  #bringNeighbours(): void {
    for (const { name, inserts } of NEIGHBOURS) {
      const execution = this.ovn.transact(inserts);
      if (!execution.ok) throw new Error(`the simulated database does not take the rows of ${name}`);
      this.foreign.rowsChanged(execution.differences);
    }
    for (const table of this.ovn.database.schema.tables.keys())
      if (table !== 'NB_Global') for (const [uuid] of this.ovn.database.rows(table)) this.neighbourRows.add(uuid);
  }

  #wrote(name: string): void {
    const armed = this.#killAfter.get(name);
    if (armed === undefined || armed.left-- > 0) return;
    this.#killAfter.delete(name);
    this.kill(name);
    this.time.after(armed.restartMs, () => {
      if (!this.controllers.has(name)) this.start(name);
    });
  }

  #latency(least: number, most: number): number {
    return this.#quietly ? 0.1 : least + this.#chance.next() * (most - least);
  }

  #schedule(ms: number, run: () => void): () => void {
    const entry = this.time.after(ms, run);
    return () => this.time.cancel(entry);
  }

  #logOf(name: string): Log {
    const log = (level: string, message: string, fields: Fields = {}): void => {
      this.#trace(`${this.time.now.toFixed(3)} ${name} ${level} ${message} ${JSON.stringify(fields)}`);
      if (message === 'rule failed') this.alarm('rules', `${name}: ${message} ${JSON.stringify(fields)}`);
    };
    return {
      debug: (message, fields = {}) => {
        if (message === 'event dropped') this.dropped.add(factKey(fields as { uid: string; reason: string; message: string }));
      },
      info: (message, fields) => {
        // A leader may take another term: then it sends Events of recent writes once more.
        if (message === 'writing') this.terms++;
        if (message === 'leading' || message === 'writing') this.#notify(name, 'leads');
        log('info', message, fields);
      },
      warn: (message, fields) => {
        log('warn', message, fields);
      },
      error: (message, fields) => log('error', message, fields),
    };
  }
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  Object.values(value).forEach(freeze);
}
