import type { AddressWish } from '../world/reservations.ts';

/**
 * Wishes that are answered together, by the creation of who wishes, then by claimant. Times first and apart: of very many, many are of one
 * second. Texts are sorted in half the time of what they are in.
 */
export function inOrderOfAge(groups: readonly (readonly AddressWish[])[]): readonly (readonly AddressWish[])[] {
  const ofTime = Map.groupBy(groups, ([first]) => first?.since ?? '');
  return [...ofTime.keys()].toSorted().flatMap((time) => {
    const byName = new Map((ofTime.get(time) ?? []).map((group) => [group[0]?.claimant ?? '', group]));
    return [...byName.keys()].toSorted().flatMap((name) => [byName.get(name) ?? []]);
  });
}
