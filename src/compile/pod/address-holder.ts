/** Which objects have an address of a Subnet. Rows without an object are the allocation step's to know. */
import type { Address } from '../../net/address.ts';
import { canonicalAddress, parseAddress } from '../../net/address.ts';
import { ADDRESS_RESOURCES } from '../../world/address-objects.ts';
import { heldTexts } from '../../world/claimants.ts';
import type { ForeignPortAddresses } from '../../world/reservations.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';

export interface AddressHolder {
  /** Of a Vip or an EIP its kind; `pod` of an IP object. */
  readonly kind: string;
  /** Of an IP object `namespace/name` of its pod. */
  readonly name: string;
}

/** @param key Subnet and address, with a space between them; the address as it is written canonically */
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

/** Whether a port of another program in the Subnet's switch has the address, as the allocation step has published it. */
export function isHeldByForeignPort(world: World, subnet: string, { family, value }: Address): boolean {
  return world.ask(foreignPortAddresses, subnet).some((kept) => {
    if (kept.family !== family) return false;
    return kept.range.split(',').some((range) => {
      const [first, last = first] = range.split('-').map(parseAddress);
      return first !== undefined && last !== undefined && first.value <= value && value <= last.value;
    });
  });
}

/** A query of its own: the counts beside them follow every pod. */
const foreignPortAddresses: Query<readonly ForeignPortAddresses[]> = defineQuery(
  'addresses-of-other-programs',
  (world, name) => world.usage.get(name)?.foreignPorts ?? [],
);
