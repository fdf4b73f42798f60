/** Rows whose owner no longer exists, and which stay because they contain a foreign row. No object is left to report it. */
import { foreignChildConflict } from '../diff/row-diff.ts';
import type { RowId } from '../nb/row-id.ts';
import { tableOf } from '../nb/row-id.ts';
import { childColumns } from '../nb/tables.ts';
import type { ResourceName } from '../world/resources.ts';
import { resourceOfKind, traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';

export interface StrandedRow {
  /** The key of the former row owner. */
  readonly resource: ResourceName;
  readonly key: string;
  readonly message: string;
  /** The command that shows the foreign row. */
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
  // A row that contains other rows of Kiln stays for them: for example, pods of a Subnet that was removed by force.
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
