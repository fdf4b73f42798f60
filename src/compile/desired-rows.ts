/** The desired Northbound rows, with the members of their shared columns: outputs by row identity. */
import type { RowId } from '../nb/row-id.ts';
import { tableOf } from '../nb/row-id.ts';
import type { World } from '../world/world.ts';
import type { MemberOutput, RowOutput, SelectionOutput } from './output.ts';
import type { DesiredPart } from './outputs.ts';
import { older } from './row-order.ts';
import { SelectedMembers } from './selected-members.ts';

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
    const present = slot.members.get(key);
    if (slot.members === NO_MEMBERS) slot.members = new Map();
    slot.members.set(key, { output, emitters: (present?.emitters ?? 0) + 1 });
    this.markMember(output.row, key);
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
    const present = slot.members.get(key);
    if (present !== undefined && present.emitters > 1) present.emitters--;
    else slot.members.delete(key);
    this.#tidy(output.row, slot);
    this.markMember(output.row, key);
  }

  /** Marks one member of a row as due. */
  markMember(id: RowId, key: MemberKey): void {
    let keys = this.dueMembers.get(id);
    if (keys === undefined) this.dueMembers.set(id, (keys = new Set()));
    keys.add(key);
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
