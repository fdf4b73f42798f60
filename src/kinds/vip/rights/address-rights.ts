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
 * @param made annotation of the objects that Kiln creates itself, and deletes
 */
export function addressRights(
  resource: AddressResource,
  spec: readonly string[],
  status: readonly 'status'[] = [],
  made?: string,
): KindRights {
  const { kind, plural, group } = traitsOf(resource);
  return {
    verbs: made === undefined ? ['delete'] : ['create', 'delete'],
    limits: [
      {
        name: plural,
        resources: { [group]: [plural] },
        expression: byOperation({
          ...(made !== undefined && { CREATE: `'${made}' in object.metadata.?annotations.orValue({})` }),
          UPDATE: all(
            sameObject('metadata', 'spec', ...status),
            sameMetadata('annotations', 'labels', 'finalizers'),
            FINALIZERS,
            onlyAnnotations(...annotationsOn(kind)),
            onlyKeys('object.metadata.labels', "k.startsWith('ovn.kubernetes.io/')"),
            sameFields('object.spec', ...spec),
          ),
          DELETE: [kilnAnnotation.lease, ...(made === undefined ? [] : [made])]
            .map((key) => `'${key}' in oldObject.metadata.?annotations.orValue({})`)
            .join(' || '),
        }),
        message:
          made === undefined
            ? `fill in the address of a ${kind}, and delete one with annotation ${kilnAnnotation.lease}`
            : `fill in the address of a ${kind}, create one with annotation ${made}, and delete one with that or ${kilnAnnotation.lease}`,
      },
    ],
  };
}
