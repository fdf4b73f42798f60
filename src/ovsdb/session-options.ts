import type { BackoffOptions } from './backoff.ts';
import { defaultBackoff } from './backoff.ts';
import { systemClock, type Clock } from './clock.ts';
import { parseEndpoint, type Endpoint } from './endpoint.ts';
import { OvsdbError } from './errors.ts';
import type { MonitoredTables } from './monitor.ts';
import { dial, type Dial, type TlsOption } from './transport.ts';

/** All durations are in milliseconds. */
export interface OvsdbOptions {
  /** `unix:/path`, `tcp:host:port`, `ssl:host:port`; tried in this order, round and round. */
  readonly endpoints: readonly string[];
  readonly database: string;
  /** Which tables and columns to keep a replica of. What the server lacks is left out: see `missing`. */
  readonly tables: MonitoredTables;
  /** Use only the leader of a cluster: what it says is never out of date. Of no effect on a server that stands alone. */
  readonly leaderOnly?: boolean;
  /** Needed for `ssl:` endpoints. */
  readonly tls?: TlsOption;
  /** Silence after which the server is asked for an echo, and again after which it is given up. 5 s, as in OVS. */
  readonly probeIntervalMs?: number;
  /** 5 s. */
  readonly connectTimeoutMs?: number;
  /** The silence allowed while a server composes the contents: 60 s (it took 1.8 s for 100,000 rows). */
  readonly syncSilenceMs?: number;
  /** The largest message taken: 256 MiB (100,000 rows took 43 MB). */
  readonly maxMessageBytes?: number;
  readonly backoff?: Partial<BackoffOptions>;
  /** After this long without a member of the cluster that has what was read, that is lost: another one is taken as it is. 30 s. */
  readonly setbackPatienceMs?: number;
  readonly clock?: Clock;
  /** A number in [0, 1). */
  readonly random?: () => number;
  /** Opens connections; a socket of the system's by default. */
  readonly dial?: Dial;
}

export interface ResolvedOptions {
  readonly endpoints: readonly Endpoint[];
  readonly database: string;
  readonly tables: MonitoredTables;
  readonly leaderOnly: boolean;
  readonly tls: TlsOption | undefined;
  readonly probeIntervalMs: number;
  readonly connectTimeoutMs: number;
  readonly syncSilenceMs: number;
  readonly maxMessageBytes: number;
  readonly backoff: BackoffOptions;
  readonly setbackPatienceMs: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly dial: Dial;
}

/** @throws {OvsdbError} OVSDB_BAD_ENDPOINT or OVSDB_BAD_OPTION */
export function resolveOptions(options: OvsdbOptions): ResolvedOptions {
  const endpoints = options.endpoints.map(parseEndpoint);
  if (endpoints.length === 0) throw new OvsdbError('OVSDB_BAD_OPTION', 'endpoints is empty: name at least one');
  if (options.tls === undefined && endpoints.some((endpoint) => endpoint.kind === 'ssl')) {
    throw new OvsdbError('OVSDB_BAD_OPTION', 'an ssl: endpoint needs the option tls (ca, cert, key)');
  }
  return {
    endpoints,
    database: options.database,
    tables: options.tables,
    leaderOnly: options.leaderOnly ?? false,
    tls: options.tls,
    probeIntervalMs: options.probeIntervalMs ?? 5_000,
    connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
    syncSilenceMs: options.syncSilenceMs ?? 60_000,
    maxMessageBytes: options.maxMessageBytes ?? 256 * 1024 * 1024,
    setbackPatienceMs: options.setbackPatienceMs ?? 30_000,
    backoff: { ...defaultBackoff, ...options.backoff },
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    dial: options.dial ?? dial,
  };
}
