/**
 * What the controller's account may change of each kind: the annotations, conditions and fields that its rules write. RBAC grants `patch`
 * on the whole object: without these policies a stolen token could, for example, change the image of every pod.
 */
import { CONTROLLER_LEASE } from '../../api/well-known.ts';
import { GROUP } from '../../api/schema/kind.ts';
import { RIGHTS_OF_KINDS } from '../../kinds/generated/rights.ts';
import type { ResourceName } from '../../world/resources.ts';
import { RESOURCE_NAMES, traitsOf } from '../../world/resources.ts';
import type { AccountLimit, KindRights } from './kind-rights.ts';
import { annotationsOn, CONDITIONS_KEPT_IN, FINALIZERS, onlyAnnotations } from './kind-rights.ts';
import { all, byOperation, isOwnEvent, onlyKeys, sameFields, sameMap, sameMetadata, sameObject, texts } from './policy-expressions.ts';
import { CONFIGURATION_NAME, CONTROLLER_NAMESPACE, SECRET_NAME, WEBHOOK_CONFIGURATIONS } from './webhook-configuration.ts';

const RIGHTS: Readonly<Partial<Record<ResourceName, KindRights>>> = RIGHTS_OF_KINDS;

const isOurs = (resource: ResourceName): boolean => traitsOf(resource).group === GROUP;
const isImplemented = (resource: ResourceName): boolean => traitsOf(resource).unimplemented === undefined;
const hasRights = (resource: ResourceName): boolean => RIGHTS[resource] !== undefined;

/** Kinds with policies of their own: those of other groups, then those of `kubeovn.io`, then those that are not implemented. */
const APART: readonly ResourceName[] = [
  ...RESOURCE_NAMES.filter((resource) => hasRights(resource) && !isOurs(resource)),
  ...RESOURCE_NAMES.filter((resource) => hasRights(resource) && isOurs(resource) && isImplemented(resource)),
  ...RESOURCE_NAMES.filter((resource) => hasRights(resource) && isOurs(resource) && !isImplemented(resource)),
];
const KINDS_APART: readonly AccountLimit[] = [...new Set(APART.flatMap((resource) => RIGHTS[resource]?.limits ?? []))];

/** Kinds on which Kiln writes only conditions and its finalizer. */
const MARKED = RESOURCE_NAMES.filter((resource) => !APART.includes(resource) && traitsOf(resource).conditions !== 'none');
/** Kinds whose whole status belongs to Kiln. In all other kinds another controller owns the status, and Kiln writes conditions only. */
const OWN_STATUS = RESOURCE_NAMES.filter((resource) => isOurs(resource) && isImplemented(resource) && traitsOf(resource).statusSubresource);
const WITH_CONDITIONS = [...APART.filter((resource) => !isImplemented(resource)), ...MARKED].filter(
  (resource) => traitsOf(resource).conditions === 'status' && traitsOf(resource).statusSubresource && !OWN_STATUS.includes(resource),
);

function byGroup(resources: readonly ResourceName[], subresource = ''): AccountLimit['resources'] {
  const groups: Record<string, string[]> = {};
  for (const { group, plural } of resources.map(traitsOf)) (groups[group] ??= []).push(`${plural}${subresource}`);
  return groups;
}

const OTHER_KINDS: readonly AccountLimit[] = [
  {
    name: 'marks',
    resources: byGroup(MARKED),
    expression: byOperation({
      UPDATE: all(sameObject('metadata'), sameMetadata('annotations', 'finalizers'), FINALIZERS, onlyAnnotations(CONDITIONS_KEPT_IN)),
    }),
    message: `change annotation ${CONDITIONS_KEPT_IN} and the finalizer of what it only observes, and nothing else of it`,
  },
  {
    name: 'own-status',
    resources: byGroup(OWN_STATUS, '/status'),
    expression: byOperation({ UPDATE: 'true' }),
    message: 'change the status of its own kinds',
  },
  {
    name: 'conditions',
    resources: byGroup(WITH_CONDITIONS, '/status'),
    // A first status has conditions, and the defaults of the CRD's schema.
    expression: byOperation({ UPDATE: `!has(oldObject.status) || (${sameFields('object.status', 'conditions')})` }),
    message: 'change the conditions of what it only observes, and nothing else of its status',
  },
  {
    name: 'events',
    resources: { '': ['events'] },
    expression: byOperation({
      CREATE: isOwnEvent('object'),
      UPDATE: all(isOwnEvent('oldObject'), sameObject('metadata', 'count', 'lastTimestamp'), sameMetadata()),
    }),
    message: "create Events in its own name, or with Kube-OVN's name and reasons, and increase their count",
  },
];

const OWN_OBJECTS: readonly AccountLimit[] = [
  {
    name: 'lease',
    resources: { 'coordination.k8s.io': ['leases'] },
    expression: all(
      `request.namespace == '${CONTROLLER_NAMESPACE}' && object.metadata.name == '${CONTROLLER_LEASE}'`,
      byOperation({
        CREATE: 'true',
        UPDATE: all(
          sameObject('metadata', 'spec'),
          sameMetadata('annotations'),
          onlyAnnotations(...annotationsOn('Lease of the controller')),
        ),
      }),
    ),
    message: `hold the Lease ${CONTROLLER_NAMESPACE}/${CONTROLLER_LEASE}, and no other`,
  },
  {
    name: 'secret',
    resources: { '': ['secrets'] },
    expression: all(
      `request.namespace == '${CONTROLLER_NAMESPACE}' && request.name == '${SECRET_NAME}'`,
      byOperation({
        UPDATE: all(
          sameObject('metadata', 'data'),
          sameMetadata(),
          onlyKeys('object.data', `k in ${texts(['ca.crt', 'tls.crt', 'tls.key', 'next.crt', 'next.key'])}`),
        ),
      }),
    ),
    message: `change the certificates in Secret ${CONTROLLER_NAMESPACE}/${SECRET_NAME}, and no other Secret`,
  },
  {
    name: 'webhook',
    resources: { [WEBHOOK_CONFIGURATIONS.group]: [WEBHOOK_CONFIGURATIONS.plural] },
    expression: all(
      `request.name == '${CONFIGURATION_NAME}'`,
      byOperation({
        UPDATE: all(
          sameObject('metadata', 'webhooks'),
          sameMetadata(),
          'object.webhooks.size() == oldObject.webhooks.size()',
          `oldObject.webhooks.all(o, object.webhooks.exists(n,\n${all(
            sameMap('n', 'o', ['clientConfig']),
            sameMap('n.clientConfig', 'o.clientConfig', ['caBundle']),
          )}))`,
        ),
      }),
    ),
    message: `change caBundle in ValidatingWebhookConfiguration ${CONFIGURATION_NAME}, no rule and no address of it, and no other configuration`,
  },
];

export const ACCOUNT_LIMITS: readonly AccountLimit[] = [...KINDS_APART, ...OTHER_KINDS, ...OWN_OBJECTS];
