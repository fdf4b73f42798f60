import { labelKey } from '../../api/well-known.ts';
import type { KindRights } from '../../webhook/manifests/kind-rights.ts';
import { annotationsOn, CONDITIONS_KEPT_IN, ofOvn, onlyAnnotations } from '../../webhook/manifests/kind-rights.ts';
import { all, byOperation, onlyKeys, sameMetadata, sameObject } from '../../webhook/manifests/policy-expressions.ts';

export const rights: KindRights = {
  limits: [
    {
      name: 'nodes',
      resources: { '': ['nodes'] },
      expression: byOperation({
        UPDATE: all(
          sameObject('metadata'),
          sameMetadata('annotations', 'labels'),
          onlyKeys('object.metadata.labels', `k == '${labelKey.externalGateway}'`),
          onlyAnnotations(
            ...(['allocated', 'ip_address', 'mac_address', 'cidr', 'gateway', 'logical_switch'] as const).map(ofOvn),
            ...annotationsOn('Node'),
            CONDITIONS_KEPT_IN,
          ),
        ),
      }),
      message: "change a Node's annotations about its port in the join Subnet and its label of a gateway node, and nothing else of a Node",
    },
  ],
};
