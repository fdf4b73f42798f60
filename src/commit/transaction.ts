/**
 * Turns the edits of many rows into the operations of one transaction: guards first, each once; all members of a column in one mutation.
 */
import type { MemberKey } from '../compile/desired-rows.ts';
import type { Edit } from '../diff/edits.ts';
import type { RowId } from '../nb/row-id.ts';
import type { Mutation, Operation, Uuid } from '../ovsdb/index.ts';
import { deleteRows, includes, insert, mutate, update, waitFor, waitForRow } from '../ovsdb/index.ts';

export interface Part {
  readonly id: RowId;
  readonly edits: readonly Edit[];
  /** The members that this part changes; absent: the row itself. */
  readonly members?: ReadonlySet<MemberKey> | 'all';
  /** The row that it inserts. */
  readonly inserts?: Uuid;
  /** Another program had changed the row. */
  readonly isDrift?: boolean;
}

export interface Transaction {
  readonly operations: readonly Operation[];
  /** The identities that each operation is for. */
  readonly blame: readonly (readonly RowId[])[];
}

interface Members {
  readonly table: string;
  readonly uuid: Uuid;
  readonly column: string;
  readonly add: Set<Uuid | string | number>;
  readonly remove: Set<Uuid | string | number>;
  readonly ids: RowId[];
}

/** @param fence operations that come before all others */
export function buildTransaction(parts: readonly Part[], fence: readonly Operation[]): Transaction {
  const guards = new Map<string, { readonly operation: Operation; readonly ids: RowId[] }>();
  const changes: { readonly operation: Operation; readonly ids: readonly RowId[] }[] = [];
  const members = new Map<string, Members>();
  for (const { id, edits } of parts) {
    for (const edit of edits) {
      switch (edit.kind) {
        case 'exists':
          share(guards, `${edit.table} ${edit.uuid}`, id, () => waitForRow(edit.table, edit.uuid));
          break;
        case 'owned':
          share(guards, `${edit.table} ${edit.uuid} owned`, id, () =>
            waitForRow(edit.table, edit.uuid, [includes('external_ids', edit.externalIds)]),
          );
          break;
        case 'holds':
          share(guards, `${edit.table} ${edit.uuid} ${edit.column}`, id, () =>
            waitFor(edit.table, edit.uuid, [{ [edit.column]: edit.members }]),
          );
          break;
        case 'insert':
          changes.push({ operation: insert(edit.table, edit.row, edit.uuid), ids: [id] });
          break;
        case 'update':
          changes.push({ operation: update(edit.table, edit.uuid, edit.row), ids: [id] });
          break;
        case 'delete':
          changes.push({ operation: deleteRows(edit.table, edit.uuid), ids: [id] });
          break;
        case 'keys':
          changes.push({ operation: mutate(edit.table, edit.uuid, keyMutations(edit)), ids: [id] });
          break;
        case 'pairs':
          changes.push({ operation: mutate(edit.table, edit.uuid, pairMutations(edit)), ids: [id] });
          break;
        case 'member': {
          const key = `${edit.table} ${edit.uuid} ${edit.column}`;
          let gathered = members.get(key);
          if (gathered === undefined) {
            members.set(
              key,
              (gathered = { table: edit.table, uuid: edit.uuid, column: edit.column, add: new Set(), remove: new Set(), ids: [] }),
            );
          }
          (edit.add ? gathered.add : gathered.remove).add(edit.value);
          gathered.ids.push(id);
        }
      }
    }
  }
  for (const one of members.values()) changes.push({ operation: mutate(one.table, one.uuid, memberMutations(one)), ids: one.ids });
  const all = [...fence.map((operation) => ({ operation, ids: [] as readonly RowId[] })), ...guards.values(), ...changes];
  return { operations: all.map((one) => one.operation), blame: all.map((one) => one.ids) };
}

function share(
  guards: Map<string, { readonly operation: Operation; readonly ids: RowId[] }>,
  key: string,
  id: RowId,
  make: () => Operation,
): void {
  const present = guards.get(key);
  if (present === undefined) guards.set(key, { operation: make(), ids: [id] });
  else present.ids.push(id);
}

function keyMutations(edit: Extract<Edit, { kind: 'keys' }>): Mutation[] {
  const { column } = edit;
  // An insert into a map never overwrites a key (RFC 7047 section 5.1), so what is set is deleted first.
  const gone = [...Object.keys(edit.set), ...edit.remove];
  const mutations: Mutation[] = [];
  if (gone.length > 0) mutations.push({ column, mutator: 'delete', value: gone });
  if (Object.keys(edit.set).length > 0) mutations.push({ column, mutator: 'insert', value: edit.set });
  return mutations;
}

/** The server deletes a pair only with this value, and its insert overwrites no key: what another program wrote meanwhile stays. */
function pairMutations({ column, set, remove }: Extract<Edit, { kind: 'pairs' }>): Mutation[] {
  const mutations: Mutation[] = [];
  if (Object.keys(remove).length > 0) mutations.push({ column, mutator: 'delete', value: remove });
  if (Object.keys(set).length > 0) mutations.push({ column, mutator: 'insert', value: set });
  return mutations;
}

function memberMutations(one: Members): Mutation[] {
  const { column } = one;
  const mutations: Mutation[] = [];
  if (one.remove.size > 0) mutations.push({ column, mutator: 'delete', value: one.remove });
  if (one.add.size > 0) mutations.push({ column, mutator: 'insert', value: one.add });
  return mutations;
}

/** How many edits of each kind, for the log. */
export function countEdits(parts: readonly Part[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { edits } of parts) for (const edit of edits) counts[edit.kind] = (counts[edit.kind] ?? 0) + 1;
  return counts;
}
