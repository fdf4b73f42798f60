/**
 * A control plane in one process for tests of rules: World, compiler, real diff and real ledger; Northbound database and Kubernetes objects
 * in memory. A test puts objects in, `converge` runs everything until it has converged, and the test reads rows and objects.
 *
 *     const bench = new RuleBench();
 *     bench.put('vpcs', { metadata: { name: 'blue' } });
 *     bench.converge();
 *     bench.row('Logical_Router', 'blue');
 */
import type { Condition } from '../api/kubernetes/meta.ts';
import { AllocationStep } from '../allocate/allocation-step.ts';
import { Compiler } from '../engine/compiler.ts';
import type { Output } from '../compile/output.ts';
import type { Rule } from '../compile/rule.ts';
import { Desired } from '../compile/desired.ts';
import { RULES } from '../compile/rules.ts';
import type { DiffContext } from '../diff/diff-context.ts';
import { diffMembers } from '../diff/member-diff.ts';
import { diffRow } from '../diff/row-diff.ts';
import type { Verdict } from '../diff/edits.ts';
import { isEntryOfOption } from '../diff/unexplained-entries.ts';
import { GLOBAL_ROW } from '../nb/global-keys.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, tableOf } from '../nb/row-id.ts';
import { tableSpec, TABLES } from '../nb/tables.ts';
import type { Row, RowChange, Uuid } from '../ovsdb/index.ts';
import { conditionsOf } from '../world/conditions.ts';
import { DEFAULT_SETTINGS } from '../world/settings.ts';
import type { Settings } from '../world/settings.ts';
import { waitsForOwner } from '../nb/restored-row.ts';
import { resourceOfOwner } from '../controller/reading/row-owners.ts';
import type { Entry } from '../world/observed-rows.ts';
import type { ResourceName } from '../world/resources.ts';
import { World } from '../world/world.ts';
import { MemoryNorthbound } from './memory-northbound.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';
import type { ObjectInput, TestEvent, TestObject } from './memory-objects.ts';
import { MemoryObjects } from './memory-objects.ts';

/** A row as plain data: sets sorted, references as the identity of the row they name. */
export type PlainRow = Readonly<Record<string, unknown>>;

const MOST_ROUNDS = 200;

interface BenchOptions {
  readonly rules?: readonly Rule[];
  readonly settings?: Partial<Settings>;
  /** Start with the objects and the database of this bench. */
  readonly after?: RuleBench;
  /** With a new, empty database instead. */
  readonly databaseLost?: boolean;
}

export class RuleBench {
  readonly world: World;
  readonly compiler: Compiler<World, Output>;
  readonly desired: Desired;
  readonly northbound: MemoryNorthbound;
  readonly allocation: AllocationStep;
  /** Number of row and object changes written since the start. */
  writes = 0;
  /** Conflicts of the last diff, as `<identity>: <message>`. */
  readonly conflicts = new Map<RowId, string>();
  readonly #objects: MemoryObjects;
  readonly #reports: TestEvent[] = [];
  readonly #rules: readonly Rule[];

  readonly #options: BenchOptions;

