/**
 * The controller's plan as text and as JSON.
 */
import type { Verdict } from '../diff/edits.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, tableOf } from '../nb/row-id.ts';
import { traitsOf } from '../world/resources.ts';

export interface PlannedChanges {
  readonly rows: readonly { readonly id: RowId; readonly verdict: Verdict }[];
  readonly objects: readonly ObjectWrite[];
}

/** Longest line; `-o json` has the rest. */
const WIDTH = 600;

/** One line for each planned write. */
export function planLines({ rows, objects }: PlannedChanges): string[] {
  return [...rows.map(rowText), ...objects.map(objectText)].map((line) => (line.length > WIDTH ? `${line.slice(0, WIDTH - 1)}…` : line));
}

export function planJson({ rows, objects }: PlannedChanges): object {
  return {
    rows: rows.map(({ id, verdict }) => ({ table: tableOf(id), name: identityOf(id), ...(JSON.parse(shown(verdict)) as object) })),
    objects: objects.map((write) => JSON.parse(shown(write)) as object),
  };
}

function rowText({ id, verdict }: PlannedChanges['rows'][number]): string {
  const row = `${tableOf(id)} ${identityOf(id)}`;
  switch (verdict.kind) {
    case 'change':
      return `${verdict.change} ${row}: ${verdict.edits.map((edit) => shown(withoutTableAndUuid(edit))).join(' ')}`;
    case 'waiting':
      return `later  ${row}: waits for ${verdict.on.join(', ')}`;
    case 'conflict':
      return `conflict ${row}: ${verdict.message}`;
    default:
      return `nothing ${row}`;
  }
}

/** The table and name are printed already. */
function withoutTableAndUuid(edit: Readonly<Record<string, unknown>> | object): object {
  return Object.fromEntries(Object.entries(edit).filter(([field]) => field !== 'table' && field !== 'uuid'));
}

function objectText(write: ObjectWrite): string {
  const named = `${write.verb} ${traitsOf(write.resource).kind} ${write.namespace === '' ? '' : `${write.namespace}/`}${write.name}`;
  if (write.verb === 'patch') return `${named}${write.subresource === undefined ? '' : ` (${write.subresource})`}: ${shown(write.patch)}`;
  return write.verb === 'create' ? `${named}: ${shown(write.object)}` : named;
}

function shown(value: unknown): string {
  const plain = (_key: string, part: unknown): unknown => {
    if (typeof part === 'bigint') return String(part);
    if (part instanceof Map) return Object.fromEntries(part);
    return part instanceof Set ? [...part] : part;
  };
  return JSON.stringify(value, plain) ?? 'null';
}
