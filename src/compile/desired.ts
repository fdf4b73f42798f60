/**
 * The desired state: the outputs of all rules by identity, and the identities with outputs that have changed since the writers last looked
 * (`dirty…`). The writers compare only these with the World.
 */
import { equal } from '../world/equal.ts';
import type { AddressRequest } from '../world/reservations.ts';
import type { RowId } from '../nb/row-id.ts';
import { tableOf } from '../nb/row-id.ts';
import type {
  ConditionOutput,
  MemberOutput,
  ReportOutput,
  ObjectId,
  ObjectOutput,
  Output,
  PatchOutput,
  PoolOutput,
  SelectionOutput,
  RowOutput,
} from './output.ts';
import { objectId } from './output.ts';
import { older } from './row-order.ts';
import { SelectedMembers } from './selected-members.ts';
import type { World } from '../world/world.ts';
import type { ResourceName } from '../world/resources.ts';

export interface RowSlot {
  /** Outputs for this identity, in the order of `older`: the first one is written, the others are conflicts. */
  readonly rows: readonly RowOutput[];
  /** By `memberKey`; `emitters` counts the rules that emit the same member. */
  readonly members: ReadonlyMap<MemberKey, { readonly output: MemberOutput; readonly emitters: number }>;
}

/** Most slots have one row and no members: a list has its exact length, and a map exists from the first member on. */
interface MutableSlot {
  rows: readonly RowOutput[];
  members: Map<MemberKey, { output: MemberOutput; emitters: number }>;
  /** How many rules emit a selection for the row. */
  selections: number;
}

/** Identity of a member within its row: the column, and the reference, the map key or the element. */
export type MemberKey = string & { readonly __brand: 'MemberKey' };

export function memberKey(column: string, member: MemberOutput['member']): MemberKey {
  if (typeof member !== 'object') return `${column}\n${String(member)}` as MemberKey;
  return `${column}\n${'ref' in member ? member.ref : member.key}` as MemberKey;
}

const NO_OBJECTS: readonly ObjectOutput[] = [];
const NO_ROWS: readonly RowOutput[] = [];
/** Never written to. */
const NO_MEMBERS: MutableSlot['members'] = new Map();

/** Number of objects of a resource with this condition, status and reason. */
export interface ConditionCount extends Pick<ConditionOutput, 'type' | 'status' | 'reason'> {
  readonly resource: ResourceName;
  objects: number;
}

export class Desired {
  readonly #rows = new Map<RowId, MutableSlot>();
  readonly #objects = new Map<ObjectId, readonly ObjectOutput[]>();
  readonly #requests = new Map<string, AddressRequest>();
  /** Of claimants with requests of several rules at once, all of these: when one rule withdraws its request, the other's stays. */
  readonly #rivals = new Map<string, readonly AddressRequest[]>();
  readonly #pools = new Map<string, PoolOutput>();
  readonly #rowCounts = new Map<string, number>();
  readonly #conditionCounts = new Map<string, ConditionCount>();
  readonly dirtyRows = new Set<RowId>();
  /** Changed members of rows that have not changed otherwise. */
  readonly dirtyMembers = new Map<RowId, Set<MemberKey>>();
  /** Rows with a selection that came or went: all of their members have to be compared. */
  readonly dirtySelections = new Set<RowId>();
  readonly #selected: SelectedMembers | undefined;
  readonly dirtyObjects = new Set<ObjectId>();
  /** Claimants whose request appeared, changed or went. */
  readonly dirtyRequests = new Set<string>();
  readonly dirtyPools = new Set<string>();
  readonly reports = new Set<ReportOutput>();
  /** Reports that were not sent yet. */
  readonly freshReports = new Set<ReportOutput>();
  /** Cache of the last identity: a rule emits several outputs for one object, and each is looked up twice. */
  #lastObject: Pick<ObjectOutput, 'resource' | 'key'> | undefined;
  #lastId = '' as ObjectId;
  #lastMember: MemberOutput | undefined;
  #lastKey = '' as MemberKey;

  /** @param world for outputs that select pods; without one there are none */
  constructor(world?: World) {
    this.#selected =
      world === undefined
        ? undefined
        : new SelectedMembers(world, (row, column, member) => this.markMember(row, memberKey(column, member)));
  }

