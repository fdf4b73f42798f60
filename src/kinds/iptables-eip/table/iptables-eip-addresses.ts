import type { IptablesEIP } from '../../../api/kinds/iptables-eip.ts';
import { NAT_GATEWAY_SUBNET } from '../../../api/well-known.ts';
import type { AddressObject } from '../../../world/address-objects.ts';
import { addressObject, addressTexts } from '../../../world/address-objects.ts';

/** The status has no MAC: the one in the spec is in use. */
export function iptablesEipAddresses({ metadata, spec, status }: IptablesEIP): AddressObject {
  const requested = addressTexts(spec.v4ip, spec.v6ip, spec.macAddress);
  return addressObject('iptables-eips', metadata, requested, addressTexts(status?.ip, '', spec.macAddress), {
    requestedSubnet: spec.externalSubnet ?? '',
    otherwise: NAT_GATEWAY_SUBNET,
    type: '',
    typeInEffect: '',
    conditions: status?.conditions ?? [],
  });
}
