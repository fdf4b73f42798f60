/** Rows of ours from which somebody took the marks that say whose they are, for who does not state them and yet knows what they were. */
import type { Owner } from '../nb/ownership.ts';
import { ownerText, RULE_KEY } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { ownUuids, tableOf } from '../nb/row-id.ts';
import type { ReadRows } from './observed-rows.ts';

interface Marked {
  readonly id: RowId;
  readonly owner: Owner;
  readonly externalIds?: Readonly<Record<string, string>>;
}

/** Their names name their Subnet and no other object. */
const NAMED_BY_SUBNET: ReadonlySet<string> = new Set(['Logical_Switch', 'DHCP_Options']);

/**
 * Nobody else would have made a row under the UUID that it has. One that was taken over from an older object of the name, with the UUID that it
 * had, is known where its name says enough: what is left of its marks shows that it was ours, and the owner has other rows of that network.
 */
export function hasLostMarks(rows: ReadRows, { id, owner, externalIds = {} }: Marked): boolean {
  const state = rows.state(id);
  if (state === undefined || state.ownership.kind === 'ours') return false;
  const held = rows.column(id, 'external_ids');
  const marks: ReadonlyMap<unknown, unknown> = held instanceof Map ? held : new Map();
  if (state.ownership.kind === 'foreign') {
    // Who put a mark of its own there has taken the row.
    const isTaken = [...marks.keys()].some((key) => !String(key).startsWith('kiln.io/') && !Object.hasOwn(externalIds, String(key)));
    if (state.ownership.family !== 'unmarked' || isTaken) return false;
  }
  if (ownUuids(id, owner.uid, state.parent?.uuid).includes(state.uuid)) return true;
  return NAMED_BY_SUBNET.has(tableOf(id)) && marks.has(RULE_KEY) && hasRows(rows, owner);
}

function hasRows(rows: ReadRows, owner: Owner): boolean {
  return [...rows.ownedBy(ownerText(owner))].some((id) => {
    const ownership = rows.state(id)?.ownership;
    return ownership?.kind === 'ours' && ownership.uid === owner.uid;
  });
}
