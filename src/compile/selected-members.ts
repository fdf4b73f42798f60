/**
 * Members of shared columns that come from selections, without an object for each member: a row has a selector and a view, and its members
 * are computed when the diff needs them.
 *
 * Cost: a pod that is created, changed or deleted costs one step for each row whose selector selects it. A label set that a selector begins
 * or ceases to select costs one step for each pod with these labels.
 */
import type { RowId } from '../nb/row-id.ts';
import type { DerivedTable } from '../engine/derived-table.ts';
import { selection } from '../world/selections/selection.ts';
import type { View, ViewEntry, ViewMember } from '../world/selections/view.ts';
import { memberName } from '../world/selections/view.ts';
import { byContents } from '../engine/content-order.ts';
import type { LiveSet } from '../engine/sets/live-set.ts';
import type { World } from '../world/world.ts';
import type { Member, SelectionOutput } from './output.ts';

/** One output in effect. */
interface Attached {
  readonly output: SelectionOutput;
  emitters: number;
  /** Label sets that the selector selects. */
  readonly labelSets: LiveSet;
  end: () => void;
}

/** A view with the outputs that use it. */
interface UsedView {
  readonly table: DerivedTable<ViewEntry>;
  readonly byLabelSet: Map<string, Set<Attached>>;
}

/** Called for a member that may have been added or removed. */
type Changed = (row: RowId, column: string, member: ViewMember) => void;

const NONE: readonly Attached[] = [];

export class SelectedMembers {
  readonly #world: World;
  readonly #changed: Changed;
  readonly #attached = new Map<RowId, readonly Attached[]>();
  readonly #views = new Map<View, UsedView>();

  constructor(world: World, changed: Changed) {
    this.#world = world;
    this.#changed = changed;
  }

  /** Its members are not announced: all members of the row have to be compared. */
  add(output: SelectionOutput): void {
    const attached = this.#find(output);
    if (attached !== undefined) {
      attached.emitters++;
      return;
    }
    const view = this.#viewOf(output.view);
    const labelSets = this.#world.set(selection, output.selector);
    let isNew = true;
    const added: Attached = { output, emitters: 1, labelSets, end: () => undefined };
    added.end = labelSets.watch({
      enter: (labelSet) => {
        const among = view.byLabelSet.get(labelSet);
        if (among === undefined) view.byLabelSet.set(labelSet, new Set([added]));
        else among.add(added);
        if (!isNew) this.#announce(view, labelSet, output);
      },
      leave: (labelSet) => {
        detach(view, labelSet, added);
        this.#announce(view, labelSet, output);
      },
    });
    isNew = false;
    this.#attached.set(output.row, [...(this.#attached.get(output.row) ?? NONE), added]);
  }

  /** Its members are not announced, as in `add`. */
  remove(output: SelectionOutput): void {
    const attached = this.#find(output);
    if (attached === undefined || --attached.emitters > 0) return;
    const rest = (this.#attached.get(output.row) ?? NONE).filter((one) => one !== attached);
    if (rest.length === 0) this.#attached.delete(output.row);
    else this.#attached.set(output.row, rest);
    const view = this.#viewOf(output.view);
    for (const labelSet of attached.labelSets.now()) detach(view, labelSet, attached);
    attached.end();
  }

  /** Whether the row has a selection. */
  has(row: RowId): boolean {
    return this.#attached.has(row);
  }

  /** A member of the row, by its column and name. */
  find(row: RowId, column: string, name: string): Member | undefined {
    let found: ViewMember | undefined;
    for (const { output, labelSets } of this.#attached.get(row) ?? NONE) {
      if (output.column !== column) continue;
      const { table } = this.#viewOf(output.view);
      for (const pod of table.peekBucket('member', name)) {
        const entry = table.peek(pod);
        if (entry === undefined || !labelSets.hasNow(entry.labelSet)) continue;
        const member = entry.members.find((one) => memberName(one) === name);
        // Pods may give one key different values: the same one in every process.
        if (member !== undefined && (found === undefined || byContents(member, found) < 0)) found = member;
      }
    }
    return found === undefined ? undefined : { kind: 'member', row, column, member: found };
  }

  /** All members of the row; one that several pods or selections give comes several times. */
  *of(row: RowId): Generator<Member> {
    for (const { output, labelSets } of this.#attached.get(row) ?? NONE) {
      const { table } = this.#viewOf(output.view);
      for (const labelSet of labelSets.now())
        for (const pod of table.peekBucket('labelSet', labelSet))
          for (const member of table.peek(pod)?.members ?? []) yield { kind: 'member', row, column: output.column, member };
    }
  }

  #find({ row, column, selector, view }: SelectionOutput): Attached | undefined {
    return this.#attached.get(row)?.find(({ output }) => output.column === column && output.selector === selector && output.view === view);
  }

  #viewOf(view: View): UsedView {
    const used = this.#views.get(view);
    if (used !== undefined) return used;
    const made: UsedView = { table: this.#world.derived(view), byLabelSet: new Map() };
    this.#views.set(view, made);
    made.table.onChange((_, after, before) => {
      if (before !== undefined) this.#entryChanged(made, before, after);
      if (after !== undefined) this.#entryChanged(made, after, before);
    });
    return made;
  }

  /** Members of an entry that the other one does not have alike, in the rows whose selector selects the pod. */
  #entryChanged({ byLabelSet }: UsedView, entry: ViewEntry, other: ViewEntry | undefined): void {
    const rows = byLabelSet.get(entry.labelSet);
    if (rows === undefined) return;
    const same = new Set(other?.labelSet === entry.labelSet ? other.members.map(contentOf) : []);
    for (const member of entry.members) {
      if (same.has(contentOf(member))) continue;
      for (const { output } of rows) this.#changed(output.row, output.column, member);
    }
  }

  #announce({ table }: UsedView, labelSet: string, { row, column }: SelectionOutput): void {
    for (const pod of table.peekBucket('labelSet', labelSet))
      for (const member of table.peek(pod)?.members ?? []) this.#changed(row, column, member);
  }
}

function detach({ byLabelSet }: UsedView, labelSet: string, attached: Attached): void {
  const among = byLabelSet.get(labelSet);
  among?.delete(attached);
  if (among?.size === 0) byLabelSet.delete(labelSet);
}

function contentOf(member: ViewMember): string {
  return typeof member === 'object' && 'key' in member ? `${member.key}\n${member.value}` : memberName(member);
}
