/**
 * The whole world of one life: time, the laboratory's API store, a simulated Northbound database, nodes with kubelets, a StatefulSet
 * controller, and the controllers under test.
 */
import { readFileSync } from 'node:fs';
import { TERM_KEY, UID_KEY, VENDOR, VENDOR_KEY } from '../../src/nb/ownership.ts';
import type { Rule } from '../../src/compile/compiler.ts';
import type { ForeignCell, ForeignSnapshot, WholeRow } from '../../src/invariants/foreign-rows.ts';
import { foreignSnapshot, SHARED, WEAK } from '../../src/invariants/foreign-rows.ts';
import type { LoggedTransaction } from '../../src/invariants/writers.ts';
import { InProcessApi } from '../../src/lab/apiserver/in-process.ts';
import type { JsonObject } from '../../src/lab/apiserver/json.ts';
import { ApiError } from '../../src/lab/apiserver/status.ts';
import type { ResourceTarget } from '../../src/lab/apiserver/request.ts';
import { ObjectStore, storeKey } from '../../src/lab/apiserver/store.ts';
import { LabApi } from '../../src/lab/apiserver/server.ts';
import type { Uuid, Value } from '../../src/ovsdb/index.ts';
import type { RowDifference, StoredRow } from '../../src/ovsdb/testing/simulated/database.ts';
import type { Execution } from '../../src/ovsdb/testing/simulated/transaction.ts';
import { SimulatedServer } from '../../src/ovsdb/testing/simulated/server.ts';
import { northboundSchemaFile } from '../../src/ovsdb/testing/ovsdb-server-process.ts';
import type { KubeRequest } from '../../src/kube/transport.ts';
import type { Fields, Log } from '../../src/runtime/log.ts';
import type { Overtakes } from './api-transport.ts';
import { ArmedFaults } from './armed-faults.ts';
import { carryOut } from './carry-out.ts';
import { ConditionChanges, factKey } from './events.ts';
import { Gateways } from './gateways.ts';
import { JoinedNodes } from './joined-nodes.ts';
import { Memory } from './memory.ts';
import { misdeed } from './misdeeds.ts';
import { newborn } from './newborn.ts';
import { Newcomers } from './newcomers.ts';
import { Random } from './random.ts';
import { Returners } from './returners.ts';
import { SimulatedController } from './simulated-controller.ts';
import { Standing } from './standing.ts';
import type { Overtaking, Race } from './step.ts';
import { race } from './strangers.ts';
import { TakenPorts } from './taken-ports.ts';
import { ToldInOrder } from './told-in-order.ts';
import { EPOCH, VirtualTime } from './virtual-time.ts';
import { Workloads } from './workloads.ts';

/** Methods of requests about one object that is there. */
const WRITES: ReadonlySet<string> = new Set(['PATCH', 'DELETE']);
/** Kinds that nobody overtakes: what is in a Namespace would go with it, and who leads is drawn otherwise. */
const SPARED: ReadonlySet<string> = new Set(['namespaces', 'leases', 'events']);

const schemaJson: unknown = JSON.parse(readFileSync(northboundSchemaFile, 'utf8'));

export interface ClusterOptions {
  readonly seed: number;
  /** Asked for each process. */
  readonly rules: () => readonly Rule[];
  /** Whether somebody makes the pods of StatefulSets; nobody did in the lives that are pinned as `plain` and `broad`. */
  readonly statefulSets?: boolean;
  /** Whoever changes an object of the API server fails. */
  readonly frozen?: boolean;
  /** Told what happens, one line each; for a trace and for a person. */
  readonly trace?: (line: string) => void;
}

