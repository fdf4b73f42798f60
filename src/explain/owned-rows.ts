/**
 * The Northbound rows owned by an object, by their ownership keys.
 */
import type { RowId } from '../nb/row-id.ts';
import { identityOf, tableOf } from '../nb/row-id.ts';
import type { ResourceName } from '../world/resources.ts';
import { splitKey, traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';

export interface OwnedRow {
  readonly table: string;
  /** Its identity in the table, mostly its name. */
  readonly name: string;
  readonly uuid: string;
  /** The rule that emits it. */
  readonly rule: string;
  /** Its owner was an earlier object of this name. */
  readonly ofPredecessor: boolean;
}

export interface OwnedRows {
  readonly count: number;
  readonly rows: readonly OwnedRow[];
}

/** @param most limit of the rows in the result */
export function ownedRows(world: World, resource: ResourceName, key: string, uid: string, most: number): OwnedRows {
  const { namespace, name } = splitKey(key);
  const ids = [...world.rows.ownedBy(`${traitsOf(resource).kind.toLowerCase()}/${namespace}/${name}`)].toSorted();
  return { count: ids.length, rows: ids.slice(0, most).flatMap((id) => row(world, id, uid)) };
}

function row(world: World, id: RowId, uid: string): OwnedRow[] {
  const observed = world.rows.best(id);
  if (observed === undefined || observed.ownership.kind !== 'ours') return [];
  const { rule, uid: madeFor } = observed.ownership;
  return [{ table: tableOf(id), name: identityOf(id), uuid: observed.uuid, rule, ofPredecessor: madeFor !== uid }];
}
