/** The objects that have an address of a Subnet. Rows without an object are known only to the allocation step. */
import type { Address } from '../../../net/address.ts';
import { canonicalAddress, compareAddresses, parseAddress } from '../../../net/address.ts';
import { ADDRESS_RESOURCES } from '../../../world/address-objects.ts';
import { heldTexts } from '../../../world/claimants.ts';
import type { ForeignPortAddresses, SubnetUsage } from '../../../world/reservations.ts';
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

/**
 * What has an address without an object for it, as published by the allocation step: a foreign port in the Subnet's switch, or a node in its
 * physical network.
 */
export function passiveHolder(world: World, subnet: string, address: Address): string | undefined {
  const { foreignPorts = [], nodeAddresses = [] } = world.ask(addressesKeptBack, subnet);
  const node = nodeAddresses.find((one) => compareAddresses(one.address, address) === 0);
  if (node !== undefined) return node.claimants.join(' and ');
  return isWithin(foreignPorts, address) ? 'a port of another program in the switch' : undefined;
}

function isWithin(foreignPorts: readonly ForeignPortAddresses[], { family, value }: Address): boolean {
  return foreignPorts.some((foreign) => {
    if (foreign.family !== family) return false;
    return foreign.range.split(',').some((range) => {
      const [first, last = first] = range.split('-').map(parseAddress);
      return first !== undefined && last !== undefined && first.value <= value && value <= last.value;
    });
  });
}

/** A query of its own, since the counts beside it change with every pod. */
const addressesKeptBack: Query<Pick<SubnetUsage, 'foreignPorts' | 'nodeAddresses'>> = defineQuery('addresses-kept-back', (world, name) => {
  const { foreignPorts = [], nodeAddresses = [] } = world.usage.get(name) ?? {};
  return { foreignPorts, nodeAddresses };
});