export class SimulatedCluster {
  readonly time = new VirtualTime();
  readonly lab: LabApi;
  readonly api: InProcessApi;
  readonly ovn: SimulatedServer;
  readonly faults = new ArmedFaults();
  readonly workloads: Workloads;
  readonly memory: Memory;
  readonly newcomers: Newcomers;
  readonly returners: Returners;
  readonly takenPorts: TakenPorts;
  readonly toldInOrder: ToldInOrder;
  readonly standing: Standing;
  readonly gateways: Gateways;
  readonly joinedNodes: JoinedNodes;
  readonly conditionChanges: ConditionChanges;
  /** Transactions with comments, as the database's log would have them. */
  readonly log: LoggedTransaction[] = [];
  /** What controllers said that must never be said. */
  readonly alarms: string[] = [];
  /** Names of switches that a person took away, while no controller made one of that name since: with the Subnet gone too, nothing is left to run. */
  readonly switchesTaken = new Set<string>();
  /** Events that a controller chose not to send, as `factKey` names them. */
  readonly dropped = new Set<string>();
  /** A process ended: what it was about to say, nobody says. */
  killed = false;
  /** How often some process began to lead. */
  terms = 0;
  /** The date of some process is not that of the API server. */
  dateJumped = false;
  /** Foreign rows as whoever owns them left them. */
  readonly foreign = new Map<string, string>();
  readonly controllers = new Map<string, SimulatedController>();
  /** What somebody does right before the next transaction that it can be done to. */
  race: Race | undefined;
  /** What somebody does to the object of the next patch or deletion, right before it takes effect. */
  overtaking: Overtaking | undefined;
  readonly rules: () => readonly Rule[];
  readonly statefulSets: boolean;
  readonly #chance: Random;
  readonly #trace: (line: string) => void;
  /** Writes after which a process is killed. */
  readonly #killAfter = new Map<string, { left: number; readonly restartMs: number }>();
  #quietly = false;
  #started = 0;

