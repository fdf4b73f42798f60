import { parseAddress } from '../../net/address.ts';
import type { Address } from '../../net/address.ts';
import { parseRangeOrCidr } from '../../net/range.ts';
import type { AddressRange } from '../../net/range.ts';
import type { KindWords } from '../../explain/kind-words.ts';
import { heldTexts } from '../../world/claimants.ts';

export const words: KindWords = {
  counts: (family) => [`${family}UsingIPs`, `${family}AvailableIPs`],
  /** IP objects with an address in it. They do not block its deletion. */
  users: (world, name) => {
    const { subnet = '', ips = [] } = world.ipPools.peek(name)?.spec ?? {};
    const ranges = ips.flatMap((text) => parseRangeOrCidr(text) ?? []);
    const holds = (ip: string): boolean => {
      const object = world.ips.peek(ip);
      return object !== undefined && heldTexts(object).some((text) => isIn(ranges, parseAddress(text)));
    };
    return { resource: 'ips', keys: [...world.ips.bucket('subnet', subnet)].filter(holds).toSorted() };
  },
};

function isIn(ranges: readonly AddressRange[], address: Address | undefined): boolean {
  return (
    address !== undefined &&
    ranges.some(({ family, first, last }) => family === address.family && first <= address.value && address.value <= last)
  );
}
