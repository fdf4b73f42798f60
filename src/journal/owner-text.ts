/** Owners of rows in messages. Pure. */
import type { Ownership } from '../nb/ownership.ts';
import { neighbourOf } from '../nb/ownership.ts';

/** Whom a row of the present belongs to. */
export function holderText(ownership: Ownership): string {
  if (ownership.kind === 'ours') return objectText(ownership.owner);
  return ownership.kind === 'legacy' ? 'Kube-OVN' : neighbourOf(ownership);
}

/** `Vpc x` of `vpc//x`, `pod ns/x` of `pod/ns/x`. */
export function objectText(owner: string): string {
  if (owner === '') return 'Kube-OVN';
  const [kind = '', namespace = '', ...name] = owner.split('/');
  return `${kind} ${namespace === '' ? '' : `${namespace}/`}${name.join('/')}`;
}
