/** The rights on Vips and EIPs: Kiln allocates their addresses. */
import { kilnAnnotation } from '../../../api/well-known.ts';
import type { AddressResource } from '../../../world/address-objects.ts';
import { traitsOf } from '../../../world/resources.ts';
import type { KindRights } from '../../../webhook/manifests/kind-rights.ts';
import { annotationsOn, FINALIZERS, onlyAnnotations } from '../../../webhook/manifests/kind-rights.ts';
import { all, byOperation, onlyKeys, sameFields, sameMetadata, sameObject } from '../../../webhook/manifests/policy-expressions.ts';

/** Objects that Kiln makes, and deletes with what it made them for. */
interface MadeObjects {
  /** Their annotation. */
  readonly mark: string;
  /** CEL: true of an object that is created with it. */
  readonly created: string;
  /** CEL: true of an object that gets it later. No object that Kiln gave an address gets it, else every one could be deleted in two writes. */
  readonly marked: string;
}

/** An annotation, before and after. */
const annotation = (root: 'object' | 'oldObject', key: string): string => `${root}.metadata.?annotations[?'${key}'].orValue('')`;

/** What says that Kiln gave it an address stays, and what says that Kiln made it is not given to another one. */
function keepsMark({ mark, marked }: MadeObjects): string {
  const { given } = kilnAnnotation;
  return all(
    `${annotation('oldObject', given)} == '' || ${annotation('object', given)} != ''`,
    `${annotation('object', mark)} == ${annotation('oldObject', mark)} || (${all(
      `${annotation('oldObject', mark)} == ''`,
      `${annotation('oldObject', given)} == ''`,
      marked,
    )})`,
  );
}

/**
 * @param spec fields that Kiln fills in
 * @param status `status` for a kind without a status subresource
 * @param made those that Kiln creates itself, and deletes
 */
export function addressRights(
  resource: AddressResource,
  spec: readonly string[],
  status: readonly 'status'[] = [],
  made?: MadeObjects,
): KindRights {
  const { kind, plural, group } = traitsOf(resource);
  return {
    verbs: made === undefined ? ['delete'] : ['create', 'delete'],
    limits: [
      {
        name: plural,
        resources: { [group]: [plural] },
        expression: byOperation({
          ...(made !== undefined && { CREATE: made.created }),
          UPDATE: all(
            sameObject('metadata', 'spec', ...status),
            sameMetadata('annotations', 'labels', 'finalizers'),
            FINALIZERS,
            onlyAnnotations(...annotationsOn(kind)),
            onlyKeys('object.metadata.labels', "k.startsWith('ovn.kubernetes.io/')"),
            sameFields('object.spec', ...spec),
            ...(made === undefined ? [] : [keepsMark(made)]),
          ),
          DELETE: [kilnAnnotation.lease, ...(made === undefined ? [] : [made.mark])]
            .map((key) => `'${key}' in oldObject.metadata.?annotations.orValue({})`)
            .join(' || '),
        }),
        message:
          made === undefined
            ? `fill in the address of a ${kind}, and delete one with annotation ${kilnAnnotation.lease}`
            : `fill in the address of a ${kind}, create one with annotation ${made.mark} for the port that its name says, and delete one with that or ${kilnAnnotation.lease}`,
      },
    ],
  };
}
