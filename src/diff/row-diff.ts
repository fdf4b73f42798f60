/** One Northbound identity: the desired row against the observed rows. */
import { memberKey } from '../compile/desired-rows.ts';
import type { ColumnValue, RowOutput } from '../compile/output.ts';
import { hasVendorKey, mayAdopt, neighbourOf, OWNER_KEY, ownerText, UID_KEY, VENDOR, VENDOR_KEY } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, insertSeed, insertUuid, ownUuids, tableOf } from '../nb/row-id.ts';
import type { TableSpec } from '../nb/tables.ts';
import { tableSpec } from '../nb/tables.ts';
import type { InputValue, Uuid } from '../ovsdb/index.ts';
import type { Link } from '../world/observed-rows.ts';
import { diffKeys, holds, resolveValue } from './column-diff.ts';
import type { DiffContext } from './diff-context.ts';
import type { Change, Edit, Verdict } from './edits.ts';
import { CONVERGED } from './edits.ts';
import type { Observed, Parent } from './row-contents.ts';
import { columnsOf, contentsOf, holdable, isRetained, parentOf, resolve } from './row-contents.ts';
import { vendorKeysInside } from './keys-inside.ts';
import { firstForeignInside, noMoreInside } from './rows-inside.ts';
import { isRoot, secondRow } from './second-rows.ts';
import { commandText } from '../text/command-text.ts';

/**
 * Compares one identity, except for the members of its shared columns (`diffMembers`).
 *
 * Guarantees:
 * - It never changes a foreign row. If the desired identity is foreign, or a foreign row is inside a row to delete, the verdict is a
 *   conflict.
 * - Each edit of a row comes with a guard, so the transaction fails if the row, or what is inside it, changed in the meantime.
 * - An insert has a UUID that follows from identity, row owner and parent: a second insert of the same row fails instead of making a
 *   duplicate.
 * - Without a desired row it deletes all our rows of the identity (the collection). Duplicates go in the same way.
 *
 * It retries nothing: `waiting` and `conflict` name rows, and after a change of these the caller compares again. Cost: one pass over the
 * columns of the row, and over the children of a row to delete.
 */
export function diffRow(id: RowId, context: DiffContext): Verdict {
  const slot = context.desired.row(id);
  const desired = slot?.rows[0];
  const observed = context.rows.rowsOf(id);
  if (desired === undefined) return collect(id, observed, context);
  const spec = tableSpec(tableOf(id));
  const mine = context.rows.best(id) ?? renamedWithoutKeys(id, desired, context);
  // A frozen row that is gone: the rules have not seen that yet.
  if (mine === undefined) return isRetained(desired) ? CONVERGED : insertRow(id, desired, spec, context, []);
  if (mine.ownership.kind === 'foreign' && !adoptable(mine, desired, context) && !isOursWithoutKeys(id, desired, mine, context)) {
    // The parent may have lost its ownership keys as well: once it has them again, the UUID of this row shows its owner.
    const parent = mine.ownership.family === 'unknown' ? desired.parent?.id : undefined;
    if (parent !== undefined && parentOf(desired, context) === 'missing') return { kind: 'waiting', on: [parent] };
    const owners = (slot?.rows ?? []).map(({ owner }) => ownerText(owner));
    return { kind: 'conflict', owners, message: foreignSentence(id, mine), ...(parent !== undefined && { on: [parent] }) };
  }
  const { extra, conflict, waiting } = duplicates(mine, observed, desired, spec, context);
  const parent = parentOf(desired, context);
  if (parent === 'missing') return withoutParent(desired, slot?.rows ?? [], observed, spec, context);
  const isIn = ({ uuid, column }: Link): boolean => uuid === parent?.uuid && column === parent.column;
  const links = context.rows.parentsOf(mine.uuid);
  const away = parent !== undefined && !links.some(isIn);
  if (away && !isRetained(desired)) {
    const found = foreignChildConflict(mine, context);
    if (found !== undefined) return { ...found, owners: [ownerText(desired.owner)] };
    return insertRow(id, desired, spec, context, [...extra, ...removal(mine, spec, context)]);
  }
  const strays = away
    ? moved(mine, parent, context)
    : links.filter((link) => !isIn(link)).flatMap((link) => takenOut(mine, link, desired, context));
  const verdict = updateRow(id, desired, mine, spec, context, extra, strays);
  return verdict === CONVERGED ? (conflict ?? waiting ?? CONVERGED) : verdict;
}

