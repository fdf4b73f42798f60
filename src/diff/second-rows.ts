/**
 * Second rows of an identity in tables without parents: switches, routers, load balancers and DHCP options, of which OVN permits several
 * with one name. Kiln keeps the best one (`bestOf` in `world/row-identity.ts`). Another one with ownership keys of Kiln's or Kube-OVN's is
 * deleted when nothing in it is in use. Its children that rules emit are moved into the row that is kept, each with its own comparison;
 * until then the deletion waits. One with any other child, vip or port that refers to it stays, and is reported.
 */
import type { RowId } from '../nb/row-id.ts';
import { rowId } from '../nb/row-id.ts';
import { childColumns, entryColumns, referringColumns, tableSpec } from '../nb/tables.ts';
import type { Uuid } from '../ovsdb/index.ts';
import type { Entry } from '../world/row-identity.ts';
import type { DiffContext } from './diff-context.ts';
import type { Observed } from './row-contents.ts';

export type SecondRow =
  | { readonly kind: 'unused' }
  /** The first row that is still to be moved or collected. */
  | { readonly kind: 'waiting'; readonly on: RowId }
  | { readonly kind: 'used' };

type Context = Pick<DiffContext, 'rows'> & { readonly desired: Pick<DiffContext['desired'], 'row'> };

/** Whether the table's rows have no parent, so that several of one identity may exist that no parent shows. */
export function isRoot(table: string): boolean {
  return tableSpec(table).parents.length === 0;
}

/**
 * @param row a second row of the identity
 * @param kept the one that is kept
 * Cost: the children of the row. For a load balancer also one pass over the switches and routers; for DHCP options over the ports of the
 * Subnet, and once over all ports.
 */
export function secondRow(row: Observed, kept: Observed, context: Context): SecondRow {
  const children = childrenOf(row, context);
  const moving = children.find((child) => isMoving(child, context));
  if (moving !== undefined) return { kind: 'waiting', on: moving.id };
  if (children.length > 0) return { kind: 'used' };
  if (row.table === 'Load_Balancer') return isUsedLoadBalancer(row, kept, context) ? { kind: 'used' } : { kind: 'unused' };
  return row.table === 'DHCP_Options' ? secondOptions(row, context) : { kind: 'unused' };
}

/** The rows that would be deleted with it: those in no other row. */
function childrenOf({ table, uuid, row }: Observed, { rows }: Context): readonly Entry[] {
  return childColumns(table)
    .flatMap(({ column }) => entriesOf(row[column], rows))
    .filter((child) => rows.parentsOf(child.uuid).every((link) => link.uuid === uuid || rows.entry(link.uuid) === undefined));
}

function entriesOf(held: unknown, rows: Context['rows']): readonly Entry[] {
  return held instanceof Set ? [...(held as ReadonlySet<Uuid>)].flatMap((one) => rows.entry(one) ?? []) : [];
}

/** Whether a rule emits it, into the row that is kept, or none does and it is ours, so that it is collected. */
function isMoving({ id, ownership }: Entry, { desired }: Context): boolean {
  if (ownership.kind === 'ours') return true;
  const [emitted] = desired.row(id)?.rows ?? [];
  // Of equal leftovers one is adopted, and the others stay as they are.
  return ownership.kind === 'legacy' && emitted !== undefined && emitted.leftover !== true;
}

/** Whether it has an entry that the other one has not, or another program's switch or router has it. */
function isUsedLoadBalancer({ table, uuid, row }: Observed, kept: Observed, { rows }: Context): boolean {
  for (const column of entryColumns(table)) {
    const [held, others] = [row[column], kept.row[column]];
    if (!(held instanceof Map)) continue;
    for (const [key, value] of held) if (!(others instanceof Map) || others.get(key) !== value) return true;
  }
  return referringColumns(table).some((user) =>
    rows.inTable(user.table).some(({ ownership, row: held }) => {
      const members = held[user.column];
      return ownership.kind === 'foreign' && members instanceof Set && members.has(uuid);
    }),
  );
}

/** The ports that rules emit get a reference to the options that are kept. */
function secondOptions({ uuid, row }: Observed, { rows, desired }: Context): SecondRow {
  const refers = ({ row: { dhcpv4_options: v4, dhcpv6_options: v6 } }: Entry): boolean => v4 === uuid || v6 === uuid;
  const isMovingPort = ({ id, ownership }: Entry): boolean => {
    const columns = desired.row(id)?.rows[0]?.columns ?? {};
    return ownership.kind !== 'foreign' && ('dhcpv4_options' in columns || 'dhcpv6_options' in columns);
  };
  const keys = row['external_ids'];
  const logicalSwitch = rowId('Logical_Switch', keys instanceof Map ? String(keys.get('ls') ?? '') : '');
  for (const { row: held } of rows.rowsOf(logicalSwitch)) {
    const port = entriesOf(held['ports'], rows).find((one) => refers(one) && isMovingPort(one));
    if (port !== undefined) return { kind: 'waiting', on: port.id };
  }
  const others = rows.inTable('Logical_Switch_Port').filter(refers);
  const moving = others.find(isMovingPort);
  if (moving !== undefined) return { kind: 'waiting', on: moving.id };
  return others.length > 0 ? { kind: 'used' } : { kind: 'unused' };
}
