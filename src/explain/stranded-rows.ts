/**
 * Rows of objects that are gone, which stay only because another program has a row in them: no object is left that could say so.
 */
import { foreignChildConflict } from '../diff/row-diff.ts';
import type { RowId } from '../nb/row-id.ts';
import { tableOf } from '../nb/row-id.ts';
import { childColumns } from '../nb/tables.ts';
import type { ResourceName } from '../world/resources.ts';
import { resourceOfKind, traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';

export interface StrandedRow {
  /** Of the object that it was made for. */
  readonly resource: ResourceName;
  readonly key: string;
  readonly message: string;
  /** What takes the other program's row out of it. */
  readonly next: string;
}

const COMMAND = 'ovn-nbctl ';

export function strandedRows(world: World): readonly StrandedRow[] {
  return [...world.rows.owned].toSorted().flatMap((id) => strandedRow(world, id) ?? []);
}

function strandedRow(world: World, id: RowId): StrandedRow | undefined {
  const columns = childColumns(tableOf(id)).map(({ column }) => column);
  const row = columns.length === 0 ? undefined : world.rows.best(id);
  if (row?.ownership.kind !== 'ours') return undefined;
  const [kind = '', namespace = '', ...rest] = row.ownership.owner.split('/');
  const resource = resourceOfKind(kind);
  const key = [...(namespace === '' ? [] : [namespace]), ...rest].join('/');
  if (resource === undefined || world.tables[resource]?.peek(key) !== undefined) return undefined;
  // With something of Kiln's in it, it is kept for that: pods whose network was torn out, say.
  const children = columns.flatMap((column) => [...((row.row[column] ?? []) as Iterable<Parameters<World['rows']['entry']>[0]>)]);
  if (children.some((uuid) => world.rows.entry(uuid)?.ownership.kind === 'ours')) return undefined;
  const guest = foreignChildConflict(row, world);
  if (guest === undefined) return undefined;
  return {
    resource,
    key,
    message: `${traitsOf(resource).kind} ${key} is gone; ${guest.message}`,
    next: guest.message.slice(guest.message.lastIndexOf(COMMAND)),
  };
}
