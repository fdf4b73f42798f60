/** The desired Northbound rows, with the members of their shared columns: outputs by row identity. */
import type { RowId } from '../nb/row-id.ts';
import { tableOf } from '../nb/row-id.ts';
import type { World } from '../world/world.ts';
import type { KeyOutput, Member, MemberOutput, RowOutput, SelectionOutput } from './output.ts';
import type { DesiredPart } from '../engine/outputs.ts';
import { older, olderKey } from './row-order.ts';
import { SelectedMembers } from './selected-members.ts';

export interface RowSlot {
  /** Outputs for this identity, in the order of `older`: the first one is written, the others are conflicts. */
  readonly rows: readonly RowOutput[];
  /** Outputs by `memberKey`, keys in the order of `olderKey`: the first one is written. */
  readonly members: ReadonlyMap<MemberKey, readonly MemberOutput[]>;
}

/** Most slots have one row and no members: a list has its exact length, and a map exists from the first member on. */
interface MutableSlot {
  rows: readonly RowOutput[];
  members: Map<MemberKey, readonly MemberOutput[]>;
  /** How many rules emit a selection for the row. */
  selections: number;
}

/** Identity of a member within its row: the column, and the reference, the map key or the element. */
export type MemberKey = string & { readonly __brand: 'MemberKey' };

export function memberKey(column: string, member: Member['member']): MemberKey {
  if (typeof member !== 'object') return `${column}\n${String(member)}` as MemberKey;
  return `${column}\n${'ref' in member ? member.ref : member.key}` as MemberKey;
}

const NO_ROWS: readonly RowOutput[] = [];
/** Never written to. */
const NO_MEMBERS: MutableSlot['members'] = new Map();

type RowPartOutput = RowOutput | MemberOutput | SelectionOutput;

export class DesiredRows implements DesiredPart<RowPartOutput> {
  readonly kinds = ['row', 'member', 'selection'] as const;
  readonly dueRows = new Set<RowId>();
  /** Changed members of rows that have not changed otherwise. */
  readonly dueMembers = new Map<RowId, Set<MemberKey>>();
  /** Rows with a selection that came or went: all of their members have to be compared. */
  readonly dueSelections = new Set<RowId>();
  readonly #rows = new Map<RowId, MutableSlot>();
  readonly #rowCounts = new Map<string, number>();
  /** Keys that several rules emit. */
  readonly #sharedKeys = new Map<RowId, Set<MemberKey>>();
  readonly #selected: SelectedMembers | undefined;

  /** @param world for outputs that select pods; without one there are none */
  constructor(world?: World) {
    this.#selected =
      world === undefined
        ? undefined
        : new SelectedMembers(world, (row, column, member) => this.markMember(row, memberKey(column, member)));
  }

  row(id: RowId): RowSlot | undefined {
    return this.#rows.get(id);
  }

  get rowIds(): IterableIterator<RowId> {
    return this.#rows.keys();
  }

  /** Number of desired rows, by table. */
  get rowCounts(): ReadonlyMap<string, number> {
    return this.#rowCounts;
  }

