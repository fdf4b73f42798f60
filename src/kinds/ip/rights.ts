import { FINALIZER } from '../../api/well-known.ts';
import type { KindRights } from '../../webhook/manifests/kind-rights.ts';
import { annotationsOn, CONDITIONS_KEPT_IN, FINALIZERS, onlyAnnotations } from '../../webhook/manifests/kind-rights.ts';
import { all, byOperation, sameMetadata, sameObject } from '../../webhook/manifests/policy-expressions.ts';

export const rights: KindRights = {
  verbs: ['create', 'delete'],
  limits: [
    {
      name: 'ips',
      resources: { 'kubeovn.io': ['ips'] },
      expression: byOperation({
        CREATE: `object.metadata.?finalizers.orValue([]).all(f, f == '${FINALIZER}')`,
        UPDATE: all(
          sameObject('metadata', 'spec'),
          sameMetadata('annotations', 'labels', 'finalizers'),
          FINALIZERS,
          onlyAnnotations(...annotationsOn('IP'), CONDITIONS_KEPT_IN),
        ),
        DELETE: 'true',
      }),
      message:
        'create, fill in and delete IP objects, and change no owner reference of them and no annotation or finalizer of another program',
    },
  ],
};
