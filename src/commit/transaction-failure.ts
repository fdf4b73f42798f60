/** The cause of a failed transaction. Pure. */
import type { RowId } from '../nb/row-id.ts';
import type { OvsdbError } from '../ovsdb/index.ts';
import { isServerWide } from '../ovsdb/index.ts';
import type { Transaction } from './transaction.ts';

export type FailureCause =
  /** Not sent, or the outcome is unknown: no row is at fault. */
  | { readonly kind: 'silence' }
  /** A problem of the server itself. */
  | { readonly kind: 'server' }
  | { readonly kind: 'fence' }
  /** @param raced a guard failed: another program wrote first */
  | { readonly kind: 'row'; readonly id: RowId; readonly raced: boolean }
  /** One of several rows: smaller transactions find it. */
  | { readonly kind: 'unknown row' };

/**
 * @param ids of the rows in it
 * @param fenced how many operations of the fence come first
 */
export function causeOf(error: OvsdbError, ids: readonly RowId[], { operations, blame }: Transaction, fenced: number): FailureCause {
  const at = error.operation?.index;
  // A row is at fault if one of its operations cannot be encoded.
  if (error.outcome !== 'rejected' && at === undefined) return { kind: 'silence' };
  if (isServerWide(error)) return { kind: 'server' };
  if (at !== undefined && at < fenced) return { kind: 'fence' };
  const culprits = at === undefined ? [] : (blame[at] ?? []);
  const raced = at !== undefined && operations[at]?.op === 'wait';
  const [id, ...others] = culprits.length === 1 ? culprits : ids;
  return id === undefined || others.length > 0 ? { kind: 'unknown row' } : { kind: 'row', id, raced };
}
