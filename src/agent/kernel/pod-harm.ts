/** What `ip monitor` says of the network namespace of a pod: whether the pod's device lost something that it should have. Pure. */
import { canonicalAddress } from '../../net/address.ts';
import { canonicalCidr } from '../../net/cidr.ts';
import type { KernelChange } from '../listing/kernel-change.ts';
import type { DeviceOutput } from '../world/outputs.ts';

/**
 * Whether a look at the device is worth it. Lines of the agent's own writes are none, and those of what else is in the pod are few; a line that tells
 * too little counts as harm.
 */
export function isHarm({ part, text }: Pick<KernelChange, 'part' | 'text'>, output: DeviceOutput): boolean {
  switch (part) {
    case 'LINK':
      return linkHarm(text, output);
    case 'ADDR':
      return addressHarm(text, output);
    case 'ROUTE':
      return routeHarm(text, output);
    default:
      return false;
  }
}

/** `2: eth0@if5: <BROADCAST,UP,LOWER_UP> mtu 1400 … link/ether 00:00:00:00:00:01 …`. With a deleted one the node's end goes, which is seen there. */
function linkHarm(text: string, { innerName, mac, mtu }: DeviceOutput): boolean {
  const [, name, flags = '', size] = /^\d+: ([^@:\s]+)\S* <([^>]*)> mtu (\d+)/.exec(text) ?? [];
  if (name !== innerName) return false;
  const address = /link\/ether (\S+)/.exec(text)?.[1];
  return !flags.split(',').includes('UP') || Number(size) !== mtu || address !== mac;
}

/** `Deleted 2: eth0    inet 10.16.0.5/16 …` */
function addressHarm(text: string, { addresses }: DeviceOutput): boolean {
  const found = /^Deleted \d+: \S+\s+inet6? ([^/\s]+)\/(\d+)/.exec(text);
  if (found === null) return false;
  const [, address = '', length = ''] = found;
  return addresses.includes(`${canonicalAddress(address) ?? address}/${length}`);
}

/** `Deleted default via 10.16.0.1 dev eth0`, or another route to where one of the device leads. Those of other tables are the pod's own. */
function routeHarm(text: string, { routes }: DeviceOutput): boolean {
  if (/ table /.test(text)) return false;
  const [, deleted, to = ''] = /^(Deleted )?(\S+)/.exec(text) ?? [];
  const gateway = / via (\S+)/.exec(text)?.[1];
  const isV6 = gateway?.includes(':') === true || / pref /.test(text);
  const destination =
    to === 'default' ? (isV6 ? '::/0' : '0.0.0.0/0') : (canonicalCidr(to.includes('/') ? to : `${to}/${isV6 ? 128 : 32}`) ?? to);
  return routes.some((route) => route.destination === destination && (route.gateway === gateway) === (deleted !== undefined));
}
