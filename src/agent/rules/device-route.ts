import { canonicalAddress, parseAddress } from '../../net/address.ts';
import { canonicalCidr, parseCidr } from '../../net/cidr.ts';
import type { DeviceRoute } from '../world/outputs.ts';

const ANYWHERE = { 4: '0.0.0.0/0', 6: '::/0' } as const;
const HOST = { 4: 32, 6: 128 } as const;

/** Without a destination it is the default route. Undefined: one of the two cannot be parsed, or they are of two families. */
export function routeOf(destination: string, via: string): DeviceRoute | undefined {
  const gateway = canonicalAddress(via);
  const family = parseAddress(via)?.family;
  if (gateway === undefined || family === undefined) return undefined;
  const length = destination.includes('/') || destination === '' ? '' : `/${HOST[family]}`;
  const network = destination === '' ? ANYWHERE[family] : canonicalCidr(`${destination}${length}`);
  return network === undefined || parseCidr(network)?.family !== family ? undefined : { destination: network, gateway };
}
