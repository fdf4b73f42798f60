/** The rights on Vips and EIPs: Kiln allocates their addresses. */
import { kilnAnnotation } from '../../../api/well-known.ts';
import type { AddressResource } from '../../../world/address-objects.ts';
import { traitsOf } from '../../../world/resources.ts';
import type { KindRights } from '../../../webhook/manifests/kind-rights.ts';
import { annotationsOn, FINALIZERS, onlyAnnotations } from '../../../webhook/manifests/kind-rights.ts';
import { all, byOperation, onlyKeys, sameFields, sameMetadata, sameObject } from '../../../webhook/manifests/policy-expressions.ts';

/**
 * @param spec fields that Kiln fills in
 * @param status `status` for a kind without a status subresource
 */
export function addressRights(resource: AddressResource, spec: readonly string[], status: readonly 'status'[] = []): KindRights {
  const { kind, plural, group } = traitsOf(resource);
  return {
    verbs: ['delete'],
    limits: [
      {
        name: plural,
        resources: { [group]: [plural] },
        expression: byOperation({
          UPDATE: all(
            sameObject('metadata', 'spec', ...status),
            sameMetadata('annotations', 'labels', 'finalizers'),
            FINALIZERS,
            onlyAnnotations(...annotationsOn(kind)),
            onlyKeys('object.metadata.labels', "k.startsWith('ovn.kubernetes.io/')"),
            sameFields('object.spec', ...spec),
          ),
          DELETE: `'${kilnAnnotation.lease}' in oldObject.metadata.?annotations.orValue({})`,
        }),
        message: `fill in the address of a ${kind}, and delete one with annotation ${kilnAnnotation.lease}`,
      },
    ],
  };
}
