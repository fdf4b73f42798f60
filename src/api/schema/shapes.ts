/** Shapes that several kinds share. */

import type { Condition } from '../kubernetes/meta.ts';
import { boolean, integer, list, map, object, required, string, time } from './schema.ts';
import type { CelRule, Schema } from './schema.ts';

const conditionFields = {
  lastTransitionTime: time('When the status last changed'),
  lastUpdateTime: time('When any part of the condition last changed'),
  message: string('Message for users'),
  observedGeneration: integer('Generation of the object when the condition was set', { format: 'int64' }),
  reason: string('Reason of the status, one word in CamelCase'),
  status: string('True, False or Unknown'),
  type: string('Type of the condition'),
};

/** Conditions of a kind. The server accepts any string as status and type; readers get the narrow type that Kiln writes. */
export const conditions: Schema<readonly Condition[]> = list('Conditions of the object', object('', conditionFields) as Schema<Condition>);

/** Conditions of a ProviderNetwork, each for one node. */
export const nodeConditions: Schema<readonly (Condition & { readonly node: string })[]> = list(
  'Conditions of each node',
  object('', { ...conditionFields, node: string('Node of the condition') }) as Schema<Condition & { readonly node: string }>,
);

export const strings = (description: string): Schema<readonly string[]> => list(description, string());

/** Names or addresses without duplicates. */
export const stringSet = (description: string, limits: { readonly maxItems?: number } = {}): Schema<readonly string[]> =>
  list(description, string(), { listType: 'set', ...limits });

/** One requirement of a selector. */
export const selectorRequirement = (description: string) =>
  object(description, {
    key: required(string('Key of the label or field')),
    operator: required(string('In, NotIn, Exists, DoesNotExist; for nodes also Gt, Lt')),
    values: list('Values that In and NotIn compare with', string(), { listType: 'atomic' }),
  });

const labelSelectorFields = {
  matchExpressions: list('Requirements, which must all match', selectorRequirement(''), { listType: 'atomic' }),
  matchLabels: map('Labels with exactly the required values', string()),
};

/** A label selector; an empty one selects everything. */
export const labelSelector = (description: string, rules?: readonly CelRule[]) =>
  object(description, labelSelectorFields, { atomic: true, ...(rules !== undefined && { rules }) });

/** The workload that implements an object, as its status names it. */
export const workload = object('Workload that does the work', {
  apiVersion: string('API version of the workload'),
  kind: string('Kind of the workload'),
  name: string('Name of the workload'),
  nodes: strings('Nodes its pods run on'),
});

/** BFD settings of a gateway. */
export const bfdSettings = (multiplierMaximum: number) =>
  object('Whether and how BFD watches the gateway', {
    enabled: boolean('Whether BFD is enabled', { default: false }),
    minRX: integer('Shortest interval of reception in milliseconds', { format: 'int32', minimum: 1, maximum: 3_600_000, default: 1000 }),
    minTX: integer('Shortest interval of sending in milliseconds', { format: 'int32', minimum: 1, maximum: 3_600_000, default: 1000 }),
    multiplier: integer('Missed packets until the peer counts as down', {
      format: 'int32',
      minimum: 1,
      maximum: multiplierMaximum,
      default: 3,
    }),
  });

/** Status fields of all rules of a VpcNatGateway. */
export const iptablesRuleStatus = {
  conditions,
  natGwDp: string('VpcNatGateway that translates'),
  ready: boolean('Whether it is in effect'),
  redo: string('When it was last applied'),
  v4ip: string('External IPv4 address'),
  v6ip: string('External IPv6 address'),
} as const;

/** A port of a load balancer. */
export const lbRulePort = object('', {
  name: string('Name of the port'),
  port: integer('Port outside', { format: 'int32' }),
  protocol: string('TCP, UDP or SCTP'),
  targetPort: integer('Port of the pods', { format: 'int32' }),
});
