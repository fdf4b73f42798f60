/**
 * Members of shared columns, one by one (keys of NB_Global: `global-diff.ts`): it adds the members that rules emit, removes ours that no
 * rule emits any longer, and leaves all others.
 *
 * Cost: with single keys, constant time for each member, whatever the size of the column; with `all`, one pass over the column.
 */
import type { MemberKey, RowSlot } from '../compile/desired-rows.ts';
import { memberKey } from '../compile/desired-rows.ts';
import type { Member } from '../compile/output.ts';
import { GLOBAL_ROW } from '../nb/global-keys.ts';
import type { RowId } from '../nb/row-id.ts';
import { isRowRef, tableOf } from '../nb/row-id.ts';
import { childColumns, tableSpec } from '../nb/tables.ts';
import type { Row, Uuid } from '../ovsdb/index.ts';
import type { ObservedRow } from '../world/observed-rows.ts';
import type { Edit, Verdict } from './edits.ts';
import { CONVERGED } from './edits.ts';
import type { DiffContext } from './diff-context.ts';
import { isRemovable } from './column-diff.ts';
import { diffGlobal } from './global-diff.ts';
import { isRetained, resolve } from './row-contents.ts';
import { guard } from './row-diff.ts';

type Observed = ObservedRow & { readonly row: Row };

const NONE: readonly Edit[] = [];

/** @param keys the members to compare, or all of them */
export function diffMembers(id: RowId, keys: ReadonlySet<MemberKey> | 'all', context: DiffContext): Verdict {
  if (id === GLOBAL_ROW) return diffGlobal(context);
  const slot = context.desired.row(id);
  const planned = context.planned.get(id);
  const row = context.rows.best(id);
  // The collection deletes a row of ours that no rule emits, with all its members.
  if (planned === undefined && row?.ownership.kind === 'ours' && (slot === undefined || slot.rows.length === 0)) return CONVERGED;
  const uuid = planned ?? (row === undefined || row.ownership.kind === 'foreign' ? undefined : row.uuid);
  if (uuid === undefined) {
    // No rule emits the row, so its members have no effect (a pod on a node that does not exist, in the node's port group). They are
    // compared again as soon as a rule emits the row, or the row is observed.
    return slot === undefined || !context.desired.hasMembers(id) || slot.rows.length === 0 ? CONVERGED : { kind: 'waiting', on: [id] };
  }
  const held = planned === undefined ? row : undefined;
  const edits: Edit[] = [];
  const missing: string[] = [];
  // A leftover is retained with the members that Kube-OVN gave it.
  const isLeftover = slot?.rows[0]?.leftover === true;
  const look = (key: MemberKey): void => {
    const desired = context.desired.member(id, key);
    if (desired !== undefined) contribute(id, uuid, desired, held, context, missing, edits);
    else if (!isLeftover) edits.push(...removalOf(id, uuid, key, slot, held, context));
  };
  if (keys !== 'all') for (const key of keys) look(key);
  else {
    const present = new Map<string, Set<Uuid>>();
    for (const output of context.desired.members(id)) {
      const value = contribute(id, uuid, output, held, context, missing, edits);
      if (value === undefined) continue;
      const among = present.get(output.column);
      if (among === undefined) present.set(output.column, new Set([value]));
      else among.add(value);
    }
    if (!isLeftover) for (const key of otherKeys(id, slot, held, present, context)) look(key);
  }
  if (edits.length === 0) return missing.length === 0 ? CONVERGED : { kind: 'waiting', on: missing };
  if (held !== undefined) edits.unshift(guard(held));
  return { kind: 'change', change: 'update', edits, detail: 'members' };
}

/** @returns the row of the member, if the column refers to it already */
function contribute(
  id: RowId,
  uuid: Uuid,
  { column, member }: Member,
  held: Observed | undefined,
  context: DiffContext,
  missing: string[],
  edits: Edit[],
): Uuid | undefined {
  const table = tableOf(id);
  if (!context.canHold(table, column)) return undefined;
  const now = held?.row[column];
  if (typeof member === 'object' && !isRowRef(member)) {
    // A key of the row output is compared with the row.
    if (!hasOwnKey(context.desired.row(id), column, member.key) && !(now instanceof Map && now.get(member.key) === member.value))
      edits.push({ kind: 'keys', table, uuid, column, set: { [member.key]: member.value }, remove: [] });
    return undefined;
  }
  const value = isRowRef(member) ? resolve(member.ref, context) : (member as string | number);
  if (value === undefined) {
    if (isRowRef(member)) missing.push(member.ref);
    return undefined;
  }
  const isHeld = now instanceof Set && now.has(value);
  if (isRowRef(member) && now instanceof Set)
    for (const one of ownHeld(member.ref, now, context))
      if (one !== value) edits.push({ kind: 'member', table, uuid, column, add: false, value: one });
  if (!isHeld) edits.push({ kind: 'member', table, uuid, column, add: true, value });
  return isHeld && isRowRef(member) ? (value as Uuid) : undefined;
}

