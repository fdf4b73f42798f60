import { kilnAnnotation } from '../../api/well-known.ts';
import { routerToSwitchPort } from '../../api/names.ts';
import { all } from '../../webhook/manifests/policy-expressions.ts';
import { addressRights } from '../vip/rights/address-rights.ts';

/** It has the name and the type of the OvnEip of that Vpc's port. @param spec its spec, or the former one: what it is now may have been written just before */
function isOfPort(spec: 'object' | 'oldObject'): string {
  const [vpc, subnet] = [`object.metadata.annotations['${kilnAnnotation.portOf}']`, `${spec}.spec.?externalSubnet.orValue('')`];
  return all(
    `object.metadata.name == ${vpc} + '${routerToSwitchPort('', '')}' + ${subnet}`,
    `${vpc} != '' && ${subnet} != ''`,
    `${spec}.spec.?type.orValue('') == 'lrp'`,
  );
}

export const rights = addressRights('ovn-eips', ['externalSubnet', 'v4Ip', 'v6Ip', 'macAddress', 'type'], [], {
  mark: kilnAnnotation.portOf,
  created: all(`'${kilnAnnotation.portOf}' in object.metadata.?annotations.orValue({})`, isOfPort('object')),
  marked: isOfPort('oldObject'),
});
