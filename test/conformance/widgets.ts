/** Small CustomResourceDefinitions with the features that Kube-OVN's definitions use, and some more. */
import type { Fields } from './https-client.ts';

export const GROUP = 'lab.example.com';
export const WIDGETS = `/apis/${GROUP}/v1/widgets`;
export const KITS = (namespace: string): string => `/apis/${GROUP}/v1/namespaces/${namespace}/kits`;

const pair: Fields = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } };

const spec: Fields = {
  type: 'object',
  required: ['cidr'],
  properties: {
    cidr: { type: 'string', description: 'The range of the widget.' },
    protocol: { type: 'string', enum: ['IPv4', 'IPv6', 'Dual'] },
    mtu: { type: 'integer', minimum: 68, maximum: 65535 },
    mode: { type: 'string', default: 'routed' },
    replicas: { type: 'integer', default: 1 },
    pattern: { type: 'string', pattern: '^[a-z]+$', maxLength: 8 },
    word: { type: 'string', pattern: '^[^/\\s]+$' },
    short: { type: 'string', minLength: 2 },
    tags: { type: 'array', maxItems: 3, items: { type: 'string' } },
    ports: {
      type: 'array',
      items: {
        type: 'object',
        required: ['port'],
        properties: { port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' } },
      },
    },
    port: { 'x-kubernetes-int-or-string': true },
    amount: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }], pattern: '^[0-9]+m?$' },
    combined: {
      type: 'object',
      properties: {
        one: { ...pair, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
        any: { ...pair, anyOf: [{ required: ['a'] }, { required: ['b'] }] },
        all: { type: 'string', allOf: [{ pattern: '^a' }, { minLength: 1 }] },
        not: { type: 'string', not: { enum: ['x'] } },
      },
    },
    optional: { type: 'string', nullable: true },
    extra: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    enabled: { type: 'boolean' },
  },
};

const status: Fields = {
  type: 'object',
  properties: {
    available: { type: 'number' },
    used: { type: 'integer', format: 'int64' },
    count: { type: 'integer', format: 'int32' },
    replicas: { type: 'integer' },
    selector: { type: 'string' },
    conditions: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          type: { type: 'string' },
          status: { type: 'string' },
          reason: { type: 'string' },
          message: { type: 'string' },
          lastTransitionTime: { type: 'string', format: 'date-time' },
        },
      },
    },
  },
};

export function definition(plural: string, kind: string, scope: 'Cluster' | 'Namespaced', withStatus = true): Fields {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope,
      names: { plural, singular: kind.toLowerCase(), kind, shortNames: [plural.slice(0, 2)], categories: ['lab'] },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', description: `${kind} is a thing to test with.`, properties: { spec, status } } },
          ...(withStatus
            ? {
                subresources: {
                  status: {},
                  scale: {
                    specReplicasPath: '.spec.replicas',
                    statusReplicasPath: '.status.replicas',
                    labelSelectorPath: '.status.selector',
                  },
                },
              }
            : {}),
          additionalPrinterColumns: [
            { name: 'CIDR', type: 'string', jsonPath: '.spec.cidr' },
            { name: 'MTU', type: 'integer', jsonPath: '.spec.mtu' },
            { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
            { name: 'Tags', type: 'string', jsonPath: '.spec.tags', priority: 1 },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
        },
      ],
    },
  };
}

export function widget(name: string, fields: Fields = {}, metadata: Fields = {}): Fields {
  return { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { name, ...metadata }, spec: { cidr: '10.0.0.0/16', ...fields } };
}

export function kit(name: string, fields: Fields = {}, metadata: Fields = {}): Fields {
  return { apiVersion: `${GROUP}/v1`, kind: 'Kit', metadata: { name, ...metadata }, spec: { cidr: '10.0.0.0/16', ...fields } };
}
