/** The rights on NAT rules, one limit for all of their kinds. */
import { GROUP } from '../../../api/schema/kind.ts';
import { NAT_RULES } from '../../../world/nat-rules.ts';
import { traitsOf } from '../../../world/resources.ts';
import type { AccountLimit, KindRights } from '../../../webhook/manifests/kind-rights.ts';
import { annotationsOn, FINALIZERS, onlyAnnotations } from '../../../webhook/manifests/kind-rights.ts';
import { all, byOperation, onlyKeys, sameMetadata, sameObject } from '../../../webhook/manifests/policy-expressions.ts';

const LIMIT: AccountLimit = {
  name: 'nat-rules',
  resources: { [GROUP]: NAT_RULES.map((resource) => traitsOf(resource).plural) },
  expression: byOperation({
    UPDATE: all(
      sameObject('metadata'),
      sameMetadata('annotations', 'labels', 'finalizers'),
      FINALIZERS,
      onlyAnnotations(...annotationsOn('NAT rules')),
      onlyKeys('object.metadata.labels', "k.startsWith('ovn.kubernetes.io/')"),
    ),
  }),
  message: 'write the EIP of a NAT rule into its labels and annotations, write its finalizer, and change nothing else of it',
};

export const natRuleRights: KindRights = { limits: [LIMIT] };
