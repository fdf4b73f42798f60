/** Owners of rows in messages. Pure. */
import type { Ownership } from '../nb/ownership.ts';
import { neighbourOf } from '../nb/ownership.ts';
import type { JournaledChange } from './journal.ts';

/** The owner of a row of the present. */
export function holderText(ownership: Ownership): string {
  if (ownership.kind === 'ours') return objectText(ownership.owner);
  return ownership.kind === 'legacy' ? 'Kube-OVN' : neighbourOf(ownership);
}

/** The owner of a journaled row. */
export function changedOwnerText({ table, owner, neighbour }: Pick<JournaledChange, 'table' | 'owner' | 'neighbour'>): string {
  if (table === 'NB_Global') return 'all programs';
  return neighbour ?? objectText(owner);
}

/** `Vpc x` of `vpc//x`, `pod ns/x` of `pod/ns/x`. */
export function objectText(owner: string): string {
  if (owner === '') return 'Kube-OVN';
  const [kind = '', namespace = '', ...name] = owner.split('/');
  return `${kind} ${namespace === '' ? '' : `${namespace}/`}${name.join('/')}`;
}