  /** A member of a row that a rule emits, or that a selection gives. */
  member(id: RowId, key: MemberKey): MemberOutput | undefined {
    const emitted = this.#rows.get(id)?.members.get(key)?.output;
    if (emitted !== undefined || this.#selected === undefined) return emitted;
    const at = key.indexOf('\n');
    return this.#selected.find(id, key.slice(0, at), key.slice(at + 1));
  }

  /** All members of a row. Cost: one pass. */
  *members(id: RowId): Generator<MemberOutput> {
    for (const { output } of this.#rows.get(id)?.members.values() ?? []) yield output;
    if (this.#selected !== undefined) yield* this.#selected.of(id);
  }

  hasMembers(id: RowId): boolean {
    return (this.#rows.get(id)?.members.size ?? 0) > 0 || this.#selected?.has(id) === true;
  }

  row(id: RowId): RowSlot | undefined {
    return this.#rows.get(id);
  }

  object(id: ObjectId): readonly ObjectOutput[] {
    return this.#objects.get(id) ?? NO_OBJECTS;
  }

  pool(subnet: string): PoolOutput | undefined {
    return this.#pools.get(subnet);
  }

  request(claimant: string): AddressRequest | undefined {
    return this.#requests.get(claimant);
  }

  get requests(): ReadonlyMap<string, AddressRequest> {
    return this.#requests;
  }

  /** Number of desired rows, by table. */
  get rowCounts(): ReadonlyMap<string, number> {
    return this.#rowCounts;
  }

  get conditionCounts(): IterableIterator<Readonly<ConditionCount>> {
    return this.#conditionCounts.values();
  }

  get rowIds(): IterableIterator<RowId> {
    return this.#rows.keys();
  }

  get objectIds(): IterableIterator<ObjectId> {
    return this.#objects.keys();
  }

  /**
   * Replaces the outputs of a rule's last run for a key. An equal output changes nothing and makes nothing dirty.
   * @param before the result of the last call for this rule and key
   */
  replace(before: readonly Output[], after: readonly Output[]): readonly Output[] {
    if (before.length === 0) {
      for (const output of after) {
        this.#add(output);
        this.#mark(output);
      }
      return after;
    }
    const reused = new Set<Output>();
    let named: ReadonlyMap<string, readonly Output[]> | undefined;
    let places: ReadonlyMap<Output, number> | undefined;
    // Most outputs keep their position, but for what was removed or added before them.
    let shift = 0;
    const held = after.map((output, place) => {
      const there = before[place + shift];
      let same = there !== undefined && !reused.has(there) && equal(there, output) ? there : undefined;
      if (same === undefined) {
        places ??= new Map(before.map((one, at) => [one, at]));
        same = (named ??= Map.groupBy(before, nameOf)).get(nameOf(output))?.find((one) => !reused.has(one) && equal(one, output));
        shift = (same === undefined ? place + shift - 1 : (places.get(same) as number)) - place;
      }
      if (same === undefined) {
        this.#add(output);
        this.#mark(output);
      } else reused.add(same);
      return same ?? output;
    });
    for (const output of before) {
      if (reused.has(output)) continue;
      this.#remove(output);
      this.#mark(output);
    }
    return held;
  }

  #add(output: Output): void {
    switch (output.kind) {
      case 'selection':
        this.#selection(output, 1);
        return;
      case 'row': {
        const slot = this.#slot(output.id);
        if (slot.rows.length === 0) this.#countRow(output.id, 1);
        slot.rows = slot.rows.length === 0 ? [output] : [...slot.rows, output].toSorted(older);
        return;
      }
      case 'member': {
        const slot = this.#slot(output.row);
        const key = this.#keyOf(output);
        const present = slot.members.get(key);
        if (slot.members === NO_MEMBERS) slot.members = new Map();
        slot.members.set(key, { output, emitters: (present?.emitters ?? 0) + 1 });
        return;
      }
      case 'address-request': {
        const first = this.#requests.get(output.request.claimant);
        if (first === undefined) this.#requests.set(output.request.claimant, output.request);
        else this.#choose([...(this.#rivals.get(output.request.claimant) ?? [first]), output.request]);
        return;
      }
      case 'pool':
        this.#pools.set(output.subnet, output);
        return;
      case 'report':
        this.reports.add(output);
        this.freshReports.add(output);
        return;
      case 'patch':
      case 'create':
      case 'delete':
      case 'evict': {
        const id = this.#idOf(output);
        const outputs = this.#objects.get(id);
        this.#objects.set(id, outputs === undefined ? [output] : [...outputs, output]);
        if (output.kind === 'patch') this.#countConditions(output, 1);
      }
    }
  }

  #selection(output: SelectionOutput, by: 1 | -1): void {
    if (this.#selected === undefined) throw new Error('a selection needs a World');
    const slot = this.#slot(output.row);
    slot.selections += by;
    if (by === 1) this.#selected.add(output);
    else this.#selected.remove(output);
    this.#tidy(output.row, slot);
  }

  #remove(output: Output): void {
    switch (output.kind) {
      case 'selection':
        this.#selection(output, -1);
        return;
      case 'row': {
        const slot = this.#slot(output.id);
        slot.rows = without(slot.rows, output);
        if (slot.rows.length === 0) this.#countRow(output.id, -1);
        this.#tidy(output.id, slot);
        return;
      }
      case 'member': {
        const slot = this.#slot(output.row);
        const key = this.#keyOf(output);
        const present = slot.members.get(key);
        if (present !== undefined && present.emitters > 1) present.emitters--;
        else slot.members.delete(key);
        this.#tidy(output.row, slot);
        return;
      }
      case 'address-request': {
        const rivals = this.#rivals.get(output.request.claimant);
        if (rivals === undefined) this.#requests.delete(output.request.claimant);
        else this.#choose(without(rivals, output.request));
        return;
      }
      case 'pool':
        if (this.#pools.get(output.subnet) === output) this.#pools.delete(output.subnet);
        return;
      case 'report':
        this.reports.delete(output);
        this.freshReports.delete(output);
        return;
      case 'patch':
      case 'create':
      case 'delete':
      case 'evict': {
        const id = this.#idOf(output);
        const outputs = without(this.#objects.get(id) ?? NO_OBJECTS, output);
        if (output.kind === 'patch') this.#countConditions(output, -1);
        if (outputs.length === 0) this.#objects.delete(id);
        else this.#objects.set(id, outputs);
      }
    }
  }

  /** One of several requests of a claimant, the same in every process. */
  #choose(requests: readonly AddressRequest[]): void {
    const [first, ...others] = requests;
    if (first === undefined) return;
    const text = (request: AddressRequest): string => JSON.stringify(request);
    this.#requests.set(
      first.claimant,
      others.reduce((one, other) => (text(other) < text(one) ? other : one), first),
    );
    if (others.length === 0) this.#rivals.delete(first.claimant);
    else this.#rivals.set(first.claimant, requests);
  }

  /** Marks the identity of an output as dirty. Not of a report, which is sent once. */
  #mark(output: Output): void {
    switch (output.kind) {
      case 'row':
        this.dirtyRows.add(output.id);
        return;
      case 'member':
        this.markMember(output.row, this.#keyOf(output));
        return;
      case 'selection':
        this.dirtySelections.add(output.row);
        return;
      case 'address-request':
        this.dirtyRequests.add(output.request.claimant);
        return;
      case 'pool':
        this.dirtyPools.add(output.subnet);
        return;
      case 'report':
        return;
      default:
        this.dirtyObjects.add(this.#idOf(output));
    }
  }

  #idOf(output: ObjectOutput): ObjectId {
    const last = this.#lastObject;
    if (last?.key !== output.key || last.resource !== output.resource) {
      this.#lastObject = output;
      this.#lastId = objectId(output.resource, output.key);
    }
    return this.#lastId;
  }

  #keyOf(output: MemberOutput): MemberKey {
    if (this.#lastMember !== output) {
      this.#lastMember = output;
      this.#lastKey = memberKey(output.column, output.member);
    }
    return this.#lastKey;
  }

  #countRow(id: RowId, by: 1 | -1): void {
    const table = tableOf(id);
    this.#rowCounts.set(table, (this.#rowCounts.get(table) ?? 0) + by);
  }

