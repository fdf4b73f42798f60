/** DNSNameResolver: addresses of a DNS name in a policy, kept current by the DNS server. */

import { defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { integer, list, object, required, string, time } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';

/** A fully qualified name of at least two labels, the first of which may be `*`. */
const FQDN = String.raw`^(\*\.)?([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.){2,}$`;
const REASON = '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$';
const QUALIFIED_NAME = String.raw`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`;

const spec = object('Desired state of the resolver', {
  name: required(
    string('The name, fully qualified with its final dot; its first label may be *', {
      maxLength: 254,
      pattern: FQDN,
      rules: [{ rule: 'self == oldSelf', message: 'the name of a DNSNameResolver cannot change: make another object' }],
    }),
  ),
});

const condition = object('', {
  lastTransitionTime: required(time('When the status last changed')),
  message: required(string('Message for users', { maxLength: 32_768 })),
  observedGeneration: integer('Generation of the object when the condition was set', { format: 'int64', minimum: 0 }),
  reason: required(string('Reason of the status, one word in CamelCase', { minLength: 1, maxLength: 1024, pattern: REASON })),
  status: required(string('Status of the condition: True, False or Unknown', { enum: ['True', 'False', 'Unknown'] })),
  type: required(string('Type of the condition', { maxLength: 316, pattern: QUALIFIED_NAME })),
});

const resolvedAddress = object('', {
  ip: required(string('The address')),
  lastLookupTime: required(time('Time of the last lookup')),
  ttlSeconds: required(integer('Time to live of the answer, in seconds', { format: 'int32' })),
});

const resolvedName = object('', {
  conditions: list('Outcome of the lookups', condition, { listType: 'map', keys: ['type'] }),
  dnsName: required(string('The name; one that a wildcard stands for is listed on its own', { maxLength: 254, pattern: FQDN })),
  resolutionFailures: integer('Failed lookups in a row', { format: 'int32' }),
  resolvedAddresses: required(list('Its addresses', resolvedAddress, { listType: 'map', keys: ['ip'] })),
});

const status = object('Observed state of the resolver', {
  resolvedNames: list('Names and their addresses', resolvedName, { listType: 'map', keys: ['dnsName'] }),
});

export const dnsNameResolverKind = defineKind({
  kind: 'DNSNameResolver',
  plural: 'dnsnameresolvers',
  singular: 'dnsnameresolver',
  shortNames: ['dnr'],
  scope: 'Cluster',
  description: 'Addresses of a DNS name that a policy mentions',
  subresources: { status: {} },
  spec,
  specRequired: true,
  status,
});

export type DNSNameResolver = ObjectOf<typeof dnsNameResolverKind>;
export type DNSNameResolverSpec = TypeOf<typeof spec>;
export type DNSNameResolverStatus = TypeOf<typeof status>;
