/**
 * A controller in memory. `settle` does what the controller would do until nothing is left; between two calls a caller puts in what a user
 * would. The rules, the allocation and the diff are the controller's own; its two writers are replaced by the memory of this folder.
 */
import { AllocationStep } from '../allocate/allocation-step.ts';
import { foundConflict } from '../commit/found-conflict.ts';
import { KeyConflicts } from '../commit/key-conflicts.ts';
import { planRows } from '../commit/plan-rows.ts';
import { Compiler } from '../engine/compiler.ts';
import type { Output } from '../compile/output.ts';
import { Desired } from '../compile/desired.ts';
import type { ObjectId } from '../compile/output.ts';
import { RULES } from '../compile/rules.ts';
import type { PlanPart } from '../controller/controller-options.ts';
import type { DiffContext } from '../diff/diff-context.ts';
import type { Edit, Verdict } from '../diff/edits.ts';
import { diffMembers } from '../diff/member-diff.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';
import { diffObject } from '../diff/object-diff.ts';
import { diffRow } from '../diff/row-diff.ts';
import { GLOBAL_ROW } from '../nb/global-keys.ts';
import { ownerText } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { tableOf } from '../nb/row-id.ts';
import { tableSpec } from '../nb/tables.ts';
import type { Replica, Uuid } from '../ovsdb/index.ts';
import type { DatabaseSchema } from '../ovsdb/schema.ts';
import type { Observed } from '../webhook/protocol/admission-result.ts';
import { equal } from '../engine/equal.ts';
import type { ResourceName } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import { MemoryApi } from './memory-api.ts';
import { MemoryNorthbound } from './memory-northbound.ts';

export interface PreviewOptions {
  /** Every object, and no rows: nothing else may change it any more. */
  readonly world: World;
  /** Complete; it must not change any more either. */
  readonly rows: Replica;
  readonly schema: DatabaseSchema;
  /** RFC 3339: the time of everything that happens. */
  readonly now: string;
}

/** What was written in memory. */
export interface Written {
  readonly rows: readonly { readonly id: RowId; readonly verdict: Verdict }[];
  readonly objects: readonly ObjectWrite[];
}

/** A controller converges within some rounds; more are a fault of the rules. */
const MOST_ROUNDS = 200;

export class Preview {
  readonly world: World;
  readonly desired: Desired;
  /** It runs by itself, as the World changes. */
  readonly compiler: Compiler<World, Output>;
  readonly api: MemoryApi;
  /** Rules that failed, as `rule: key: error`. */
  readonly failures: string[] = [];
  readonly #now: string;
  readonly #northbound: MemoryNorthbound;
  readonly #allocation: AllocationStep;
  readonly #dueRows = new Set<RowId>();
  readonly #dueObjects = new Set<ObjectId>();
  /** Rows that wait for others. */
  readonly #waiting = new Set<RowId>();
  readonly #verdicts = new Map<RowId, Verdict>();
  readonly #conflicts = new Map<RowId, string>();
  readonly #keyConflicts: KeyConflicts;
  readonly #writes = new Map<string, ObjectWrite>();

