/** The log of a VpcEgressGateway's translated connections. */

import { boolean, integer, list, object, string } from './schema.ts';
import { stringSet } from './shapes.ts';

const oneOf = <const V extends string>(description: string, values: readonly V[]) =>
  list(description, string('', { enum: values }), { listType: 'set', maxItems: values.length });

const port = (description: string) => integer(description, { format: 'int32', minimum: 0, maximum: 65_535 });

const ports = (description: string) =>
  list(
    description,
    object(
      '',
      { end: port('Last port'), start: port('First port') },
      {
        rules: [
          {
            rule: 'has(self.start) && has(self.end) && self.start <= self.end',
            message: 'a port range needs a first and a last port, the first not above the last',
          },
        ],
      },
    ),
    { maxItems: 64 },
  );

const side = (description: string) =>
  object(description, {
    destinationCIDRs: stringSet('Destination networks', { maxItems: 64 }),
    destinationPorts: ports('Destination ports'),
    sourceCIDRs: stringSet('Source networks', { maxItems: 64 }),
    sourcePorts: ports('Source ports'),
  });

const filters = (description: string) =>
  list(
    description,
    object('', {
      addressFamilies: oneOf('Address families', ['ipv4', 'ipv6']),
      natTypes: oneOf('Kinds of translation', ['snat', 'dnat', 'snat_dnat']),
      original: side('The connection before translation'),
      protocols: oneOf('Protocols', ['tcp', 'udp', 'sctp', 'icmp', 'icmpv6', 'other']),
      translated: side('The connection after translation'),
    }),
    { maxItems: 64 },
  );

export const conntrackLog = object('A line for each connection', {
  enabled: boolean('Whether to log'),
  events: oneOf('When to log', ['start', 'end']),
  filters: object('Filters of the connections', {
    exclude: filters('Connections that are not logged; takes precedence over include'),
    include: filters('Connections that are logged; empty for all'),
  }),
  rateLimit: object('Rate limit of the log', {
    burst: integer('Lines at once', { format: 'int32', minimum: 1, maximum: 1_000_000 }),
    recordsPerSecond: integer('Lines a second', { format: 'int32', minimum: 1, maximum: 100_000 }),
  }),
});
