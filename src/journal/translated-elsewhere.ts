/** Deleted NAT rows whose external address another router translates by now: both would answer for it. Pure. */
import type { RowId } from '../nb/row-id.ts';
import { identityOf } from '../nb/row-id.ts';
import type { SelectedChange } from './selection.ts';

/** @param translating the NAT rows of the present with an external address. @returns each such row, and why it cannot come back */
export function translatedElsewhere(
  restored: readonly SelectedChange[],
  translating: (address: string) => readonly RowId[],
): readonly { readonly id: RowId; readonly tx: string; readonly why: string }[] {
  return restored.flatMap(({ id, tx, table, row }) => {
    const address = row['external_ip'];
    if (table !== 'NAT' || typeof address !== 'string') return [];
    const router = routerOf(id);
    const other = translating(address)
      .map(routerOf)
      .find((one) => one !== router);
    return other === undefined ? [] : [{ id, tx, why: `its external address ${address} is translated by router ${other} by now` }];
  });
}

function routerOf(nat: RowId): string {
  return identityOf(nat).split('|', 1)[0] ?? '';
}
