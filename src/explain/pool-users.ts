/** The users of an IPPool: IP objects with an address in it, and their dependents. They do not block its deletion. */
import { parseAddress } from '../net/address.ts';
import type { Address } from '../net/address.ts';
import { parseRangeOrCidr } from '../net/range.ts';
import type { AddressRange } from '../net/range.ts';
import { heldTexts } from '../world/claimants.ts';
import type { World } from '../world/world.ts';
import type { Branches, TreeLimits } from './dependents.ts';
import { dependentsOf, treeObject } from './dependents.ts';

export function poolUsers(world: World, name: string, limits: TreeLimits): Branches {
  const { subnet = '', ips = [] } = world.ipPools.peek(name)?.spec ?? {};
  const ranges = ips.flatMap((text) => parseRangeOrCidr(text) ?? []);
  const holds = (ip: string): boolean => {
    const object = world.ips.peek(ip);
    return object !== undefined && heldTexts(object).some((text) => isIn(ranges, parseAddress(text)));
  };
  const users = [...world.ips.bucket('subnet', subnet)].filter(holds).toSorted();
  const objects = users.slice(0, limits.children).map((ip) => {
    const { objects: children, more } = dependentsOf(world, 'ips', ip, limits);
    return { ...treeObject(world, 'ips', ip), blocks: false, children, more };
  });
  return { objects, more: users.length - objects.length };
}

function isIn(ranges: readonly AddressRange[], address: Address | undefined): boolean {
  return (
    address !== undefined &&
    ranges.some(({ family, first, last }) => family === address.family && first <= address.value && address.value <= last)
  );
}
