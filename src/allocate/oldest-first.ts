import type { AddressRequest } from '../world/reservations.ts';

/**
 * Sorts groups of requests by creation time of their object, then by claimant. Times are grouped first, since many objects are created in
 * one second; sorting texts takes half the time of sorting the groups.
 */
export function oldestFirst(groups: readonly (readonly AddressRequest[])[]): readonly (readonly AddressRequest[])[] {
  const ofTime = Map.groupBy(groups, ([first]) => first?.since ?? '');
  return [...ofTime.keys()].toSorted().flatMap((time) => {
    const byName = new Map((ofTime.get(time) ?? []).map((group) => [group[0]?.claimant ?? '', group]));
    return [...byName.keys()].toSorted().flatMap((name) => [byName.get(name) ?? []]);
  });
}