  constructor({ world, rows, schema, now }: PreviewOptions) {
    this.world = world;
    this.#now = now;
    this.desired = new Desired(world);
    this.#keyConflicts = new KeyConflicts(world, this.desired.rows);
    this.#northbound = new MemoryNorthbound(schema);
    this.api = new MemoryApi(world, now, (id) => this.#dueObjects.add(id));
    const failed = ({ rule, key, error }: { readonly rule: string; readonly key: string; readonly error: unknown }): void => {
      this.failures.push(`${rule}: ${key}: ${String(error)}`);
    };
    this.compiler = new Compiler(world, this.desired, RULES, failed);
    this.#allocation = new AllocationStep(world, this.desired.addresses);
    // After the allocation, which hears of the ports and so of their addresses.
    world.rows.apply(this.#northbound, this.#northbound.load(rows));
    world.rows.onChange({ row: (id) => this.#dueRows.add(id), member: (id) => this.#dueRows.add(id) });
    this.#derive();
    for (const id of [GLOBAL_ROW, ...this.desired.rows.rowIds, ...world.rows.owned]) this.#dueRows.add(id);
    for (const id of this.desired.objects.ids) this.#dueObjects.add(id);
  }

  /** What the webhook would read now. */
  observed(): Observed {
    this.#derive();
    return { world: this.world, complete: true, checkRequest: (request) => this.#allocation.check(request) };
  }

  /** Rows that foreign rows prevent now, with the message. */
  get conflicts(): ReadonlyMap<RowId, string> {
    return this.#conflicts;
  }

  /** Writes until nothing is left to do. @returns what was written, each row once. @throws Error if the rules do not come to rest */
  settle(): Written {
    this.#verdicts.clear();
    this.#writes.clear();
    for (let round = 0; ; round++) {
      if (round >= MOST_ROUNDS)
        throw new Error(`the rules do not come to rest: ${[...this.#dueRows, ...this.#dueObjects].slice(0, 5).join(', ')}`);
      this.#derive();
      // Both in each round, as they write at the same time.
      const [rows, objects, collected] = [this.#writeRows(), this.#writeObjects(), this.api.collect()];
      if (!rows && !objects && !collected && this.world.reactor.isIdle) break;
    }
    return { rows: [...this.#verdicts].map(([id, verdict]) => ({ id, verdict })), objects: [...this.#writes.values()] };
  }

  /** The writes that are due now, of these rows and objects. Changes nothing but what rules know of conflicts. */
  plan(only: PlanPart): Written {
    for (;;) {
      this.#derive();
      const planned = new Map<RowId, Uuid>();
      const context: DiffContext = { rows: this.world.rows, desired: this.desired.rows, planned, ...this.#northbound.holds };
      const compared = [...new Set([GLOBAL_ROW, ...this.desired.rows.rowIds, ...this.world.rows.owned])].filter(only.row).toSorted();
      const rows = planRows(compared, context, planned);
      for (const { id, verdict } of rows) if (verdict.kind === 'conflict') this.#reportConflict(id, verdict);
      if (!this.world.reactor.isIdle) continue;
      const objects = [...this.desired.objects.ids].filter(only.object).flatMap((id) => this.#objectWrites(id));
      return { rows, objects };
    }
  }

  /** Carries out some of what `plan` has, the rows as one transaction. */
  carryOut({ rows, objects }: Written): void {
    const edits = rows.flatMap(({ verdict }) => (verdict.kind === 'change' ? verdict.edits : []));
    if (edits.length > 0) this.world.rows.apply(this.#northbound, this.#northbound.apply(edits));
    for (const write of objects) this.api.write(write);
    this.api.collect();
  }

  #objectWrites(id: ObjectId): readonly ObjectWrite[] {
    const slash = id.indexOf('/');
    const [resource, key] = [id.slice(0, slash) as ResourceName, id.slice(slash + 1)];
    const { pruned } = this.world;
    return diffObject(resource, key, this.desired.objects.of(id), this.api.get(resource, key), this.#now, this.#now, pruned.of(resource));
  }

  #derive(): void {
    this.#allocation.expectReservations();
    do {
      this.world.reactor.runDue();
      this.#allocation.run();
      this.#allocation.usage.publish(0, 0);
    } while (!this.world.reactor.isIdle || !this.#allocation.quiet);
  }

  #writeRows(): boolean {
    const { rows: desired } = this.desired;
    for (const id of [...desired.dueRows, ...desired.dueMembers.keys(), ...desired.dueSelections, ...this.#waiting]) this.#dueRows.add(id);
    desired.dueRows.clear();
    desired.dueMembers.clear();
    desired.dueSelections.clear();
    const due = [...this.#dueRows].toSorted((a, b) => tableSpec(tableOf(a)).rank - tableSpec(tableOf(b)).rank);
    this.#dueRows.clear();
    this.#waiting.clear();
    const context: DiffContext = { rows: this.world.rows, desired, planned: new Map<RowId, Uuid>(), ...this.#northbound.holds };
    let changed = false;
    for (const id of due) changed = this.#writeRow(id, diffRow(id, context), true) || changed;
    // Members after all rows: the writer has both in one transaction.
    for (const id of due) changed = this.#writeRow(id, diffMembers(id, 'all', context), false) || changed;
    return changed;
  }

  #writeRow(id: RowId, verdict: Verdict, whole: boolean): boolean {
    if (verdict.kind === 'waiting') this.#waiting.add(id);
    if (verdict.kind === 'conflict') this.#conflicts.set(id, verdict.message);
    else if (whole) this.#conflicts.delete(id);
    if (whole) this.#reportConflict(id, verdict);
    else this.#keyConflicts.compared(id);
    if (verdict.kind !== 'change') return false;
    const changes = this.#northbound.apply(verdict.edits);
    if (changes.length === 0) return false;
    this.world.rows.apply(this.#northbound, changes);
    this.#verdicts.set(id, combined(this.#verdicts.get(id), verdict));
    if (this.#verdicts.get(id)?.kind === 'converged') this.#verdicts.delete(id);
    return true;
  }

  /** Rules read it. */
  #reportConflict(id: RowId, verdict: Verdict): void {
    const { rowConflicts } = this.world;
    const claims = (this.desired.rows.row(id)?.rows ?? []).filter(({ leftover }) => leftover !== true);
    const conflict = foundConflict(
      id,
      verdict,
      claims.map(({ owner }) => ownerText(owner)),
    );
    if (conflict === undefined) rowConflicts.delete(id);
    else if (!equal(rowConflicts.peek(id), conflict)) rowConflicts.set(id, conflict);
  }

  #writeObjects(): boolean {
    const { objects: desired } = this.desired;
    for (const id of desired.due) this.#dueObjects.add(id);
    desired.due.clear();
    const due = [...this.#dueObjects];
    this.#dueObjects.clear();
    let changed = false;
    for (const id of due) {
      for (const write of this.#objectWrites(id)) {
        if (!this.api.write(write)) continue;
        const at = `${write.verb} ${id} ${write.verb === 'patch' ? (write.subresource ?? '') : ''}`;
        this.#writes.set(at, joined(this.#writes.get(at), write));
        changed = true;
      }
    }
    return changed;
  }
}

type Change = Extract<Verdict, { readonly kind: 'change' }>;

/** Two writes of one row as one. */
function combined(before: Verdict | undefined, now: Change): Verdict {
  if (before?.kind !== 'change') return now;
  if (now.change === 'delete') return before.change === 'insert' ? { kind: 'converged' } : now;
  const edits: readonly Edit[] = [...before.edits, ...now.edits];
  return { ...before, change: before.change === 'delete' ? 'replace' : before.change, edits };
}

/** Two patches of one object as one. */
function joined(before: ObjectWrite | undefined, now: ObjectWrite): ObjectWrite {
  if (before?.verb !== 'patch' || now.verb !== 'patch') return now;
  const parts = Object.entries(now.patch).map(([part, fields]) => [
    part,
    { ...(before.patch[part] as object | undefined), ...(fields as object) },
  ]);
  return { ...now, patch: { ...before.patch, ...(Object.fromEntries(parts) as Readonly<Record<string, unknown>>) } };
}
