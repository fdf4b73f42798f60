import type { AddressRequest } from '../world/reservations.ts';

/**
 * Requests that are answered together, by the creation of the object that requests, then by claimant. Times first and apart: of very many, many are of one
 * second. Texts are sorted in half the time of what they are in.
 */
export function oldestFirst(groups: readonly (readonly AddressRequest[])[]): readonly (readonly AddressRequest[])[] {
  const ofTime = Map.groupBy(groups, ([first]) => first?.since ?? '');
  return [...ofTime.keys()].toSorted().flatMap((time) => {
    const byName = new Map((ofTime.get(time) ?? []).map((group) => [group[0]?.claimant ?? '', group]));
    return [...byName.keys()].toSorted().flatMap((name) => [byName.get(name) ?? []]);
  });
}
