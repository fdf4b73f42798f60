/**
 * One Northbound identity: the row that should be there against the rows that are.
 */
import type { ColumnValue, RowOutput } from '../compile/output.ts';
import { hasVendorKey, mayAdopt, OWNER_KEY, ownerText, SEAL_KEY, UID_KEY, VENDOR, VENDOR_KEY } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, incarnationOf, insertUuid, ownUuids, tableOf } from '../nb/row-id.ts';
import type { TableSpec } from '../nb/tables.ts';
import { childColumns, tableSpec } from '../nb/tables.ts';
import type { InputValue, Uuid } from '../ovsdb/index.ts';
import type { Link } from '../world/observed-rows.ts';
import { diffKeys, holds, resolveValue } from './column-diff.ts';
import type { DiffContext } from './diff-context.ts';
import type { Change, Edit, Verdict } from './edits.ts';
import { CONVERGED } from './edits.ts';
import type { Observed, Parent } from './row-contents.ts';
import {
  columnsOf,
  contentsOf,
  holdable,
  isKept,
  isSealed,
  parentOf,
  resolve,
  sealFor,
  sealIn,
  wantedRow,
  wantedSeal,
} from './row-contents.ts';
import { vendorKeysInside } from './keys-inside.ts';
import { commandText } from '../text/command-text.ts';

export function diffRow(id: RowId, context: DiffContext): Verdict {
  const slot = context.desired.row(id);
  const wanted = wantedRow(id, context);
  const observed = context.rows.rowsOf(id);
  if (wanted === undefined) return collect(id, observed, context);
  const spec = tableSpec(tableOf(id));
  const mine = context.rows.best(id) ?? marklessElsewhere(id, wanted, context);
  // Nothing is left to be kept, as the rules are about to see.
  if (mine === undefined) return isKept(wanted) ? CONVERGED : insertRow(id, wanted, spec, context, []);
  if (mine.ownership.kind === 'foreign' && !adoptable(mine, wanted, context) && !isMarklessOwn(id, wanted, mine, context)) {
    // Its parent may have lost its marks as well: whose it is can be told when that is Kiln's again.
    const parent = mine.ownership.family === 'unknown' ? wanted.parent?.id : undefined;
    if (parent !== undefined && resolve(parent, context) === undefined) return { kind: 'waiting', on: [parent] };
    const owners = (slot?.rows ?? []).map(({ owner }) => ownerText(owner));
    return { kind: 'conflict', owners, message: foreignSentence(id, mine), ...(parent !== undefined && { on: [parent] }) };
  }
  const others = observed.filter((row) => row.uuid !== mine.uuid && isDuplicate(row, spec));
  const { extra, guests } = leave(others, spec, context);
  const parent = parentOf(wanted, context);
  if (parent === 'missing') return withoutParent(wanted, slot?.rows ?? [], observed, spec, context);
  const isIn = ({ uuid, column }: Link): boolean => uuid === parent?.uuid && column === parent.column;
  const links = context.rows.parentsOf(mine.uuid);
  const away = parent !== undefined && !links.some(isIn);
  if (away && !isKept(wanted)) {
    const guest = guestIn(mine, context);
    if (guest !== undefined) return { ...guest, owners: [ownerText(wanted.owner)] };
    return insertRow(id, wanted, spec, context, [...extra, ...removal(mine, spec, context)]);
  }
  const strays = away
    ? moved(mine, parent, context)
    : links.filter((link) => !isIn(link)).flatMap((link) => takenOut(mine, link, wanted, context));
  const verdict = updateRow(id, wanted, mine, spec, context, extra, strays);
  return verdict === CONVERGED ? (guests ?? CONVERGED) : verdict;
}

/**
 * The parent of a wanted row belongs to another program or does not exist, so the row waits. If the row is still there for another object,
 * which no longer wants it, it is removed first: that object waits for it to go.
 */
function withoutParent(
  wanted: RowOutput,
  rows: readonly RowOutput[],
  observed: readonly Observed[],
  spec: TableSpec,
  context: DiffContext,
): Verdict {
  const owners = new Set(rows.map(({ owner }) => ownerText(owner)));
  const ours = observed.flatMap((row) => (row.ownership.kind === 'ours' ? [{ row, isWanted: owners.has(row.ownership.owner) }] : []));
  const left = ours.flatMap(({ row, isWanted }) => (isWanted || guestIn(row, context) !== undefined ? [] : removal(row, spec, context)));
  if (left.length > 0) return { kind: 'change', change: 'delete', edits: left, detail: '' };
  const strays = ours.flatMap(({ row, isWanted }) => (isWanted ? nowhereElse(row, wanted, context) : []));
  if (strays.length > 0) return { kind: 'change', change: 'update', edits: strays, detail: 'parent' };
  return { kind: 'waiting', on: [wanted.parent?.id ?? ''] };
}

