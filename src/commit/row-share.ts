/** The share that a row counts for. */
import type { DesiredRows } from '../compile/desired-rows.ts';
import { ownerText } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import type { World } from '../world/world.ts';

/** @returns the namespace of the object that the row is for, or the cluster-scoped object itself; empty for a row without an owner */
export function shareOfRow(id: RowId, desired: DesiredRows, { rows }: Pick<World, 'rows'>): string {
  const [output] = desired.row(id)?.rows ?? [];
  if (output !== undefined) return output.owner.namespace === '' ? ownerText(output.owner) : output.owner.namespace;
  const ownership = rows.best(id)?.ownership;
  if (ownership?.kind !== 'ours') return '';
  const [, namespace = ''] = ownership.owner.split('/');
  return namespace === '' ? ownership.owner : namespace;
}