  /** A member of a row that a rule emits, or that a selection gives. */
  member(id: RowId, key: MemberKey): Member | undefined {
    const emitted = this.#rows.get(id)?.members.get(key)?.[0];
    if (emitted !== undefined || this.#selected === undefined) return emitted;
    const at = key.indexOf('\n');
    return this.#selected.find(id, key.slice(0, at), key.slice(at + 1));
  }

  /** All members of a row. Cost: one pass. */
  *members(id: RowId): Generator<Member> {
    for (const [output] of this.#rows.get(id)?.members.values() ?? []) if (output !== undefined) yield output;
    for (const one of this.#selected?.of(id) ?? []) {
      // What a rule emits comes before a selected value of the same key.
      const isKey = typeof one.member === 'object' && 'key' in one.member;
      yield isKey ? (this.member(id, memberKey(one.column, one.member)) ?? one) : one;
    }
  }

  hasMembers(id: RowId): boolean {
    return (this.#rows.get(id)?.members.size ?? 0) > 0 || this.#selected?.has(id) === true;
  }

  nameOf(output: RowPartOutput): string {
    if (output.kind === 'row') return output.id;
    return output.kind === 'member'
      ? `${output.row}\n${memberKey(output.column, output.member)}`
      : `${output.row}\n${output.column}\n${output.selector}`;
  }

  add(output: RowPartOutput): void {
    if (output.kind === 'selection') return this.#selection(output, 1);
    if (output.kind === 'row') {
      const slot = this.#slot(output.id);
      if (slot.rows.length === 0) this.#countRow(output.id, 1);
      slot.rows = slot.rows.length === 0 ? [output] : [...slot.rows, output].toSorted(older);
      this.dueRows.add(output.id);
      return;
    }
    const slot = this.#slot(output.row);
    const key = memberKey(output.column, output.member);
    if (slot.members === NO_MEMBERS) slot.members = new Map();
    this.#setMember(slot, output.row, key, [...(slot.members.get(key) ?? []), output]);
  }

  remove(output: RowPartOutput): void {
    if (output.kind === 'selection') return this.#selection(output, -1);
    if (output.kind === 'row') {
      const slot = this.#slot(output.id);
      slot.rows = slot.rows.filter((one) => one !== output);
      if (slot.rows.length === 0) this.#countRow(output.id, -1);
      this.#tidy(output.id, slot);
      this.dueRows.add(output.id);
      return;
    }
    const slot = this.#slot(output.row);
    const key = memberKey(output.column, output.member);
    const rest = (slot.members.get(key) ?? []).filter((one) => one !== output);
    this.#setMember(slot, output.row, key, rest);
    this.#tidy(output.row, slot);
  }

  /** Keys of the row that several rules emit, by `memberKey`, with their outputs in the order of `olderKey`. */
  *sharedKeys(id: RowId): Generator<readonly [MemberKey, readonly KeyOutput[]]> {
    const { members } = this.#rows.get(id) ?? { members: NO_MEMBERS };
    for (const key of this.#sharedKeys.get(id) ?? []) yield [key, (members.get(key) ?? []).filter(isKey)];
  }

  /** Marks one member of a row as due. */
  markMember(id: RowId, key: MemberKey): void {
    let keys = this.dueMembers.get(id);
    if (keys === undefined) this.dueMembers.set(id, (keys = new Set()));
    keys.add(key);
  }

  #setMember(slot: MutableSlot, row: RowId, key: MemberKey, outputs: readonly MemberOutput[]): void {
    const isShared = outputs.length > 1 && outputs.every(isKey);
    if (outputs.length === 0) slot.members.delete(key);
    else slot.members.set(key, isShared ? outputs.toSorted(olderKey) : outputs);
    const shared = this.#sharedKeys.get(row);
    if (isShared && shared === undefined) this.#sharedKeys.set(row, new Set([key]));
    else if (isShared) shared?.add(key);
    else if (shared?.delete(key) === true && shared.size === 0) this.#sharedKeys.delete(row);
    this.markMember(row, key);
  }

  #selection(output: SelectionOutput, by: 1 | -1): void {
    if (this.#selected === undefined) throw new Error('a selection needs a World');
    const slot = this.#slot(output.row);
    slot.selections += by;
    if (by === 1) this.#selected.add(output);
    else this.#selected.remove(output);
    this.#tidy(output.row, slot);
    this.dueSelections.add(output.row);
  }

  #countRow(id: RowId, by: 1 | -1): void {
    const table = tableOf(id);
    this.#rowCounts.set(table, (this.#rowCounts.get(table) ?? 0) + by);
  }

  #slot(id: RowId): MutableSlot {
    let slot = this.#rows.get(id);
    if (slot === undefined) this.#rows.set(id, (slot = { rows: NO_ROWS, members: NO_MEMBERS, selections: 0 }));
    return slot;
  }

  #tidy(id: RowId, slot: MutableSlot): void {
    if (slot.rows.length === 0 && slot.members.size === 0 && slot.selections === 0) this.#rows.delete(id);
  }
}

function isKey(output: MemberOutput): output is KeyOutput {
  return 'owner' in output;
}
