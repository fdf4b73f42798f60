/**
 * A child row without the vendor key is legacy only by its legacy parent. So it gets that key in the transaction that adopts the parent: a
 * row that any program adds later is foreign.
 */
import { hasVendorKey, VENDOR, VENDOR_KEY } from '../nb/ownership.ts';
import { isOwnUuid } from '../nb/row-id.ts';
import { childColumns } from '../nb/tables.ts';
import type { Uuid } from '../ovsdb/index.ts';
import type { Entry } from '../world/row-identity.ts';
import type { DiffContext } from './diff-context.ts';
import type { Edit } from './edits.ts';
import type { Observed } from './row-contents.ts';

/** @param outer the adopted row */
export function vendorKeysInside(outer: Observed, context: DiffContext): Edit[] {
  if (outer.ownership.kind !== 'legacy') return [];
  const within = childColumns(outer.table).flatMap(({ column }) => entriesOf(outer.row[column], context));
  const found = [
    ...within.filter(({ ownership }) => ownership.kind === 'legacy'),
    ...(isOwnUuid(outer.uuid) ? [] : entriesOf(outer.row['load_balancer'], context).filter(hasNoKey)),
  ];
  return found.flatMap(({ table, uuid, row }): Edit[] =>
    hasVendorKey(row.external_ids) || !context.canHold(table, 'external_ids')
      ? []
      : [
          { kind: 'exists', table, uuid },
          { kind: 'keys', table, uuid, column: 'external_ids', set: { [VENDOR_KEY]: VENDOR }, remove: [] },
        ],
  );
}

function entriesOf(held: unknown, { rows }: DiffContext): readonly Entry[] {
  return held instanceof Set ? [...(held as ReadonlySet<Uuid>)].flatMap((one) => rows.entry(one) ?? []) : [];
}

/** Before 1.15 Kube-OVN writes no key into load balancers; those of other programs in its switches have some. */
export function hasNoKey({ row: { external_ids: held } }: Pick<Entry, 'row'>): boolean {
  return held instanceof Map && held.size === 0;
}