/**
 * The parent of a desired row is foreign or does not exist, so the row waits. A row of the same identity that another object owned, and no
 * longer needs, is removed first: that object's deletion waits for it.
 */
function withoutParent(
  desired: RowOutput,
  rows: readonly RowOutput[],
  observed: readonly Observed[],
  spec: TableSpec,
  context: DiffContext,
): Verdict {
  const owners = new Set(rows.map(({ owner }) => ownerText(owner)));
  const ours = observed.flatMap((row) => (row.ownership.kind === 'ours' ? [{ row, isDesired: owners.has(row.ownership.owner) }] : []));
  const left = ours.flatMap(({ row, isDesired }) =>
    isDesired || foreignChildConflict(row, context) !== undefined ? [] : removal(row, spec, context),
  );
  if (left.length > 0) return { kind: 'change', change: 'delete', edits: left, detail: '' };
  const strays = ours.flatMap(({ row, isDesired }) => (isDesired ? nowhereElse(row, desired, context) : []));
  if (strays.length > 0) return { kind: 'change', change: 'update', edits: strays, detail: 'parent' };
  return { kind: 'waiting', on: [desired.parent?.id ?? ''] };
}

/** If the right parent is foreign now, the row stays in it. Edits that remove it from other parents. */
function nowhereElse(mine: Observed, desired: RowOutput, context: DiffContext): Edit[] {
  const links = context.rows.parentsOf(mine.uuid);
  const isIn = ({ uuid, column }: Link): boolean => column === desired.parent?.column && context.rows.entry(uuid)?.id === desired.parent.id;
  if (!links.some(isIn)) return [];
  const out = links.filter((link) => !isIn(link)).flatMap((link) => takenOut(mine, link, desired, context));
  return out.length > 0 ? [...out, guard(mine)] : [];
}

/** No rule emits the contents of a frozen row, so it is moved to its new parent instead of being created again there. */
function moved(mine: Observed, parent: Parent, context: DiffContext): Edit[] {
  const edits = outOfAll(mine, context);
  if (parent.row !== undefined) edits.push(guard(parent.row));
  edits.push({ kind: 'member', table: parent.table, uuid: parent.uuid, column: parent.column, add: true, value: mine.uuid });
  return edits;
}

/** Removes it from a second parent; not from a duplicate of its parent, which is deleted as a whole. */
function takenOut(mine: Observed, { table, uuid, column }: Link, desired: RowOutput, { rows }: DiffContext): Edit[] {
  const other = rows.entry(uuid);
  if (desired.parent === undefined || other === undefined) return [];
  if (other.ownership.kind === 'ours' && other.id === desired.parent.id) return [];
  return [{ kind: 'member', table, uuid, column, add: false, value: mine.uuid }];
}

function insertRow(id: RowId, desired: RowOutput, spec: TableSpec, context: DiffContext, before: readonly Edit[]): Verdict {
  const parent = parentOf(desired, context);
  if (parent === 'missing') return { kind: 'waiting', on: [desired.parent?.id ?? ''] };
  const written = contentsOf(desired, spec, context);
  if (!written.ok) return { kind: 'waiting', on: [written.missing] };
  const { row } = written;
  const uuid = freeUuid(id, desired, parent, context);
  const edits: Edit[] = [...before];
  if (parent?.row !== undefined) edits.push(guard(parent.row));
  edits.push({ kind: 'insert', table: spec.table, uuid, row });
  if (parent !== undefined)
    edits.push({ kind: 'member', table: parent.table, uuid: parent.uuid, column: parent.column, add: true, value: uuid });
  const change: Change = before.length > 0 ? 'replace' : 'insert';
  return { kind: 'change', change, edits, inserts: uuid, detail: '' };
}

