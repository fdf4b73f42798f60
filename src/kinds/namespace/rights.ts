import type { KindRights } from '../../webhook/manifests/kind-rights.ts';
import { annotationsOn, ofOvn, onlyAnnotations } from '../../webhook/manifests/kind-rights.ts';
import { all, byOperation, sameMetadata, sameObject } from '../../webhook/manifests/policy-expressions.ts';

export const rights: KindRights = {
  verbs: ['patch'],
  limits: [
    {
      name: 'namespaces',
      resources: { '': ['namespaces'] },
      expression: byOperation({
        UPDATE: all(
          sameObject('metadata'),
          sameMetadata('annotations'),
          onlyAnnotations(ofOvn('logical_switch'), ofOvn('cidr'), ofOvn('ip_pool'), ...annotationsOn('Namespace')),
        ),
      }),
      message: "change a Namespace's annotations about its Subnets, and nothing else of a Namespace",
    },
  ],
};
