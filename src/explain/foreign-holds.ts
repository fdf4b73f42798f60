/**
 * Rows of other programs inside the rows of an object: its deletion waits for those programs, since OVSDB would delete both together. Pure.
 */
import { blockersOf } from '../blockers/blockers.ts';
import { DELETION_BLOCKED } from '../compile/deletion.ts';
import { firstForeignInside } from '../diff/rows-inside.ts';
import { neighbourOf } from '../nb/ownership.ts';
import { identityOf } from '../nb/row-id.ts';
import { commandText } from '../text/command-text.ts';
import { conditionOf } from '../world/conditions.ts';
import { keyOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import type { TreeObject } from './dependents.ts';

export interface ForeignHold {
  /** `Logical_Switch_Port vm-7 of Neutron in Logical_Switch red`. */
  readonly text: string;
  /** A command that shows it. None that removes it: only its program knows whether it is needed. */
  readonly next: string;
}

/** The first foreign row inside the rows of an object; undefined also where the database was not read. */
export function foreignHold({ rows }: World, { kind, namespace, name }: TreeObject): ForeignHold | undefined {
  for (const id of [...rows.ownedBy(`${kind.toLowerCase()}/${namespace}/${name}`)].toSorted())
    for (const outer of rows.rowsOf(id)) {
      const found = firstForeignInside(outer, { rows });
      if (found === undefined || found.row.ownership.kind !== 'foreign') continue;
      const { row, holder } = found;
      return {
        text: `${row.table} ${identityOf(row.id)} of ${neighbourOf(found.row.ownership)} in ${holder.table} ${identityOf(holder.id)}`,
        next: commandText`ovn-nbctl list ${row.table} ${row.uuid}`,
      };
    }
  return undefined;
}

/**
 * The same of an object that is being deleted, and has nothing else to wait for, as the controller reports it.
 * @param northboundRead without the rows the words of the controller's condition are all that is known
 */
export function awaitedForeign(world: World, step: TreeObject, northboundRead: boolean): ForeignHold | undefined {
  const key = keyOf({ metadata: step });
  const object = world.tables[step.resource]?.peek(key);
  if (object?.metadata.deletionTimestamp === undefined || blockersOf(world, step.resource, key).count > 0) return undefined;
  const condition = conditionOf(step.resource, object, DELETION_BLOCKED);
  if (condition?.status !== 'True') return undefined;
  if (northboundRead) return foreignHold(world, step);
  const [, outer = '', theirs = '', inner = '', program = ''] = IN_CONDITION.exec(condition.message ?? '') ?? [];
  if (program === '') return undefined;
  return { text: `${theirs} of ${program} in ${inner === 'it' ? outer : inner}`, next: 'kiln neighbours --ovn-nb tcp:HOST:6641' };
}

/** Of `foreignChildConflict`. What comes after the program is advice for a person who knows the row. */
const IN_CONDITION =
  /^\w+ \S+ cannot be deleted yet: (\w+ .+?) is no longer needed, but (\w+ .+?) in (it|\w+ .+?)(?: of it)? belongs to ([^;]+);/;
