/**
 * Whether an IP object keeps its Subnet. One that was created after the deletion of the Subnet began does not: else the deletion would never
 * end while new ones are created.
 */
import { FINALIZER, labelKey } from '../../../api/well-known.ts';
import { isOfSubnet, isRequest, isReserved, onlyRequests } from '../../../world/claimants.ts';
import { subnetIntent } from '../../../world/intent.ts';
import type { Query } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { ipUser } from './ip-user.ts';

/**
 * A user's IP object does not block the deletion of a Subnet if it was created afterwards, was not completed, and has no user, even if it
 * has an address. With the label of this Subnet it is from a backup, or its finalizer was removed by hand: then it blocks. Both times are
 * the API server's, in whole seconds.
 */
export const isLateForSubnet: Query<boolean> = defineQuery('ip-late-for-subnet', (world, name) => {
  const ip = world.ips.get(name);
  if (ip === undefined || !(isReserved(ip) || isRequest(ip))) return false;
  const { labels = {}, finalizers = [], creationTimestamp } = ip.metadata;
  const { subnet = '' } = ip.spec;
  const deleted = world.ask(deletionOfSubnet, subnet);
  if (deleted === '' || creationTimestamp <= deleted || labels[labelKey.subnet] === subnet || finalizers.includes(FINALIZER)) return false;
  return world.ask(ipUser, name) === undefined;
});

const deletionOfSubnet: Query<string> = defineQuery(
  'deletion-of-subnet',
  (world, name) => world.ask(subnetIntent, name)?.metadata.deletionTimestamp ?? '',
);

/** Whether an IP object holds an address of the Subnet that it names; the Subnet need not exist. */
export const ipHoldsAddress: Query<boolean> = defineQuery('ip-holds-address', (world, name) => {
  const ip = world.ips.get(name);
  // An address for the Subnet itself (interconnection, multicast querier) is released with the Subnet.
  return ip !== undefined && !onlyRequests(ip) && !isOfSubnet(ip) && !world.ask(isLateForSubnet, name);
});

export const subnetOfIp: Query<string> = defineQuery('ip-subnet', (world, name) => world.ips.get(name)?.spec.subnet ?? '');