  constructor({ seed, rules, statefulSets = true, frozen = false, trace = () => undefined }: ClusterOptions) {
    this.rules = rules;
    this.statefulSets = statefulSets;
    this.#trace = trace;
    this.#chance = new Random(seed ^ 0x5eed);
    const uuids = new Random(seed ^ 0x1d);
    const { revision, objects, namespaces, crds } = newborn();
    const store = new ObjectStore(2_000);
    store.restore(revision, objects);
    // As many as making them takes: what a seed draws later does not hang on who made them.
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
        if (client === 'judge') return 'carry-out';
        if (this.race !== undefined && race(this, operations, this.race)) this.race = undefined;
        return this.faults.transactionFate();
      },
      onTransaction: (execution, operations, client) => this.#transacted(execution, operations, client),
    });
    this.ovn.transact([{ op: 'insert', table: 'NB_Global', row: {} }]);
    this.memory = new Memory(this.lab.store, (uid, name, table) => this.#rowOf(uid, name, table));
    this.newcomers = new Newcomers(this.lab.store);
    const byHand = (): boolean => this.memory.byHand;
    this.returners = new Returners(this.lab.store, byHand);
    this.toldInOrder = new ToldInOrder(this.lab.store, byHand);
    this.standing = new Standing(this.lab.store, () => this.switchesTaken.size === 0);
    this.gateways = new Gateways(this.lab.store);
    this.joinedNodes = new JoinedNodes(this.lab.store);
    this.takenPorts = new TakenPorts(this.lab.store, byHand);
    this.conditionChanges = new ConditionChanges(this.lab.store);
    this.workloads = new Workloads(this.lab, this.time, this.#chance, statefulSets);
    draw(crds);
    this.lab.store.watchAll(({ type, table, key, object }) => {
      if (frozen) freeze(object);
      this.#trace(`${this.time.now.toFixed(3)} ${type} ${table} ${key} ${object.metadata.resourceVersion ?? ''}`);
    });
  }

  /** Faults end, and everything is as quick as it can be. */
  set quietly(quietly: boolean) {
    this.#quietly = quietly;
    if (!quietly) return;
    this.faults.clear();
    this.race = undefined;
    this.overtaking = undefined;
    for (const controller of this.controllers.values()) controller.stopSending(undefined);
    this.#killAfter.clear();
  }

  start(name: string): SimulatedController {
    const controller = new SimulatedController({
      name,
      identity: `${name}-${++this.#started}`,
      time: this.time,
      api: this.api,
      ovn: this.ovn,
      rules: this.rules(),
      random: new Random(this.#chance.below(2 ** 31)),
      latency: () => this.#latency(0.2, 3),
      faults: this.faults,
      log: this.#logOf(name),
      onWrite: () => this.#wrote(name),
      onSend: (request) => this.#watchOver(name, request),
      onTransact: () => this.#watchOver(name),
      overtakes: this.#overtakes(name),
    });
    this.controllers.set(name, controller);
    return controller;
  }

  /** A process asks for something: of the API server, or where nothing is given of the database. */
  #watchOver(name: string, request?: KubeRequest): void {
    const { clock, identity } = this.controllers.get(name) ?? {};
    // Who slept cannot know that another leads since; the fence holds its transactions, and nothing its other writes.
    if (clock === undefined || identity === undefined || clock.overslept) return;
    const { method, path } = request ?? { method: 'POST', path: '/transaction' };
    const wrong = misdeed(this.lab.store, identity, { method, path }, (namespace) => this.memory.evicts(namespace));
    if (wrong !== undefined) this.alarms.push(`${name}: ${method} ${path.split('?')[0] ?? ''} ${wrong}`);
  }

  kill(name: string): void {
    this.#trace(`${this.time.now.toFixed(3)} kill ${name}`);
    this.killed = true;
    this.controllers.get(name)?.kill();
    this.controllers.delete(name);
  }

  /** The process dies right after so many further writes took effect, and another takes its place. */
  killAfterWrites(name: string, writes: number, restartMs: number): void {
    this.#killAfter.set(name, { left: writes, restartMs });
  }

  /** Those that believe to lead. */
  get leaders(): readonly SimulatedController[] {
    return [...this.controllers.values()].filter(({ controller }) => controller.status.phase === 'leading');
  }

  /** Looks without touching: a process that has just started and may not write. By the date of the leader, whose leases end by its own. */
  judge(): SimulatedController {
    return new SimulatedController({
      dateOffMs: this.leaders[0]?.clock.dateOffMs ?? 0,
      name: 'judge',
      identity: 'judge',
      time: this.time,
      api: this.api,
      ovn: this.ovn,
      rules: this.rules(),
      random: new Random(1),
      latency: () => 0,
      faults: new ArmedFaults(),
      log: this.#logOf('judge'),
      readOnly: true,
    });
  }

  #overtakes(name: string): Overtakes {
    return {
      uidOf: ({ method, path }) => (WRITES.has(method) ? this.#named(path)?.uid : undefined),
      before: ({ method, path }) => {
        const named = this.overtaking !== undefined && WRITES.has(method) ? this.#named(path) : undefined;
        if (named?.uid === undefined || SPARED.has(named.target.plural)) return;
        const { group, version, plural, namespace, name: of } = named.target;
        const resource = `${group === '' ? '' : `${group}/`}${version}/${plural}`;
        const operation = { do: this.overtaking as Overtaking, path: resource, namespace, name: of };
        this.overtaking = undefined;
        this.memory.byHand = true;
        carryOut(this, operation);
        this.memory.byHand = false;
      },
      missed: ({ method, path }, meant, hit) =>
        void this.alarms.push(
          `${name}: ${method} ${path.split('?')[0] ?? ''} was sent when uid ${meant} had the name, and took effect on uid ${hit}`,
        ),
    };
  }

  /** The object that a request names. */
  #named(path: string): { readonly target: ResourceTarget; readonly uid: string | undefined } | undefined {
    const target = this.api.targetOf(path);
    if (target === undefined || target.name === '') return undefined;
    const { group, version, plural, namespace, name } = target;
    const definition = this.lab.registry.find(group, version, plural);
    const object = definition === undefined ? undefined : this.lab.store.get(definition.table, storeKey(namespace, name));
    return { target, uid: object?.metadata.uid };
  }

  /** @param path `<group>/<version>/<plural>`, without the group and its slash for the core. @returns the error's text, or nothing */
  create(path: string, namespace: string, object: JsonObject): string | undefined {
    return this.#try(path, (definition) => this.lab.operations.create(definition, namespace, object));
  }

  /** The server forgets a kind's past: every watch of it ends, and cannot resume. */
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

  /** A person changes the Northbound database: what is not Kiln's after that is to stay as it was left. */
  byHand(operations: readonly unknown[]): Execution {
    const execution = this.ovn.transact(operations);
    for (const { table, before, after } of execution.differences)
      if (table === 'Logical_Switch' && before !== undefined && after === undefined) this.switchesTaken.add(String(before['name']));
    const parents = [...this.#parentsOf(new Set(execution.differences.map(({ uuid }) => uuid)))];
    const now = this.foreignNow(withMembers([...execution.differences, ...parents]));
    for (const { table, uuid } of [...execution.differences, ...parents]) {
      const row = `${table}/${uuid}`;
      for (const key of [row, ...SHARED.map((column) => `${row} ${column}`)]) {
        const text = now.get(key);
        if (text === undefined) this.foreign.delete(key);
        else this.foreign.set(key, text);
      }
    }
    return execution;
  }

  /**
   * Rows that are neither Kiln's nor to be adopted by it.
   * @param among only of these rows, with what they refer to
   */
  foreignNow(among?: ReadonlySet<Uuid>): ForeignSnapshot {
    const tables = new Map<string, WholeRow[]>();
    const legacy = new Set<string>();
    for (const name of this.ovn.database.schema.tables.keys()) {
      const rows = [...this.#rows(name, among)].map(([uuid, row]) => {
        const ids = row['external_ids'];
        if (ids instanceof Map && (ids as ReadonlyMap<string, string>).get(VENDOR_KEY) === VENDOR) legacy.add(`${name}/${uuid}`);
        return { _uuid: uuid, ...Object.fromEntries(Object.entries(row).map(([column, value]) => [column, cellOf(value)])) };
      });
      tables.set(name, rows);
    }
    return new Map([...foreignSnapshot(tables)].filter(([row]) => !legacy.has(row)));
  }

  /** Rows that have one of these in a shared column: whose it is counts in their picture. */
  *#parentsOf(rows: ReadonlySet<Uuid>): Iterable<{ readonly table: string; readonly uuid: Uuid; readonly after: StoredRow }> {
    for (const [table, { columns }] of this.ovn.database.schema.tables) {
      const shared = SHARED.filter((column) => columns.has(column));
      if (shared.length === 0) continue;
      for (const [uuid, row] of this.ovn.database.rows(table))
        if (shared.some((column) => isAnyIn(rows, row[column]))) yield { table, uuid, after: row };
    }
  }

  *#rows(table: string, among: ReadonlySet<Uuid> | undefined): Iterable<readonly [Uuid, StoredRow]> {
    if (among === undefined) return yield* this.ovn.database.rows(table);
    for (const uuid of among) {
      const row = this.ovn.database.row(table, uuid);
      if (row !== undefined) yield [uuid, row];
    }
  }

  /** A row that says its owner has this uid. @param port only a switch port of this name */
  #rowOf(uid: string, name?: string, tableOfName = 'Logical_Switch_Port'): string | undefined {
    for (const table of name === undefined ? this.ovn.database.schema.tables.keys() : [tableOfName])
      for (const [uuid, row] of this.ovn.database.rows(table)) {
        const ids = row['external_ids'];
        if (!(ids instanceof Map) || ids.get(UID_KEY) !== uid || ids.get(VENDOR_KEY) !== VENDOR) continue;
        if (name === undefined || row['name'] === name) return `${table}/${uuid}`;
      }
    return undefined;
  }

  #transacted(execution: Execution, operations: readonly unknown[], client: string | undefined): void {
    for (const comment of execution.comments) this.log.push({ record: this.log.length, comment });
    if (!execution.ok && client !== undefined) this.#refusedOf(client, execution, operations);
    // A row of Kiln's may go, and what others had in it does; made again, it has the same UUID.
    for (const { table, uuid, after } of execution.differences)
      if (after === undefined) for (const column of SHARED) this.foreign.delete(`${table}/${uuid} ${column}`);
    for (const { table, before, after } of client === undefined ? [] : execution.differences)
      if (table === 'Logical_Switch' && before === undefined && after !== undefined) this.switchesTaken.delete(String(after['name']));
    if (client !== undefined && execution.ok) this.#watchPorts(execution);
    this.#trace(
      `${this.time.now.toFixed(3)} transaction ${client ?? 'by hand'} ${execution.ok ? 'ok' : 'refused'} ${operations.length} ${execution.differences.map(({ table, uuid }) => `${table}/${uuid}`).join(' ')}`,
    );
    if (client !== undefined && execution.ok && execution.differences.length > 0) this.#wrote(client);
  }

  #watchPorts({ differences }: Execution): void {
    for (const { table, uuid, before, after } of differences) {
      if (after !== undefined && (table === 'Logical_Switch_Port' || table === 'Port_Group')) this.toldInOrder.wrote(table, uuid, after);
      if (table !== 'Logical_Switch_Port' || before === undefined || after !== undefined) continue;
      const isThere = [...this.ovn.database.rows(table)].some(([, { name }]) => name === before['name']);
      if (!isThere) this.takenPorts.took(before);
    }
  }

  /** A transaction under an older term fails at its fence, whatever else would have stopped it. */
  #refusedOf(client: string, { results }: Execution, operations: readonly unknown[]): void {
    const [global] = this.ovn.database.rows('NB_Global');
    const ids = global?.[1]['external_ids'];
    const term = Number(ids instanceof Map ? ids.get(TERM_KEY) : undefined);
    const said = (operations as readonly { readonly comment?: string }[]).find(({ comment }) => comment !== undefined)?.comment ?? '';
    const own = Number(/^kiln: term (\d+), /.exec(said)?.[1]);
    const failed = results.findIndex((result) => typeof result === 'object' && result !== null && 'error' in result);
    if (own < term && failed >= 0 && (operations[failed] as { readonly table?: string }).table !== 'NB_Global')
      this.alarms.push(`${client}: transaction "${said}" got past its fence while term ${term} was in force`);
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
    const say = (level: string, message: string, fields: Fields = {}): void => {
      this.#trace(`${this.time.now.toFixed(3)} ${name} ${level} ${message} ${JSON.stringify(fields)}`);
      if (message === 'rule failed') this.alarms.push(`${name}: ${message} ${JSON.stringify(fields)}`);
    };
    return {
      debug: (message, fields = {}) => {
        if (message === 'event dropped') this.dropped.add(factKey(fields as { uid: string; reason: string; message: string }));
      },
      info: (message, fields) => {
        if (message === 'leading') this.terms++;
        say('info', message, fields);
      },
      warn: (message, fields) => say('warn', message, fields),
      error: (message, fields) => say('error', message, fields),
    };
  }
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  Object.values(value).forEach(freeze);
}

/** Rows that changed, and the members of their columns: which of these are Kiln's counts in a picture. */
function withMembers(differences: readonly Pick<RowDifference, 'uuid' | 'after'>[]): ReadonlySet<Uuid> {
  const rows = new Set(differences.map(({ uuid }) => uuid));
  for (const { after = {} } of differences)
    for (const [column, value] of Object.entries(after)) {
      if (value instanceof Set) for (const member of value) rows.add(member as Uuid);
      else if (WEAK.includes(column) && value !== null) rows.add(value as Uuid);
    }
  return rows;
}

/** Those that changed are few, members of a column may be many. */
function isAnyIn(rows: ReadonlySet<Uuid>, members: Value | undefined): boolean {
  if (!(members instanceof Set)) return false;
  for (const uuid of rows) if ((members as ReadonlySet<unknown>).has(uuid)) return true;
  return false;
}

function cellOf(value: Value): ForeignCell {
  if (value instanceof Set) return [...(value as ReadonlySet<string>)].toSorted();
  if (value instanceof Map) return Object.fromEntries([...(value as ReadonlyMap<string, string>)].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return (value ?? []) as ForeignCell;
}
