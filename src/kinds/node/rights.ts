import type { KindRights } from '../../webhook/manifests/kind-rights.ts';
import { annotationsOn, CONDITIONS_KEPT_IN, ofOvn, onlyAnnotations } from '../../webhook/manifests/kind-rights.ts';
import { all, byOperation, sameMetadata, sameObject } from '../../webhook/manifests/policy-expressions.ts';

export const rights: KindRights = {
  limits: [
    {
      name: 'nodes',
      resources: { '': ['nodes'] },
      expression: byOperation({
        UPDATE: all(
          sameObject('metadata'),
          sameMetadata('annotations'),
          onlyAnnotations(
            ...(['allocated', 'ip_address', 'mac_address', 'cidr', 'gateway', 'logical_switch'] as const).map(ofOvn),
            ...annotationsOn('Node'),
            CONDITIONS_KEPT_IN,
          ),
        ),
      }),
      message: "change a Node's annotations about its port in the join Subnet, and nothing else of a Node",
    },
  ],
};
