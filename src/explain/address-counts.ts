/** How many addresses of a Subnet or an IPPool are in use and free, as in its status. */
import { countText } from '../text/count-text.ts';
import type { ResourceName } from '../world/resources.ts';
import type { AnyObservedObject } from '../world/world.ts';
import { wordsOf } from './words.ts';

const FAMILIES = { v4: 'IPv4', v6: 'IPv6' } as const;

export interface AddressCount {
  readonly family: 'IPv4' | 'IPv6';
  readonly used: number | bigint;
  readonly free: number | bigint;
}

/** One for each family that it has addresses of; none for other kinds. */
export function addressesCounted(resource: ResourceName, { status }: Pick<AnyObservedObject, 'status'>): readonly AddressCount[] {
  const { counts: fields } = wordsOf(resource);
  if (fields === undefined) return [];
  const counts = (status ?? {}) as unknown as Readonly<Record<string, number | bigint | undefined>>;
  return (['v4', 'v6'] as const).flatMap((family) => {
    const [used = 0, free = 0] = fields(family).map((field) => counts[field] ?? 0);
    return Number(used) === 0 && Number(free) === 0 ? [] : [{ family: FAMILIES[family], used, free }];
  });
}

/** A text for each family. */
export function addressCounts(resource: ResourceName, object: AnyObservedObject): readonly string[] {
  return addressesCounted(resource, object).map(({ family, used, free }) => `${family} ${countText(used)} in use, ${countText(free)} free`);
}
