import type { KindWords } from '../../../explain/kind-words.ts';
import { addressReadiness } from '../../../explain/kind-words.ts';
import type { AddressResource } from '../../../world/address-objects.ts';

/** The words of Vips and EIPs. */
export function addressWords(resource: AddressResource): KindWords {
  return {
    readiness: ({ status }) => addressReadiness(status),
    addresses: (world, name) => {
      const { v4 = '', v6 = '' } = world.addressObject(resource, name)?.held ?? {};
      return [v4, v6].filter((text) => text !== '');
    },
  };
}
