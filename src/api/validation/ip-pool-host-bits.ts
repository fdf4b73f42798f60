import type { Finding } from './finding.ts';
import { itemsWithHostBits } from './host-bits.ts';
import type { NamedIPPool } from './ip-pool-validation.ts';

/** Host bits in `spec.ips` of an IPPool. */
export function poolHostBits({ name, spec }: NamedIPPool): readonly Finding[] {
  return itemsWithHostBits(
    { kind: 'IPPool', name },
    spec.ips.map((value, i) => [`spec.ips[${i}]`, value] as const),
  );
}
