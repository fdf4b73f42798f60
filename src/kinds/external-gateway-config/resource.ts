import { otherKind } from '../../api/schema/resource.ts';
import { EXTERNAL_GATEWAY_CONFIG } from '../../api/well-known.ts';

/** Of all ConfigMaps the one with the external gateway of the default Vpc. */
export const resource = otherKind('', 'v1', 'configmaps', 'ConfigMap', {
  shortNames: ['cm'],
  statusSubresource: false,
  ownsKeys: true,
  only: { name: EXTERNAL_GATEWAY_CONFIG, namespaceSetting: 'externalGatewayConfigNamespace' },
});
