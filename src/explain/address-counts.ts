/** How many addresses of a Subnet or an IPPool are in use and free, as in its status. */
import { countText } from '../text/count-text.ts';
import type { ResourceName } from '../world/resources.ts';
import type { AnyObservedObject } from '../world/world.ts';

const FIELDS = {
  subnets: (family: string): readonly [string, string] => [`${family}usingIPs`, `${family}availableIPs`],
  ippools: (family: string): readonly [string, string] => [`${family}UsingIPs`, `${family}AvailableIPs`],
} as const;

const FAMILIES = { v4: 'IPv4', v6: 'IPv6' } as const;

/** A text for each family that it has addresses of; none for other kinds. */
export function addressCounts(resource: ResourceName, { status }: AnyObservedObject): readonly string[] {
  if (resource !== 'subnets' && resource !== 'ippools') return [];
  const counts = (status ?? {}) as unknown as Readonly<Record<string, number | bigint | undefined>>;
  return (['v4', 'v6'] as const).flatMap((family) => {
    const [used = 0, free = 0] = FIELDS[resource](family).map((field) => counts[field] ?? 0);
    return Number(used) === 0 && Number(free) === 0 ? [] : [`${FAMILIES[family]} ${countText(used)} in use, ${countText(free)} free`];
  });
}
