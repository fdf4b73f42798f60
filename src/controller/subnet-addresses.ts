/** The addresses of every Subnet by family and state, from what the allocation step published of them. */
import { cidrSize } from '../net/cidr.ts';
import { ofFamily, parseDualCidr } from '../net/dual.ts';
import type { World } from '../world/world.ts';

export interface Ledgered {
  readonly subnet: string;
  readonly family: 'IPv4' | 'IPv6';
  readonly state: 'capacity' | 'used' | 'reserved' | 'available';
  readonly addresses: number;
}

const FAMILIES = [
  [4, 'v4', 'IPv4'],
  [6, 'v6', 'IPv6'],
] as const;

/** Reserved is what is neither used nor available: gateways, excluded ranges, network and broadcast address. */
export function* subnetAddresses(world: World): Generator<Ledgered> {
  for (const [subnet, usage] of world.usage.entries()) {
    const networks = parseDualCidr(world.subnets.peek(subnet)?.spec.cidrBlock ?? '');
    if (!networks.ok) continue;
    for (const [number, key, family] of FAMILIES) {
      const network = ofFamily(networks, number);
      if (network === undefined) continue;
      const { available, using } = usage[key];
      const capacity = cidrSize(network);
      const left = capacity - available - using;
      const entry = { subnet, family };
      yield { ...entry, state: 'capacity', addresses: Number(capacity) };
      yield { ...entry, state: 'used', addresses: Number(using) };
      yield { ...entry, state: 'reserved', addresses: Number(left > 0n ? left : 0n) };
      yield { ...entry, state: 'available', addresses: Number(available) };
    }
  }
}