/** What is in a parent that is another program's now stays there, as it is, and is taken out of rows that it was put into as well. */
function nowhereElse(mine: Observed, wanted: RowOutput, context: DiffContext): Edit[] {
  const links = context.rows.parentsOf(mine.uuid);
  const isIn = ({ uuid, column }: Link): boolean => column === wanted.parent?.column && context.rows.entry(uuid)?.id === wanted.parent.id;
  if (!links.some(isIn)) return [];
  const out = links.filter((link) => !isIn(link)).flatMap((link) => takenOut(mine, link, wanted, context));
  return out.length > 0 ? [...out, guard(mine)] : [];
}

/** Nothing states the contents of a kept row, so it is moved to its new parent as it is, instead of being made again there. */
function moved(mine: Observed, parent: Parent, context: DiffContext): Edit[] {
  const edits = outOfAll(mine, context);
  if (parent.row !== undefined) edits.push(guard(parent.row));
  edits.push({ kind: 'member', table: parent.table, uuid: parent.uuid, column: parent.column, add: true, value: mine.uuid });
  return edits;
}

/** Out of a row that another program put it into as well; a duplicate of its parent goes as a whole. */
function takenOut(mine: Observed, { table, uuid, column }: Link, wanted: RowOutput, { rows }: DiffContext): Edit[] {
  const other = rows.entry(uuid);
  if (wanted.parent === undefined || other === undefined) return [];
  if (other.ownership.kind === 'ours' && other.id === wanted.parent.id) return [];
  return [{ kind: 'member', table, uuid, column, add: false, value: mine.uuid }];
}

function insertRow(id: RowId, wanted: RowOutput, spec: TableSpec, context: DiffContext, before: readonly Edit[]): Verdict {
  const parent = parentOf(wanted, context);
  if (parent === 'missing') return { kind: 'waiting', on: [wanted.parent?.id ?? ''] };
  const written = contentsOf(wanted, spec, context);
  if (!written.ok) return { kind: 'waiting', on: [written.missing] };
  const { row } = written;
  if (isSealed(spec, context))
    row['external_ids'] = { ...(row['external_ids'] as Readonly<Record<string, string>>), [SEAL_KEY]: sealFor(row, spec, parent) };
  const uuid = freeUuid(id, wanted, parent, context);
  const edits: Edit[] = [...before];
  if (parent?.row !== undefined) edits.push(guard(parent.row));
  edits.push({ kind: 'insert', table: spec.table, uuid, row });
  if (parent !== undefined)
    edits.push({ kind: 'member', table: parent.table, uuid: parent.uuid, column: parent.column, add: true, value: uuid });
  const change: Change = before.length > 0 ? 'replace' : 'insert';
  return { kind: 'change', change, edits, inserts: uuid, detail: '' };
}

/** Skips a UUID that a row with another name, or in another place, has already. */
function freeUuid(id: RowId, wanted: RowOutput, parent: Parent | undefined, context: DiffContext): Uuid {
  for (let attempt = context.refusals?.(id) ?? 0; ; attempt++) {
    const uuid = insertUuid(id, incarnationOf(wanted.owner.uid, parent?.uuid, attempt));
    if (context.rows.entry(uuid) === undefined) return uuid;
  }
}

/** A row from which another program removed the marks. Its UUID shows that it is Kiln's: nobody else would have made it with that one. */
function isMarklessOwn(id: RowId, wanted: RowOutput, row: Observed, context: DiffContext): boolean {
  if (row.ownership.kind !== 'foreign' || row.ownership.family !== 'unknown') return false;
  const left = row.row['external_ids'];
  const own = columnsOf(wanted)['external_ids'] as Readonly<Record<string, string>>;
  // Who put a mark of its own there has taken the row.
  if (left instanceof Map && [...left.keys()].some((key) => key !== SEAL_KEY && !Object.hasOwn(own, String(key)))) return false;
  const parent = parentOf(wanted, context);
  return parent !== 'missing' && ownUuids(id, wanted.owner.uid, parent?.uuid).includes(row.uuid);
}

/** Without its marks, and with another name too: it is found by the UUID that it would be made with. */
function marklessElsewhere(id: RowId, wanted: RowOutput, context: DiffContext): Observed | undefined {
  const parent = parentOf(wanted, context);
  if (parent === 'missing') return undefined;
  // An insert is frequent: the likeliest alone.
  const row = context.rows.entry(insertUuid(id, incarnationOf(wanted.owner.uid, parent?.uuid, 0)));
  return row !== undefined && isMarklessOwn(id, wanted, row, context) ? row : undefined;
}