/**
 * Our rows of one identity that the column refers to. ovsdb-server 3.1 keeps a weak reference to a deleted row if the same transaction
 * changes the column otherwise, so each reference is removed explicitly.
 */
function ownHeld(referred: RowId, now: ReadonlySet<unknown>, context: DiffContext): readonly Uuid[] {
  return context.rows
    .rowsOf(referred)
    .filter(({ ownership, uuid }) => ownership.kind === 'ours' && now.has(uuid))
    .map(({ uuid }) => uuid);
}

function removalOf(
  id: RowId,
  uuid: Uuid,
  key: MemberKey,
  slot: RowSlot | undefined,
  held: Observed | undefined,
  context: DiffContext,
): readonly Edit[] {
  const at = key.indexOf('\n');
  const column = key.slice(0, at);
  const name = key.slice(at + 1);
  const table = tableOf(id);
  const now = held?.row[column];
  const mode = tableSpec(table).columns[column];
  if (now instanceof Map) {
    if (!now.has(name) || !isRemovable(name, mode)) return NONE;
    // A key of the row output is compared with the row.
    if (hasOwnKey(slot, column, name)) return NONE;
    if (mode === 'entries' && held?.ownership.kind === 'ours' && context.entryStays?.(held, column, name) === true) return NONE;
    return [{ kind: 'keys', table, uuid, column, set: {}, remove: [name] }];
  }
  if (!(now instanceof Set)) return NONE;
  if (mode === 'elements') {
    const desired = slot?.rows[0];
    // A retained row names no column: its elements stay as they are.
    if (desired !== undefined && isRetained(desired)) return NONE;
    const base = desired?.columns[column];
    if (!now.has(name) || (Array.isArray(base) && base.includes(name))) return NONE;
    return [{ kind: 'member', table, uuid, column, add: false, value: name }];
  }
  // Where Kube-OVN put a leftover, it stays in effect: the load balancer of an OvnDnatRule in a router.
  if (context.desired.row(name as RowId)?.rows[0]?.leftover === true) return NONE;
  const gone = isDangling(name, now, context) ? [name as Uuid] : ownHeld(name as RowId, now, context);
  // A row that an undo restored stays where it was.
  return gone.filter((value) => !isKept(value, context)).map((value) => ({ kind: 'member', table, uuid, column, add: false, value }));
}

function hasOwnKey(slot: RowSlot | undefined, column: string, key: string): boolean {
  const base = slot?.rows[0]?.columns[column];
  return typeof base === 'object' && base !== null && Object.hasOwn(base, key);
}

function isKept(uuid: Uuid, { rows, isHeld }: DiffContext): boolean {
  const entry = rows.entry(uuid);
  return entry !== undefined && isHeld?.(entry) === true;
}

/** A reference to a row that no longer exists; `ownHeld` explains how that happens. */
function isDangling(uuid: string, now: ReadonlySet<unknown>, { rows }: DiffContext): boolean {
  return now.has(uuid) && rows.entry(uuid as Uuid) === undefined;
}

/**
 * Members of the row that no rule emits, of those that Kiln may remove.
 * @param present members that are emitted and present, by column. In a long port group these are nearly all, and need no key.
 */
function otherKeys(
  id: RowId,
  slot: RowSlot | undefined,
  held: Observed | undefined,
  present: ReadonlyMap<string, ReadonlySet<Uuid>>,
  context: DiffContext,
): Set<MemberKey> {
  const keys = new Set<MemberKey>();
  if (held === undefined) return keys;
  const add = (key: MemberKey): void => {
    if (context.desired.member(id, key) === undefined) keys.add(key);
  };
  const table = tableOf(id);
  const children = new Set(childColumns(table).map((one) => one.column));
  for (const [column, mode] of Object.entries(tableSpec(table).columns)) {
    const now = held.row[column];
    if (mode === 'entries' && now instanceof Map && held.ownership.kind === 'ours' && slot?.rows[0]?.columns[column] !== undefined)
      for (const key of now.keys()) add(memberKey(column, String(key)));
    if (children.has(column) || !(now instanceof Set)) continue;
    if (mode === 'elements' && held.ownership.kind === 'ours') for (const atom of now) add(memberKey(column, String(atom)));
    if (mode !== 'refs') continue;
    const among = present.get(column);
    for (const uuid of now as ReadonlySet<Uuid>) {
      if (among?.has(uuid) === true) continue;
      const entry = context.rows.entry(uuid);
      if (entry === undefined && held.ownership.kind === 'ours') add(memberKey(column, String(uuid)));
      else if (entry?.ownership.kind === 'ours') add(memberKey(column, { ref: entry.id }));
    }
  }
  return keys;
}
