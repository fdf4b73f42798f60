/** Rows that an undo restored for objects that are not back: they are in effect, and are held. No object is left to report it. */
import { waitsForOwner } from '../nb/restored-row.ts';
import { identityOf } from '../nb/row-id.ts';
import { commandText } from '../text/command-text.ts';
import type { ResourceName } from '../world/resources.ts';
import { resourceOfKind, traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';

export interface HeldRows {
  /** The key of the object that is gone. */
  readonly resource: ResourceName;
  readonly key: string;
  readonly message: string;
  readonly next: string;
}

/** The most rows of an object that its sentence names. */
const NAMED = 4;

export function heldRows(world: World): readonly HeldRows[] {
  const rows = [...world.rows.owned].toSorted().flatMap((id) => world.rows.rowsOf(id).filter((row) => waitsForOwner(row)));
  return [...Map.groupBy(rows, ({ ownership }) => ownership.owner)].flatMap(([owner, held]): readonly HeldRows[] => {
    const [kind = '', namespace = '', ...rest] = owner.split('/');
    const resource = resourceOfKind(kind);
    const key = [...(namespace === '' ? [] : [namespace]), ...rest].join('/');
    if (resource === undefined || world.tables[resource]?.peek(key) !== undefined) return [];
    const named = held.slice(0, NAMED).map(({ id, table }) => `${table} ${identityOf(id)}`);
    const more = held.length > NAMED ? [`${held.length - NAMED} more`] : [];
    const they = held.length === 1 ? 'it is' : 'they are';
    const message = `${traitsOf(resource).kind} ${key} does not exist, and kiln undo restored ${held.length === 1 ? 'a row' : `${held.length} rows`} of it; ${they} in effect until it is back, or until a person lets go: ${[...named, ...more].join(', ')}`;
    return [{ resource, key, message, next: commandText`kiln undo --owner ${`${kind}/${key}`} --let-go` }];
  });
}