/** Skips a UUID that a row of another name, or in another parent, has already. */
function freeUuid(id: RowId, desired: RowOutput, parent: Parent | undefined, context: DiffContext): Uuid {
  for (let attempt = context.collisions?.(id) ?? 0; ; attempt++) {
    const uuid = insertUuid(id, insertSeed(desired.owner.uid, parent?.uuid, attempt));
    if (context.rows.entry(uuid) === undefined) return uuid;
  }
}

/** A row of ours after another program removed its ownership keys: no other program would have inserted it with this UUID. */
function isOursWithoutKeys(id: RowId, desired: RowOutput, row: Observed, context: DiffContext): boolean {
  if (row.ownership.kind !== 'foreign' || row.ownership.family !== 'unknown') return false;
  const left = row.row['external_ids'];
  const own = columnsOf(desired)['external_ids'] as Readonly<Record<string, string>>;
  // A program that wrote a key of its own into the row has taken it.
  if (left instanceof Map && [...left.keys()].some((key) => isForeignTo(own, String(key)))) return false;
  const parent = parentOf(desired, context);
  return parent !== 'missing' && ownUuids(id, desired.owner.uid, parent?.uuid).includes(row.uuid);
}

function isForeignTo(own: Readonly<Record<string, string>>, key: string): boolean {
  return !key.startsWith('kiln.io/') && !Object.hasOwn(own, key);
}

/** A row that lost its ownership keys and its name: its UUID is the one that Kiln would insert it with. */
function renamedWithoutKeys(id: RowId, desired: RowOutput, context: DiffContext): Observed | undefined {
  const parent = parentOf(desired, context);
  if (parent === 'missing') return undefined;
  // Inserts are frequent, so only the likeliest UUID is checked.
  const row = context.rows.entry(insertUuid(id, insertSeed(desired.owner.uid, parent?.uuid, 0)));
  return row !== undefined && isOursWithoutKeys(id, desired, row, context) ? row : undefined;
}

function updateRow(
  id: RowId,
  desired: RowOutput,
  mine: Observed,
  spec: TableSpec,
  context: DiffContext,
  extra: readonly Edit[],
  strays: readonly Edit[],
): Verdict {
  const row: Record<string, InputValue> = {};
  const before = [...extra, ...strays];
  const edits: Edit[] = [];
  const columns: string[] = strays.length > 0 ? ['parent'] : [];
  for (const [column, value] of [...columnsToEmpty(desired, spec, mine), ...holdable(desired, spec, context)]) {
    const mode = spec.columns[column];
    if (mode === undefined) throw new Error(`column ${spec.table}.${column} is not registered`);
    if (mode === 'refs') continue;
    if (mode === 'map' || mode === 'entries' || Array.isArray(mode)) {
      const isMember = (key: string): boolean => context.desired.member(id, memberKey(column, key)) !== undefined;
      const keys = diffKeys(mine.row[column], value as Readonly<Record<string, string>>, mode, isMember);
      if (keys === undefined) continue;
      edits.push({ kind: 'keys', table: spec.table, uuid: mine.uuid, column, ...keys });
      columns.push(column);
      continue;
    }
    const resolved = resolveValue(value, (ref) => resolve(ref, context));
    if (!resolved.ok) return { kind: 'waiting', on: [resolved.missing] };
    if (mode === 'elements') {
      // `diffMembers` compares the elements that other rules emit.
      for (const atom of resolved.value as readonly string[]) {
        if ((mine.row[column] as ReadonlySet<unknown>).has(atom)) continue;
        edits.push({ kind: 'member', table: spec.table, uuid: mine.uuid, column, add: true, value: atom });
        columns.push(column);
      }
      continue;
    }
    if (holds(mine.row[column], resolved.value)) continue;
    row[column] = resolved.value;
    columns.push(column);
  }
  if (Object.keys(row).length > 0) edits.unshift({ kind: 'update', table: spec.table, uuid: mine.uuid, row });
  if (edits.length > 0) edits.push(...vendorKeysInside(mine, context));
  if (edits.length + before.length === 0) return CONVERGED;
  return { kind: 'change', change: 'update', edits: [...before, guard(mine), ...edits], detail: columns.join(', ') };
}

