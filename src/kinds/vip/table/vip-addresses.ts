import type { Vip } from '../../../api/kinds/vip.ts';
import type { AddressObject } from '../../../world/address-objects.ts';
import { addressObject, addressTexts, hasAddress, vipSharingGroup } from '../../../world/address-objects.ts';

export function vipAddresses({ metadata, spec, status }: Vip): AddressObject {
  const requested = addressTexts(spec.v4ip, spec.v6ip, spec.macAddress);
  const shown = addressTexts(status?.v4ip, status?.v6ip, status?.mac);
  return addressObject('vips', metadata, requested, shown, {
    requestedSubnet: spec.subnet ?? '',
    otherwise: '',
    type: spec.type ?? '',
    typeInEffect: hasAddress(shown) ? (status?.type ?? '') : (spec.type ?? ''),
    conditions: status?.conditions ?? [],
    sharingGroup: vipSharingGroup(metadata.name),
  });
}
