import { OvsdbError } from './errors.ts';

/** Where a server listens, in the notation of ovsdb(7), "Connection Methods". */
export type Endpoint =
  | { readonly kind: 'unix'; readonly text: string; readonly path: string }
  | { readonly kind: 'tcp' | 'ssl'; readonly text: string; readonly host: string; readonly port: number };

/** IANA's port of OVSDB, and the default of OVS. */
const defaultPort = 6640;

/**
 * Reads `unix:/path`, `tcp:host[:port]` or `ssl:host[:port]`; an IPv6 address stands in brackets.
 *
 * @throws {OvsdbError} OVSDB_BAD_ENDPOINT
 */
export function parseEndpoint(text: string): Endpoint {
  const unix = /^unix:(.+)$/.exec(text);
  if (unix !== null) return { kind: 'unix', text, path: unix[1]! };
  const net = /^(tcp|ssl):(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text);
  const port = net?.[4] === undefined ? defaultPort : Number(net[4]);
  if (net === null || port < 1 || port > 65_535) {
    throw new OvsdbError(
      'OVSDB_BAD_ENDPOINT',
      `endpoint ${JSON.stringify(text)} is not unix:PATH, tcp:HOST:PORT or ssl:HOST:PORT (an IPv6 address stands in brackets)`,
    );
  }
  return { kind: net[1] as 'tcp' | 'ssl', text, host: (net[2] ?? net[3])!, port };
}