/** Deletes all our rows of an identity that no rule emits. */
function collect(id: RowId, observed: readonly Observed[], context: DiffContext): Verdict {
  const ours = observed.filter(({ ownership }) => ownership.kind === 'ours');
  const { extra, conflict } = removals(ours, tableSpec(tableOf(id)), context);
  return extra.length > 0 ? { kind: 'change', change: 'delete', edits: extra, detail: '' } : (conflict ?? CONVERGED);
}

type Conflict = Extract<Verdict, { readonly kind: 'conflict' }>;

/**
 * Rows to delete: the edits, and a conflict if some cannot be deleted. Of several conflicts it gives the first by name, the same in every
 * process; when any of the foreign rows changes, the writer compares all again.
 */
function removals(
  rows: readonly Observed[],
  spec: TableSpec,
  context: DiffContext,
): { readonly extra: readonly Edit[]; readonly conflict?: Conflict } {
  const extra: Edit[] = [];
  const conflicts: Conflict[] = [];
  for (const row of rows) {
    const found = foreignChildConflict(row, context);
    if (found === undefined) extra.push(...removal(row, spec, context));
    else conflicts.push(found);
  }
  const [first] = conflicts.toSorted((a, b) => (a.message < b.message ? -1 : 1));
  return { extra, ...(first !== undefined && { conflict: { ...first, on: conflicts.flatMap(({ on = [] }) => on) } }) };
}

/** Why a row of ours cannot be deleted: a foreign row inside it, at any depth, would be deleted with it. */
export function foreignChildConflict(row: Observed, context: Pick<DiffContext, 'rows'>): Conflict | undefined {
  const inside = firstForeignInside(row, context);
  const { id, table, ownership } = row;
  if (inside === undefined) return undefined;
  const { row: theirs, holder } = inside;
  const within = holder.uuid === row.uuid ? 'it' : `${holder.table} ${identityOf(holder.id)} of it`;
  const program = theirs.ownership.kind === 'foreign' ? neighbourOf(theirs.ownership) : 'another program';
  // Only that program, or the person who made the row, knows whether it is needed: no command that removes it.
  const next = `Kiln waits until that program removes it: ${commandText`ovn-nbctl list ${theirs.table} ${theirs.uuid}`}`;
  return {
    kind: 'conflict',
    owners: ownership.kind === 'ours' ? [ownership.owner] : [],
    message: `${table} ${identityOf(id)} is no longer needed, but ${theirs.table} ${identityOf(theirs.id)} in ${within} belongs to ${program}; ${next}`,
    on: [theirs.id],
  };
}

function removal(row: Observed, spec: TableSpec, context: DiffContext): Edit[] {
  const guards = [guard(row), ...noMoreInside(row, context)];
  if (spec.parents.length === 0) return [...guards, { kind: 'delete', table: spec.table, uuid: row.uuid }];
  const edits = outOfAll(row, context);
  return edits.length === 0 ? [] : [...guards, ...releases(row, context), ...edits];
}

/**
 * A router port lets go of its chassis group: the server counts the references of a row that nothing holds any more until the end of the
 * transaction, and would not delete the group in the same one.
 */
function releases({ table, uuid, row }: Observed, context: DiffContext): Edit[] {
  const column = 'ha_chassis_group';
  const isHeld = table === 'Logical_Router_Port' && context.canHold(table, column) && typeof row[column] === 'string';
  return isHeld ? [{ kind: 'update', table, uuid, row: { [column]: null } }] : [];
}

