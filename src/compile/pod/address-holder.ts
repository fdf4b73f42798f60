/** Which objects have an address of a Subnet. Ports that no object names are the allocation step's to know. */
import { canonicalAddress } from '../../net/address.ts';
import { ADDRESS_RESOURCES } from '../../world/address-objects.ts';
import { heldTexts } from '../../world/claimants.ts';
import type { Query } from '../../world/world.ts';
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
