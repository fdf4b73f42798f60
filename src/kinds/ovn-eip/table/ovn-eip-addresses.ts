import type { OvnEip } from '../../../api/kinds/ovn-eip.ts';
import type { AddressObject } from '../../../world/address-objects.ts';
import { addressObject, addressTexts, orElse } from '../../../world/address-objects.ts';
import type { Settings } from '../../../world/settings.ts';

export function ovnEipAddresses({ metadata, spec, status }: OvnEip, { externalSubnet }: Settings): AddressObject {
  const requested = addressTexts(spec.v4Ip, spec.v6Ip, spec.macAddress);
  return addressObject('ovn-eips', metadata, requested, addressTexts(status?.v4Ip, status?.v6Ip, status?.macAddress), {
    requestedSubnet: spec.externalSubnet ?? '',
    otherwise: externalSubnet,
    type: orElse(spec.type, 'nat'),
    typeInEffect: orElse(status?.type, orElse(spec.type, 'nat')),
    conditions: status?.conditions ?? [],
  });
}
