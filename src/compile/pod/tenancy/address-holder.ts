/** The objects that have an address of a Subnet. Rows without an object are known only to the allocation step. */
import type { Address } from '../../../net/address.ts';
import { canonicalAddress, parseAddress } from '../../../net/address.ts';
import { ADDRESS_RESOURCES } from '../../../world/address-objects.ts';
import { heldTexts } from '../../../world/claimants.ts';
import type { ForeignPortAddresses } from '../../../world/reservations.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';

export interface AddressHolder {
  /** The kind of a Vip or EIP; `pod` for an IP object. */
  readonly kind: string;
  /** For an IP object: `namespace/name` of its pod. */
  readonly name: string;
}

/** @param key Subnet and canonical address, separated by a space */
export const addressHolder: Query<readonly AddressHolder[]> = defineQuery('address-holder', (world, key) => {
  const [subnet = '', address = ''] = key.split(' ');
  const has = (text: string): boolean => text !== '' && canonicalAddress(text) === address;
  const ips = world.ips
    .select('address', address)
    .filter((ip) => ip.spec.subnet === subnet && heldTexts(ip).some(has))
    .map(({ spec }) => ({ kind: 'pod', name: `${spec.namespace ?? ''}/${spec.podName ?? ''}` }));
  const objects = ADDRESS_RESOURCES.flatMap((resource) =>
    [...world.addressObjectsIn(resource, subnet)].toSorted().flatMap((name) => {
      const object = world.addressObject(resource, name);
      return object?.held !== undefined && (has(object.held.v4) || has(object.held.v6)) ? [{ kind: object.kind, name }] : [];
    }),
  );
  return [...ips, ...objects];
});

/** Whether a foreign port in the Subnet's switch has the address, as published by the allocation step. */
export function isHeldByForeignPort(world: World, subnet: string, { family, value }: Address): boolean {
  return world.ask(foreignPortAddresses, subnet).some((foreign) => {
    if (foreign.family !== family) return false;
    return foreign.range.split(',').some((range) => {
      const [first, last = first] = range.split('-').map(parseAddress);
      return first !== undefined && last !== undefined && first.value <= value && value <= last.value;
    });
  });
}

/** A query of its own, since the counts beside it change with every pod. */
const foreignPortAddresses: Query<readonly ForeignPortAddresses[]> = defineQuery(
  'addresses-of-other-programs',
  (world, name) => world.usage.get(name)?.foreignPorts ?? [],
);
