import type { Service } from '../../api/kubernetes/core.ts';
import { otherKind } from '../../api/schema/resource.ts';

export const resource = otherKind('', 'v1', 'services', 'Service', {
  shortNames: ['svc'],
  optional: true,
  expected: ['default/kubernetes'],
  unimplemented: ({ spec }) => {
    const { type, clusterIP } = (spec ?? {}) as Service['spec'];
    return type === 'ExternalName' || clusterIP === 'None' ? undefined : 'load balancing of Services in OVN';
  },
});
