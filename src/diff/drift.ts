/** Drift: another program changed a row, and the rules emit what they emitted before. What the diff found, the repair, and the message. */
import { ownerText } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, tableOf } from '../nb/row-id.ts';
import { tableSpec } from '../nb/tables.ts';
import type { InputValue, Value } from '../ovsdb/index.ts';
import { isUuid } from '../ovsdb/index.ts';
import type { ObservedRow } from '../world/observed-rows.ts';
import type { Edit, Verdict } from './edits.ts';
import type { DiffContext } from './diff-context.ts';

export const DIFFERENCES = ['missing', 'extra', 'different'] as const;
export type Difference = (typeof DIFFERENCES)[number];

/** The kind of difference of a verdict; undefined if it writes nothing. */
export function differenceOf(verdict: Verdict): Difference | undefined {
  if (verdict.kind !== 'change') return undefined;
  return verdict.change === 'insert' ? 'missing' : verdict.change === 'delete' ? 'extra' : 'different';
}

export interface Drift {
  readonly id: RowId;
  readonly difference: Difference;
  /** Row owner, `<kind>/<namespace>/<name>`, and its uid; absent for `NB_Global`, which all programs share. */
  readonly owner?: string;
  readonly uid?: string;
  /** The contents as found, by column (`column:key` in a map); only what differs. */
  readonly before: Readonly<Record<string, string>>;
  /** The contents after the repair. */
  readonly after: Readonly<Record<string, string>>;
}

/** @param verdict the diff of a row, or of its members, that another program changed */
export function describeDrift(id: RowId, verdict: Extract<Verdict, { readonly kind: 'change' }>, context: DiffContext): Drift {
  const before: Record<string, string> = {};
  const after: Record<string, string> = {};
  for (const edit of verdict.edits) describeEdit(id, edit, verdict.edits, context, before, after);
  describeParents(id, verdict, context, before, after);
  const desired = context.desired.row(id)?.rows[0]?.owner;
  const ownership = context.rows.best(id)?.ownership;
  const owner =
    desired !== undefined
      ? { owner: ownerText(desired), uid: desired.uid }
      : ownership?.kind === 'ours'
        ? { owner: ownership.owner, uid: ownership.uid }
        : {};
  // Removing a duplicate is an update of the row that stays.
  const onlyLess = Object.keys(after).length === 0 && Object.keys(before).length > 0;
  const difference = verdict.change === 'update' && onlyLess && verdict.detail === '' ? 'extra' : (differenceOf(verdict) ?? 'different');
  return { id, difference, ...owner, before, after };
}

function describeEdit(
  id: RowId,
  edit: Edit,
  all: readonly Edit[],
  context: DiffContext,
  before: Record<string, string>,
  after: Record<string, string>,
): void {
  switch (edit.kind) {
    case 'exists':
    case 'owned':
    case 'holds':
      return;
    case 'insert':
      describeColumns(id, edit.row, context, after);
      return;
    case 'update': {
      const row = context.rows.entry(edit.uuid)?.row;
      for (const [column, value] of Object.entries(edit.row)) {
        before[column] = shown(row?.[column], context);
        after[column] = shown(value, context);
      }
      return;
    }
    case 'keys': {
      const held = context.rows.entry(edit.uuid)?.row[edit.column];
      for (const key of [...Object.keys(edit.set), ...edit.remove]) {
        const was: unknown = held instanceof Map ? held.get(key) : undefined;
        if (was !== undefined) before[`${edit.column}:${key}`] = cut(String(was));
      }
      for (const [key, value] of Object.entries(edit.set)) after[`${edit.column}:${key}`] = cut(value);
      return;
    }
    case 'pairs':
      for (const [key, value] of Object.entries(edit.remove)) before[`${edit.column}:${key}`] = cut(value);
      for (const [key, value] of Object.entries(edit.set)) after[`${edit.column}:${key}`] = cut(value);
      return;
    case 'delete':
      describeColumns(id, context.rows.entry(edit.uuid)?.row ?? {}, context, before);
      return;
    case 'member': {
      const child = typeof edit.value === 'string' && isUuid(edit.value) ? context.rows.entry(edit.value) : undefined;
      // A row comes into and leaves its parent's column with the insert and as the deletion.
      if (child?.id === id && !edit.add && !stays(child, all, context)) describeColumns(id, child.row, context, before);
      if (child?.id === id || edit.table !== tableOf(id)) return;
      const name = child === undefined ? String(edit.value) : identityOf(child.id);
      (edit.add ? after : before)[edit.column] = listed((edit.add ? after : before)[edit.column], name);
    }
  }
}

