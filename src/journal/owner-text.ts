/** Owners of rows in messages. Pure. */
import type { ForeignFamily, Ownership } from '../nb/ownership.ts';

const FAMILIES: Readonly<Record<ForeignFamily, string>> = {
  neutron: 'Neutron',
  'ovn-kubernetes': 'ovn-kubernetes',
  'ovn-ic': 'ovn-ic',
  unknown: 'another program',
};

/** Whom a row of the present belongs to. */
export function holderText(ownership: Ownership): string {
  if (ownership.kind === 'ours') return objectText(ownership.owner);
  return ownership.kind === 'legacy' ? 'Kube-OVN' : FAMILIES[ownership.family];
}

/** `Vpc x` of `vpc//x`, `pod ns/x` of `pod/ns/x`. */
export function objectText(owner: string): string {
  if (owner === '') return 'Kube-OVN';
  const [kind = '', namespace = '', ...name] = owner.split('/');
  return `${kind} ${namespace === '' ? '' : `${namespace}/`}${name.join('/')}`;
}
