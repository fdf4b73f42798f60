/** The conflict that users and rules see when the row of an object cannot be written. */
import type { Verdict } from '../diff/edits.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, tableOf } from '../nb/row-id.ts';
import type { RowConflict } from '../world/world.ts';
import { commandText, inNamespace } from '../text/command-text.ts';

/** @param owners of the outputs for the row, the winner first */
export function foundConflict(id: RowId, verdict: Verdict, [winner, ...lost]: readonly string[]): RowConflict | undefined {
  if (verdict.kind === 'conflict') return { owners: verdict.owners, message: verdict.message };
  const losers = lost.filter((owner) => owner !== winner);
  if (winner === undefined || losers.length === 0) return undefined;
  const { object, look } = shown(winner);
  return {
    owners: losers,
    message: `${rowText(id)} belongs to the older ${object}, which makes a row of the same name; create one of the two again under another name; ${look}`,
  };
}

export function rowText(id: RowId): string {
  return `${tableOf(id)} ${identityOf(id)}`;
}

/** An object by its owner text, and the command that explains it. */
export function shown(owner: string): { readonly object: string; readonly look: string } {
  const [kind = '', namespace = '', ...rest] = owner.split('/');
  const name = rest.join('/');
  const look = commandText`kiln explain ${kind} ${name} ${inNamespace(namespace)}`;
  return { object: `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`, look };
}