function updateRow(
  id: RowId,
  wanted: RowOutput,
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
  for (const [column, value] of [...columnsToEmpty(wanted, spec, mine), ...holdable(wanted, spec, context)]) {
    const mode = spec.columns[column];
    if (mode === undefined) throw new Error(`column ${spec.table}.${column} is not registered`);
    if (mode === 'refs') continue;
    if (mode === 'map' || Array.isArray(mode)) {
      const keys = diffKeys(mine.row[column], value as Readonly<Record<string, string>>, mode);
      if (keys === undefined) continue;
      edits.push({ kind: 'keys', table: spec.table, uuid: mine.uuid, column, ...keys });
      columns.push(column);
      continue;
    }
    const resolved = resolveValue(value, (ref) => resolve(ref, context));
    if (!resolved.ok) return { kind: 'waiting', on: [resolved.missing] };
    if (mode === 'elements') {
      // Elements that other rules contribute are added and removed one by one, with the members.
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
  const whole = edits.length === 0 && before.length === 0;
  // By its seal alone the contents of a row that nobody states are told: somebody edited that.
  const isToSay = !whole || context.desired.row(id)?.rows[0]?.sealed !== undefined;
  // A row that is kept goes on saying what was written into it when its contents were known.
  const seal = isKept(wanted) || !isToSay ? undefined : wantedSeal(wanted, spec, context);
  if (whole && (seal === undefined || seal === sealIn(mine))) return CONVERGED;
  if (seal !== undefined && seal !== sealIn(mine))
    edits.push({ kind: 'keys', table: spec.table, uuid: mine.uuid, column: 'external_ids', set: { [SEAL_KEY]: seal }, remove: [] });
  return { kind: 'change', change: 'update', edits: [...before, guard(mine), ...edits], detail: columns.join(', ') };
}

/**
 * True when the row differs from what is wanted although just that was last written into it: another program changed it, whenever that was.
 * A row that is not there, or was never sealed, proves nothing; elements and members that rules share are not under the seal.
 */
export function differsFromItsSeal(id: RowId, { edits }: Extract<Verdict, { readonly kind: 'change' }>, context: DiffContext): boolean {
  const wanted = wantedRow(id, context);
  const mine = context.rows.best(id);
  if (wanted === undefined || mine?.ownership.kind !== 'ours') return false;
  const itself = edits.some((edit) => CONTENTS.has(edit.kind) || (edit.kind === 'member' && !edit.add));
  const seal = sealIn(mine);
  return itself && seal !== undefined && seal === wantedSeal(wanted, tableSpec(tableOf(id)), context);
}

const CONTENTS: ReadonlySet<Edit['kind']> = new Set(['insert', 'update', 'keys', 'delete']);

/** Rows of this identity that are ours and that nobody wants. */
function collect(id: RowId, observed: readonly Observed[], context: DiffContext): Verdict {
  const ours = observed.filter(({ ownership }) => ownership.kind === 'ours');
  const { extra, guests } = leave(ours, tableSpec(tableOf(id)), context);
  return extra.length > 0 ? { kind: 'change', change: 'delete', edits: extra, detail: '' } : (guests ?? CONVERGED);
}

type Conflict = Extract<Verdict, { readonly kind: 'conflict' }>;

/** Rows that are not to stay: how those go that can, and why the others cannot. Of several one is told, the same by every process; when any of these changes, all are looked at again. */
function leave(
  rows: readonly Observed[],
  spec: TableSpec,
  context: DiffContext,
): { readonly extra: readonly Edit[]; readonly guests?: Conflict } {
  const extra: Edit[] = [];
  const guests: Conflict[] = [];
  for (const row of rows) {
    const guest = guestIn(row, context);
    if (guest === undefined) extra.push(...removal(row, spec, context));
    else guests.push(guest);
  }
  const [first] = guests.toSorted((a, b) => (a.message < b.message ? -1 : 1));
  return { extra, ...(first !== undefined && { guests: { ...first, on: guests.flatMap(({ on = [] }) => on) } }) };
}

/** Why a row of ours cannot go: one inside of it is not ours and would go with it. */
export function guestIn(row: Observed, context: Pick<DiffContext, 'rows'>): Conflict | undefined {
  const guest = foreignChild(row, context);
  const { id, table, uuid, ownership } = row;
  if (guest === undefined) return undefined;
  const remove = commandText`ovn-nbctl remove ${table} ${uuid} ${guest.column} ${guest.uuid}`;
  return {
    kind: 'conflict',
    owners: ownership.kind === 'ours' ? [ownership.owner] : [],
    message: `${table} ${identityOf(id)} is not wanted any more, but ${tableOf(guest.id)} ${identityOf(guest.id)} in it is not Kiln's; where nobody needs that row: ${remove}`,
    on: [guest.id],
  };
}

interface ForeignChild {
  readonly id: RowId;
  readonly uuid: Uuid;
  /** Of the row that it is in. */
  readonly column: string;
}

/** Of several the first by name, so that every process names the same. */
function foreignChild(row: Observed, context: Pick<DiffContext, 'rows'>): ForeignChild | undefined {
  let first: ForeignChild | undefined;
  for (const { column } of childColumns(row.table)) {
    const held = row.row[column];
    if (!(held instanceof Set)) continue;
    for (const uuid of held as ReadonlySet<Uuid>) {
      const entry = context.rows.entry(uuid);
      if (entry?.ownership.kind !== 'foreign') continue;
      if (first === undefined || entry.id < first.id || (entry.id === first.id && uuid < first.uuid))
        first = { id: entry.id, uuid, column };
    }
  }
  return first;
}

function removal(row: Observed, spec: TableSpec, context: DiffContext): Edit[] {
  const guards = [guard(row), ...noMoreChildren(row, context)];
  if (spec.parents.length === 0) return [...guards, { kind: 'delete', table: spec.table, uuid: row.uuid }];
  const edits = outOfAll(row, context);
  return edits.length === 0 ? [] : [...guards, ...edits];
}

/** Takes a row out of every row that refers to it: it exists, and occupies its name, as long as one of them does. */
function outOfAll({ uuid: value }: Observed, { rows }: DiffContext): Edit[] {
  return rows
    .parentsOf(value)
    .filter(({ uuid }) => rows.entry(uuid) !== undefined)
    .map(({ table, uuid, column }): Edit => ({ kind: 'member', table, uuid, column, add: false, value }));
}

/** Guards against rows that somebody puts into this one meanwhile: they would be deleted with it. */
function noMoreChildren({ table, uuid, row }: Observed, context: DiffContext): Edit[] {
  return childColumns(table)
    .filter(({ column }) => context.canHold(table, column))
    .map(({ column }) => ({ kind: 'holds', table, uuid, column, members: [...((row[column] ?? []) as Iterable<Uuid>)] }));
}

/** The ownership this plan saw: a row that changed hands meanwhile makes the transaction fail. */
export function guard(row: Observed): Edit {
  const { ownership, table, uuid } = row;
  if (ownership.kind === 'ours')
    return { kind: 'owned', table, uuid, externalIds: { [VENDOR_KEY]: VENDOR, [OWNER_KEY]: ownership.owner, [UID_KEY]: ownership.uid } };
  if (ownership.kind === 'legacy' && hasVendorKey(row.row.external_ids))
    return { kind: 'owned', table, uuid, externalIds: { [VENDOR_KEY]: VENDOR } };
  return { kind: 'exists', table, uuid };
}

/** Columns that the rules leave unsaid, and that must not stay as another program wrote them. A row that is kept as it is states none at all. */
function columnsToEmpty(wanted: RowOutput, spec: TableSpec, { row }: Observed): [string, ColumnValue][] {
  const found: [string, ColumnValue][] = [];
  if (isKept(wanted)) return found;
  for (const column of Object.keys(spec.unlessEmitted))
    if (!(column in wanted.columns) && row[column] !== undefined) found.push([column, spec.unlessEmitted[column] as ColumnValue]);
  return found;
}

/** A duplicate of ours goes, and a legacy one of what other rows contain: it would stay in force when the one that is kept goes. */
function isDuplicate({ ownership }: Observed, { parents }: TableSpec): boolean {
  return ownership.kind === 'ours' || (ownership.kind === 'legacy' && parents.length > 0);
}

function adoptable(row: Observed, wanted: RowOutput, { rows }: DiffContext): boolean {
  if (row.ownership.kind !== 'foreign' || row.ownership.family !== 'unknown') return false;
  const containers = rows.containersOf(row.uuid);
  const held = row.row['external_ids'];
  return mayAdopt(held instanceof Map ? held : undefined, { table: row.table, containers }, wanted.named === true);
}

function foreignSentence(id: RowId, row: Observed): string {
  const whose = row.ownership.kind === 'foreign' && row.ownership.family !== 'unknown' ? row.ownership.family : 'another program';
  return `${row.table} ${identityOf(id)} (row ${row.uuid}) belongs to ${whose}; rename the object or remove that row`;
}
