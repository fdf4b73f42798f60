/**
 * A row, or a key of a shared map column, that an object needs and cannot have: a foreign row has its name, an older object claims it, or
 * OVSDB answered with an error.
 */
import type { Owner } from '../nb/ownership.ts';
import { ownerText } from '../nb/ownership.ts';
import { keysOf } from '../engine/domain.ts';
import type { ResourceName } from '../world/resources.ts';
import { resourceOfKind, traitsOf } from '../world/resources.ts';
import type { Query, RowConflict, World } from '../world/world.ts';
import { defineQuery } from '../world/world.ts';
import type { Rule } from './rule.ts';
import type { ReportOutput } from './output.ts';

const NO_CONFLICT: RowConflict = { owners: [], message: '' };

/** The message of the first conflict of an owner; undefined for none. */
export function rowConflictOf(world: World, owner: Owner): string | undefined {
  const [first, ...others] = world.rowConflicts.select('owner', ownerText(owner));
  if (first === undefined) return undefined;
  return others.length === 0 ? first.message : `${first.message} (and ${others.length} more ${others.length === 1 ? 'row' : 'rows'})`;
}

export const rowConflictReport: Rule = {
  name: 'row-conflict',
  over: (world) => keysOf(world.rowConflicts),
  run: (world, id) => {
    const { owners, winner, message } = world.rowConflicts.get(id) ?? NO_CONFLICT;
    return [...owners, ...(winner === undefined ? [] : [winner])].flatMap((owner): readonly ReportOutput[] => {
      const [kind = '', , ...rest] = owner.split('/');
      const key = rest.join('/');
      const resource = resourceOfKind(kind);
      // The condition of other kinds that names the row emits an Event itself.
      if (resource === undefined || traitsOf(resource).conflictEvents !== true) return [];
      const uid = world.ask(uidOf, `${resource}/${key}`);
      if (uid === '') return [];
      return [{ kind: 'report', resource, key, uid, type: 'Warning', reason: 'Conflict', message }];
    });
  },
};

/** The uid alone: a status write of the object runs no reader again. Key: `<resource>/<key>`; empty for a missing object. */
const uidOf: Query<string> = defineQuery('uid-of', (world, id) => {
  const at = id.indexOf('/');
  return world.tables[id.slice(0, at) as ResourceName]?.get(id.slice(at + 1))?.metadata.uid ?? '';
});