/** A row that another program put or moved into another parent: adds `in`, the wrong parent and the right one. */
function describeParents(
  id: RowId,
  { change, edits }: Extract<Verdict, { readonly kind: 'change' }>,
  { rows }: DiffContext,
  before: Record<string, string>,
  after: Record<string, string>,
): void {
  if (change !== 'update' && change !== 'replace') return;
  for (const edit of edits) {
    if (edit.kind !== 'member' || edit.table === tableOf(id)) continue;
    const row = rows.best(id);
    const moved = change === 'replace' || (edit.value === row?.uuid && stays(row, edits, { rows }));
    const parent = moved ? rows.entry(edit.uuid)?.id : undefined;
    if (parent !== undefined) (edit.add ? after : before)['in'] = `${tableOf(parent)} ${identityOf(parent)}`;
  }
}

/** Whether the row has a parent after the edits. */
function stays(row: ObservedRow | undefined, edits: readonly Edit[], { rows }: Pick<DiffContext, 'rows'>): boolean {
  if (row === undefined || rows.best(row.id)?.uuid !== row.uuid) return false;
  const memberEdits = edits.flatMap((edit) => (edit.kind === 'member' && edit.value === row.uuid ? edit : []));
  return (
    memberEdits.some(({ add }) => add) ||
    rows.parentsOf(row.uuid).some((link) => !memberEdits.some(({ uuid, column }) => uuid === link.uuid && column === link.column))
  );
}

/** The columns of a row that Kiln writes, without its ownership keys and empty columns. */
function describeColumns(
  id: RowId,
  row: Readonly<Record<string, Value | InputValue | undefined>>,
  context: DiffContext,
  into: Record<string, string>,
): void {
  for (const column of Object.keys(tableSpec(tableOf(id)).columns)) {
    const text = column === 'external_ids' ? '' : shown(row[column], context);
    if (text !== '') into[column] = text;
  }
}

function shown(value: Value | InputValue | undefined, context: DiffContext): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Map) return cut([...value].map(([key, one]) => `${String(key)}=${String(one)}`).join(', '));
  if (value instanceof Set || Array.isArray(value))
    return cut([...(value as Iterable<unknown>)].map((one) => atomText(one, context)).join(', '));
  if (typeof value === 'object')
    return cut(
      Object.entries(value)
        .map(([key, one]) => `${key}=${String(one)}`)
        .join(', '),
    );
  return cut(atomText(value, context));
}

function atomText(atom: unknown, context: DiffContext): string {
  const text = String(atom);
  const row = isUuid(text) ? context.rows.entry(text) : undefined;
  return row === undefined ? text : identityOf(row.id);
}

function listed(text: string | undefined, more: string): string {
  return cut(text === undefined ? more : `${text}, ${more}`);
}

const LONGEST = 200;

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}

/** Names the row, the change, and the repair. */
export function driftSentence({ id, difference, before, after }: Drift): string {
  const row = `${tableOf(id)} ${identityOf(id)}`;
  if (difference === 'missing') return `${row} was deleted by another program; Kiln creates it again: ${columnsText(after)}`;
  if (difference === 'extra')
    return `${row} was added by another program with Kiln's ownership keys; Kiln removes it: ${columnsText(before)}`;
  // Most columns of a row that is created again in another parent are the same.
  const columns = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const differing = columns.filter((column) => before[column] !== after[column]);
  const changes = (differing.length > 0 ? differing : columns).map(
    (column) => `${column} was ${quoted(before[column])} and becomes ${quoted(after[column])}`,
  );
  return `${row} was changed by another program; Kiln repairs it: ${changes.join('; ')}`;
}

export function repairSentence({ id, difference, after }: Drift): string {
  const row = `${tableOf(id)} ${identityOf(id)}`;
  return difference === 'extra'
    ? `${row}, which another program added, is removed`
    : `${row} is repaired: ${Object.keys(after).length === 0 ? 'the addition is removed' : columnsText(after)}`;
}

function columnsText(columns: Readonly<Record<string, string>>): string {
  return Object.entries(columns)
    .map(([column, text]) => `${column} ${quoted(text)}`)
    .join(', ');
}

function quoted(text: string | undefined): string {
  return text === undefined ? 'absent' : `"${text}"`;
}
