/**
 * The objects that must keep their finalizers while a row is made: the row owner, and for a port the object of its name that shows the holder
 * of its addresses.
 */
import type { ObjectId } from '../compile/output.ts';
import { objectId } from '../compile/output.ts';
import type { Owner } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, tableOf } from '../nb/row-id.ts';
import { resourceOfKind, resourcesWith } from '../world/resources.ts';

const HOLDING_PORTS = resourcesWith('holdsPorts');

/** @param owners of the row, as emitted */
export function requiredObjects(id: RowId, owners: readonly Owner[]): readonly ObjectId[] {
  const owning = owners.flatMap(({ kind, namespace, name }) => {
    const resource = resourceOfKind(kind);
    return resource === undefined ? [] : [objectId(resource, namespace === '' ? name : `${namespace}/${name}`)];
  });
  if (tableOf(id) !== 'Logical_Switch_Port') return owning;
  return [...owning, ...HOLDING_PORTS.map((resource) => objectId(resource, identityOf(id)))];
}