  constructor(options: BenchOptions = {}) {
    this.#options = options;
    this.northbound = (options.databaseLost === true ? undefined : options.after?.northbound) ?? new MemoryNorthbound();
    this.world = new World({ ...DEFAULT_SETTINGS, ...options.settings });
    this.#objects = new MemoryObjects(this.world);
    this.#rules = options.rules ?? RULES;
    this.desired = new Desired(this.world);
    this.compiler = new Compiler(this.world, this.desired, this.#rules, ({ error }) => {
      throw error;
    });
    this.allocation = new AllocationStep(this.world, this.desired.addresses);
    if (options.after === undefined || options.databaseLost === true)
      this.world.rows.apply(this.northbound, this.northbound.insert('NB_Global', '00000000-0000-4000-8000-000000000001', {}));
    else this.#observeRows();
    if (options.after !== undefined) this.#objects.observe(options.after.#objects);
  }

  /** A fresh controller over the same API server and database. */
  restarted(): RuleBench {
    return new RuleBench({ ...this.#options, after: this, databaseLost: false });
  }

  /** Number of writes of a fresh controller over the same API server and database; 0 if nothing is left to write. */
  writesAfterRestart(): number {
    const fresh = this.restarted();
    fresh.converge();
    return fresh.writes;
  }

  /** A fresh controller over the same API server and a new, empty database. */
  withNewDatabase(): RuleBench {
    return new RuleBench({ ...this.#options, after: this, databaseLost: true });
  }

  #observeRows(): void {
    const rows = TABLES.flatMap(({ table }) =>
      [...this.northbound.table(table)].map(([uuid, row]): RowChange => ({ table, uuid, kind: 'insert', row })),
    );
    this.world.rows.apply(this.northbound, rows);
  }

  put(resource: ResourceName, input: ObjectInput): TestObject {
    return this.#objects.put(resource, input);
  }

  /** Changes some fields of an object's spec. */
  edit(resource: ResourceName, key: string, spec: object): void {
    const object = this.#objects.get(resource, key);
    if (object === undefined) throw new Error(`no ${resource} ${key}`);
    this.#objects.put(resource, { metadata: object.metadata, spec: { ...object.spec, ...spec } });
  }

  delete(resource: ResourceName, key: string): void {
    this.#objects.delete(resource, key);
  }

  removeByForce(resource: ResourceName, key: string): void {
    this.#objects.removeByForce(resource, key);
  }

  object(resource: ResourceName, key: string): TestObject | undefined {
    return this.#objects.get(resource, key);
  }

  keys(resource: ResourceName): string[] {
    return this.#objects.keys(resource);
  }

  /** The conditions of an object, wherever its kind has them: in its status, or in an annotation. */
  conditions(resource: ResourceName, key: string): readonly Partial<Condition>[] {
    const object = this.object(resource, key);
    return object === undefined ? [] : conditionsOf(resource, object);
  }

  condition(
    resource: ResourceName,
    key: string,
    type: string,
  ): { readonly status: string; readonly reason?: string; readonly message?: string } | undefined {
    return this.conditions(resource, key).find((condition): condition is Condition => condition.type === type);
  }

  /** The conditions of an object as a user reads them, one a line: `Accepted=False AddressConflict: the address…`. */
  conditionText(resource: ResourceName, key: string): string {
    return this.conditions(resource, key)
      .map(({ type, status, reason = '', message = '' }) => `${type ?? ''}=${status ?? ''} ${reason}: ${message}`)
      .join('\n');
  }

  get events(): readonly TestEvent[] {
    return [...this.#objects.events, ...this.#reports];
  }

  /** Advances the time of the World and the API server, and converges. @param now milliseconds since the epoch */
  passTo(now: number): void {
    this.#objects.clock = now;
    this.world.deadlines.advance(now);
    this.converge();
  }

  /** Disruption budgets: whether a pod may be evicted now. */
  set mayEvict(allows: (pod: string) => boolean) {
    this.#objects.mayEvict = allows;
  }

  /** An admission policy: why the API server rejects the creation of an IP object; undefined: it accepts it. */
  set rejectsIp(says: (name: string) => string | undefined) {
    this.rejects = (write) => (write.verb === 'create' && write.resource === 'ips' ? says(write.name) : undefined);
  }

  /** The same for any write. */
  set rejects(says: (write: ObjectWrite) => string | undefined) {
    this.#objects.rejects = says;
  }

  /** Runs rules, allocation and both writers until nothing changes. @throws Error after too many rounds */
  converge(): void {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      if (!this.#round()) return;
    }
    throw new Error(
      `the rules do not come to rest; still changing: ${[...this.desired.objects.due, ...this.desired.rows.dueRows].slice(0, 5).join(', ')}`,
    );
  }

  /** One round of rules, allocation and both writers. @returns whether anything changed */
  step(): boolean {
    return this.#round();
  }

  /** Runs only rules and allocation: the desired state can be read, and nothing is written. */
  compile(): void {
    this.allocation.expectReservations();
    do this.world.reactor.runDue();
    while (this.#allocate());
  }

  /** Inserts a row as another program would. */
  foreignRow(
    table: string,
    uuid: string,
    columns: Readonly<Record<string, unknown>>,
    parent?: { readonly table: string; readonly uuid: string; readonly column: string },
  ): void {
    this.world.rows.apply(this.northbound, this.northbound.insert(table, uuid, columns, parent));
  }

  /** Removes a row as another program would. */
  removeForeignRow(table: string, uuid: string): void {
    this.world.rows.apply(this.northbound, this.northbound.remove(table, uuid as Uuid));
  }

  /** Removes the row with a name, as `ovn-nbctl` would. @throws Error if there is none */
  removeNamedRow(table: string, name: string): void {
    const [uuid] = [...this.northbound.table(table)].find(([, row]) => row['name'] === name) ?? [];
    if (uuid === undefined) throw new Error(`no ${table} ${name}`);
    this.removeForeignRow(table, uuid);
  }

  rowIds(table: string): string[] {
    return [...this.northbound.table(table).keys()].map((uuid) => identityOf(this.#idOf(uuid))).toSorted();
  }

  row(table: string, identity: string): PlainRow | undefined {
    for (const [uuid, row] of this.northbound.table(table)) if (identityOf(this.#idOf(uuid)) === identity) return this.#plain(row);
    return undefined;
  }

  /** A map column of a row; empty if there is no such row. */
  map(table: string, identity: string, column: string): Readonly<Record<string, string>> {
    return (this.row(table, identity)?.[column] ?? {}) as Readonly<Record<string, string>>;
  }

  externalIds(table: string, identity: string): Readonly<Record<string, string>> {
    return this.map(table, identity, 'external_ids');
  }

  /** A set column of a row, sorted; empty if there is no such row. */
  list(table: string, identity: string, column: string): readonly string[] {
    return (this.row(table, identity)?.[column] ?? []) as readonly string[];
  }

  rows(table: string): readonly PlainRow[] {
    return this.rowIds(table).map((identity) => this.row(table, identity) as PlainRow);
  }

  #round(): boolean {
    let changed = false;
    this.allocation.expectReservations();
    do {
      this.world.reactor.runDue();
    } while (this.#allocate());
    changed = this.#commitRows() || changed;
    const { desired } = this;
    for (const report of desired.reports.fresh)
      this.#reports.push({ object: `${report.resource}/${report.key}`, type: report.type, reason: report.reason, message: report.message });
    desired.reports.fresh.clear();
    for (const id of [...desired.objects.ids]) {
      const at = id.indexOf('/');
      if (!this.#objects.apply(id.slice(0, at) as ResourceName, id.slice(at + 1), desired.objects.of(id))) continue;
      this.writes++;
      changed = true;
    }
    desired.objects.due.clear();
    return changed;
  }

  /** @returns whether a source of a rule changed */
  #allocate(): boolean {
    this.allocation.run();
    this.allocation.usage.publish(0, 0);
    return !this.world.reactor.isIdle || !this.allocation.quiet;
  }

  /** Compares all identities each time: a test's World is small. */
  #commitRows(): boolean {
    const { rows: desired } = this.desired;
    const ids = new Set<RowId>([GLOBAL_ROW, ...desired.rowIds, ...this.world.rows.owned]);
    this.conflicts.clear();
    let changed = false;
    const byRank = [...ids].toSorted((a, b) => tableSpec(tableOf(a)).rank - tableSpec(tableOf(b)).rank);
    const contextOf = (): DiffContext => ({
      ...{ rows: this.world.rows, desired, planned: new Map<RowId, Uuid>() },
      ...{ canHold: () => true, allows: () => true, isHeld: (row: Entry) => this.#isHeld(row) },
      entryStays: (row, column, key) => isEntryOfOption(this.world, row, column, key),
    });
    for (const id of byRank) if (!this.#isLeftHeld(id)) changed = this.#apply(id, diffRow(id, contextOf())) || changed;
    // Members after all rows: the real writer has both in one transaction. It compares those that changed, and after an insert all.
    for (const [id, keys] of desired.dueMembers) changed = this.#apply(id, diffMembers(id, keys, contextOf())) || changed;
    for (const id of byRank) changed = this.#apply(id, diffMembers(id, 'all', contextOf())) || changed;
    desired.dueRows.clear();
    desired.dueMembers.clear();
    desired.dueSelections.clear();
    return changed;
  }

  /** What an undo restored stays until its object is back, as the writer has it. */
  #isHeld(row: Entry): boolean {
    if (!waitsForOwner(row)) return false;
    const object = resourceOfOwner(row.ownership.owner);
    return object === undefined || this.#objects.get(object.resource, object.key) === undefined;
  }

  #isLeftHeld(id: RowId): boolean {
    return (this.desired.rows.row(id)?.rows ?? []).length === 0 && this.world.rows.rowsOf(id).some((row) => this.#isHeld(row));
  }

  #apply(id: RowId, verdict: Verdict): boolean {
    if (verdict.kind === 'conflict') this.conflicts.set(id, verdict.message);
    if (verdict.kind !== 'change') return false;
    const batch = this.northbound.apply(verdict.edits);
    this.world.rows.apply(this.northbound, batch);
    this.writes++;
    return batch.length > 0;
  }

  #idOf(uuid: Uuid): RowId {
    return this.world.rows.entry(uuid)?.id ?? (`?/${uuid}` as RowId);
  }

  #plain(row: Row): PlainRow {
    const name = (atom: unknown): unknown => {
      const entry = typeof atom === 'string' ? this.world.rows.entry(atom as Uuid) : undefined;
      return entry === undefined ? atom : entry.id;
    };
    return Object.fromEntries(
      Object.entries(row)
        .filter(([column]) => column !== '_uuid')
        .map(([column, value]) => [
          column,
          value instanceof Set
            ? [...value].map(name).toSorted(byText)
            : value instanceof Map
              ? Object.fromEntries([...value].toSorted(([a], [b]) => byText(a, b)))
              : name(value),
        ]),
    );
  }
}

function byText(a: unknown, b: unknown): number {
  const [x, y] = [String(a), String(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}
