/**
 * The objects that must keep their finalizers while a row is made: the row owner, and for a port the IP object of its name, which shows the
 * holder of its addresses.
 */
import type { ObjectId } from '../compile/output.ts';
import { objectId } from '../compile/output.ts';
import type { Owner } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, tableOf } from '../nb/row-id.ts';
import { resourceOfKind } from '../world/resources.ts';

/** @param owners of the row, as emitted */
export function requiredObjects(id: RowId, owners: readonly Owner[]): readonly ObjectId[] {
  const owning = owners.flatMap(({ kind, namespace, name }) => {
    const resource = resourceOfKind(kind);
    return resource === undefined ? [] : [objectId(resource, namespace === '' ? name : `${namespace}/${name}`)];
  });
  return tableOf(id) === 'Logical_Switch_Port' ? [...owning, objectId('ips', identityOf(id))] : owning;
}
