/** Parts of a pod's spec that gateways copy to their pods, in the shape of Kubernetes' `v1`. */

import { intOrString, integer, list, map, object, required, string } from './schema.ts';
import { labelSelector, selectorRequirement } from './shapes.ts';

/** A quantity of Kubernetes: a number with a decimal or binary suffix, or an exponent. */
const QUANTITY = String.raw`^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`;
const quantities = (description: string) => map(description, intOrString('', { pattern: QUANTITY, typed: true }));

export const resources = (description: string) =>
  object(description, {
    claims: list(
      'Resource claims',
      object('', {
        name: required(string('Claim of the pod')),
        request: string('Request in the claim; empty for all'),
      }),
      { listType: 'map', keys: ['name'] },
    ),
    limits: quantities('Limits'),
    requests: quantities('Requests'),
  });

export const tolerations = list(
  'Taints that the pods tolerate',
  object('', {
    effect: string('NoSchedule, PreferNoSchedule, NoExecute; empty for all'),
    key: string('Taint; empty for all'),
    operator: string('Exists or Equal'),
    tolerationSeconds: integer('How long NoExecute is tolerated', { format: 'int64' }),
    value: string('Value of the taint'),
  }),
);

const atomicRequirements = (description: string) => list(description, selectorRequirement(''), { listType: 'atomic' });
const atomicStrings = (description: string) => list(description, string(), { listType: 'atomic' });

const nodeSelectorTerm = (description: string) =>
  object(
    description,
    {
      matchExpressions: atomicRequirements('Requirements on labels'),
      matchFields: atomicRequirements('Requirements on fields'),
    },
    { atomic: true },
  );

const weight = required(integer('Weight, from 1 to 100', { format: 'int32' }));

const podAffinityTerm = (description: string) =>
  object(description, {
    labelSelector: labelSelector('Pods of the rule'),
    matchLabelKeys: atomicStrings('Labels whose values the pods of the rule and the new pod must share'),
    mismatchLabelKeys: atomicStrings('Labels whose values the pods of the rule and the new pod must not share'),
    namespaceSelector: labelSelector('Namespaces of these pods by label'),
    namespaces: atomicStrings('Namespaces of these pods'),
    topologyKey: required(string('Label of nodes; nodes with the same value are one topology domain')),
  });

const podAffinity = (description: string) =>
  object(description, {
    preferredDuringSchedulingIgnoredDuringExecution: list(
      'Preferences',
      object('', { podAffinityTerm: required(podAffinityTerm('Term of the preference')), weight }),
      { listType: 'atomic' },
    ),
    requiredDuringSchedulingIgnoredDuringExecution: list('Requirements', podAffinityTerm(''), { listType: 'atomic' }),
  });

export const affinity = object('Scheduling rules of the pods', {
  nodeAffinity: object('Rules for labels of nodes', {
    preferredDuringSchedulingIgnoredDuringExecution: list(
      'Preferences',
      object('', { preference: required(nodeSelectorTerm('Term of the preference')), weight }),
      { listType: 'atomic' },
    ),
    requiredDuringSchedulingIgnoredDuringExecution: object(
      'Requirements',
      {
        nodeSelectorTerms: required(list('Terms, of which one must match', nodeSelectorTerm(''), { listType: 'atomic' })),
      },
      { atomic: true },
    ),
  }),
  podAffinity: podAffinity('Rules to run in the same topology domain as other pods'),
  podAntiAffinity: podAffinity('Rules to run in another topology domain than other pods'),
});

/** Node selection for the pods, as in VpcEgressGateway: lists that merge, and labels. */
export const nodeTerms = (description: string) =>
  list(
    description,
    object('', {
      matchExpressions: list('Requirements on labels', selectorRequirement('')),
      matchFields: list('Requirements on fields', selectorRequirement('')),
      matchLabels: map('Labels with exactly the required values', string()),
    }),
  );
