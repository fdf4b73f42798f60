import type { Finding } from './finding.ts';
import { itemsWithHostBits } from './host-bits.ts';
import type { NamedVpc } from './vpc-validation.ts';

/** Host bits in `spec.staticRoutes` of a Vpc. */
export function routeHostBits({ name, spec }: NamedVpc): readonly Finding[] {
  const items = (spec.staticRoutes ?? []).map(({ cidr = '' }, i) => [`spec.staticRoutes[${i}].cidr`, cidr] as const);
  return itemsWithHostBits({ kind: 'Vpc', name }, items);
}
