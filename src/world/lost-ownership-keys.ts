/**
 * Recognises our rows after their ownership keys were removed. A rule that emits such a row restores the keys by itself; this is for code
 * that does not emit it (a frozen Subnet, the dependency graph) and knows its identity and owner.
 */
import type { Owner } from '../nb/ownership.ts';
import { ownerText, RULE_KEY } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { ownUuids, tableOf } from '../nb/row-id.ts';
import type { ReadRows } from './observed-rows.ts';

interface OwnedRow {
  readonly id: RowId;
  readonly owner: Owner;
  readonly externalIds?: Readonly<Record<string, string>>;
}

/** Tables with rows named after their Subnet. */
const NAMED_BY_SUBNET: ReadonlySet<string> = new Set(['Logical_Switch', 'DHCP_Options']);

/**
 * A row that Kiln inserted has a UUID that no other program would choose: a hash of identity, owner and parent. A row that an older object
 * of the same name left has the UUID of that time. It is recognised by its name: if it still has a key of ours, and the owner has other
 * rows.
 */
export function hasLostOwnershipKeys(rows: ReadRows, { id, owner, externalIds = {} }: OwnedRow): boolean {
  const state = rows.state(id);
  if (state === undefined || state.ownership.kind === 'ours') return false;
  const column = rows.column(id, 'external_ids');
  const keys: ReadonlyMap<unknown, unknown> = column instanceof Map ? column : new Map();
  if (state.ownership.kind === 'foreign') {
    // A program that wrote a key of its own into the row has taken it.
    const isTaken = [...keys.keys()].some((key) => !String(key).startsWith('kiln.io/') && !Object.hasOwn(externalIds, String(key)));
    if (state.ownership.family !== 'unknown' || isTaken) return false;
  }
  if (ownUuids(id, owner.uid, state.parent?.uuid).includes(state.uuid)) return true;
  return NAMED_BY_SUBNET.has(tableOf(id)) && keys.has(RULE_KEY) && hasRows(rows, owner);
}

function hasRows(rows: ReadRows, owner: Owner): boolean {
  return [...rows.ownedBy(ownerText(owner))].some((id) => {
    const ownership = rows.state(id)?.ownership;
    return ownership?.kind === 'ours' && ownership.uid === owner.uid;
  });
}