  #countConditions({ resource, conditions = [] }: Pick<PatchOutput, 'resource' | 'conditions'>, by: 1 | -1): void {
    for (const { type, status, reason } of conditions) {
      const key = `${resource} ${type} ${status} ${reason}`;
      const count = this.#conditionCounts.get(key);
      if (count === undefined) this.#conditionCounts.set(key, { resource, type, status, reason, objects: by });
      else count.objects += by;
    }
  }

  #slot(id: RowId): MutableSlot {
    let slot = this.#rows.get(id);
    if (slot === undefined) this.#rows.set(id, (slot = { rows: NO_ROWS, members: NO_MEMBERS, selections: 0 }));
    return slot;
  }

  /** Marks one member of a row as dirty. */
  markMember(id: RowId, key: MemberKey): void {
    let keys = this.dirtyMembers.get(id);
    if (keys === undefined) this.dirtyMembers.set(id, (keys = new Set()));
    keys.add(key);
  }

  #tidy(id: RowId, slot: MutableSlot): void {
    if (slot.rows.length === 0 && slot.members.size === 0 && slot.selections === 0) this.#rows.delete(id);
  }
}

/** A name for finding equal outputs: equal outputs have the same name, and few others do, however many there are of one row. */
function nameOf(output: Output): string {
  switch (output.kind) {
    case 'row':
      return output.id;
    case 'member':
      return `${output.row}\n${memberKey(output.column, output.member)}`;
    case 'selection':
      return `${output.row}\n${output.column}\n${output.selector}`;
    case 'address-request':
      return output.request.claimant;
    case 'pool':
      return output.subnet;
    default:
      return output.key;
  }
}

function without<T>(list: readonly T[], member: T): readonly T[] {
  return list.filter((one) => one !== member);
}