/** Removes a row from all its parents: it exists, and occupies its name, as long as one of them refers to it. */
function outOfAll({ uuid: value }: Observed, { rows }: DiffContext): Edit[] {
  return rows
    .parentsOf(value)
    .filter(({ uuid }) => rows.entry(uuid) !== undefined)
    .map(({ table, uuid, column }): Edit => ({ kind: 'member', table, uuid, column, add: false, value }));
}

/** The guard of a row: the transaction fails if its ownership has changed since the diff saw it. */
export function guard(row: Observed): Edit {
  const { ownership, table, uuid } = row;
  if (ownership.kind === 'ours')
    return { kind: 'owned', table, uuid, externalIds: { [VENDOR_KEY]: VENDOR, [OWNER_KEY]: ownership.owner, [UID_KEY]: ownership.uid } };
  if (ownership.kind === 'legacy' && hasVendorKey(row.row.external_ids))
    return { kind: 'owned', table, uuid, externalIds: { [VENDOR_KEY]: VENDOR } };
  return { kind: 'exists', table, uuid };
}

/** Columns that no rule emits, and that must be empty. None for a frozen row. */
function columnsToEmpty(desired: RowOutput, spec: TableSpec, { row }: Observed): [string, ColumnValue][] {
  const found: [string, ColumnValue][] = [];
  if (isRetained(desired)) return found;
  for (const column of Object.keys(spec.unlessEmitted))
    if (!(column in desired.columns) && row[column] !== undefined) found.push([column, spec.unlessEmitted[column] as ColumnValue]);
  return found;
}

interface Duplicates {
  /** Edits that delete other rows of the identity. */
  readonly extra: readonly Edit[];
  readonly conflict?: Conflict;
  readonly waiting?: Verdict;
}

/**
 * The other rows of the identity that go: ours, and legacy child rows, which would stay in effect after the first one is gone. Rows without
 * a parent (`second-rows.ts`) may have more in them, and go after the first one is adopted.
 */
function duplicates(mine: Observed, observed: readonly Observed[], desired: RowOutput, spec: TableSpec, context: DiffContext): Duplicates {
  const others = observed.filter(({ uuid, ownership }) => uuid !== mine.uuid && ownership.kind !== 'foreign');
  if (!isRoot(spec.table)) {
    // Leftovers of one identity may differ in columns that Kiln does not write: ACLs of two tiers.
    const going = others.filter(({ ownership }) => ownership.kind === 'ours' || desired.leftover !== true);
    return removals(going, spec, context);
  }
  if (mine.ownership.kind !== 'ours') return { extra: [] };
  const going: Observed[] = [];
  const on: RowId[] = [];
  for (const row of others) {
    const second = secondRow(row, mine, context);
    if (second.kind === 'waiting') on.push(second.on);
    else if (second.kind === 'unused' || (row.ownership.kind === 'ours' && foreignChildConflict(row, context) !== undefined))
      going.push(row);
  }
  return { ...removals(going, spec, context), ...(on.length > 0 && { waiting: { kind: 'waiting', on } }) };
}

function adoptable(row: Observed, desired: RowOutput, { rows }: DiffContext): boolean {
  if (row.ownership.kind !== 'foreign' || row.ownership.family !== 'unknown') return false;
  const parents = rows.parentRowsOf(row.uuid);
  const held = row.row['external_ids'];
  return mayAdopt(held instanceof Map ? held : undefined, { table: row.table, parents }, desired.named === true);
}

function foreignSentence(id: RowId, row: Observed): string {
  const program = row.ownership.kind === 'foreign' ? neighbourOf(row.ownership) : 'another program';
  // Its owner may need it: only that program, or its administrator, can give the name up.
  const look = commandText`ovn-nbctl list ${row.table} ${row.uuid}`;
  return `${row.table} ${identityOf(id)} (row ${row.uuid}) belongs to ${program}, and Kiln does not change it; create the object under another name: ${look}`;
}
