import { READ_POD_ANNOTATIONS, WRITTEN_POD_ANNOTATIONS } from '../../api/annotations.ts';
import { kilnAnnotation, POD_CONDITIONS } from '../../api/well-known.ts';
import type { KindRights } from '../../webhook/manifests/kind-rights.ts';
import {
  all,
  byOperation,
  onlyConditions,
  onlyKeys,
  sameFields,
  sameMetadata,
  sameObject,
} from '../../webhook/manifests/policy-expressions.ts';

const interfaceKey = (suffixes: readonly string[]): string =>
  `k.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?[.]kubernetes[.]io/(${suffixes.join('|')})$')`;

/**
 * Annotations of an interface, recognised by their suffix. When an interface is removed, Kiln also removes what a user wrote for it. So the
 * account may remove these keys, but not set them. No `kubernetes.io` key of another program has one of these suffixes.
 */
const OF_INTERFACES =
  `${interfaceKey(WRITTEN_POD_ANNOTATIONS)} || ` +
  `(!(k in object.metadata.?annotations.orValue({})) && ${interfaceKey([...new Set([...WRITTEN_POD_ANNOTATIONS, ...READ_POD_ANNOTATIONS])])})`;

export const rights: KindRights = {
  subresources: [
    {
      subresource: 'eviction',
      verbs: ['create'],
      comment: 'With policy evict, Kiln evicts a pod that runs on another Subnet than its namespace has now.',
    },
  ],
  limits: [
    {
      name: 'pods',
      resources: { '': ['pods'] },
      expression: byOperation({
        UPDATE: all(sameObject('metadata'), sameMetadata('annotations'), onlyKeys('object.metadata.annotations', `(${OF_INTERFACES})`)),
      }),
      message: "change a pod's annotations about its network, and nothing else of a pod",
    },
    {
      name: 'pod-status',
      resources: { '': ['pods/status'] },
      expression: byOperation({
        UPDATE: all(
          sameObject('metadata', 'status'),
          sameMetadata(),
          sameFields('object.status', 'conditions'),
          onlyConditions(POD_CONDITIONS),
        ),
      }),
      message: `change a pod's conditions ${POD_CONDITIONS.join(', ')}, and nothing else of its status`,
    },
    {
      name: 'evictions',
      resources: { '': ['pods/eviction'] },
      expression: all(
        "request.operation == 'CREATE'",
        `namespaceObject.metadata.?annotations.orValue({})[?'${kilnAnnotation.misbound}'].orValue('') == 'evict'`,
      ),
      message: `evict pods of namespaces with annotation ${kilnAnnotation.misbound}=evict; where --misbound=evict is set for the cluster: kubectl delete validatingadmissionpolicybinding kiln-controller-evictions`,
    },
  ],
};
