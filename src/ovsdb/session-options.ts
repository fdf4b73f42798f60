import type { BackoffOptions } from '../timing/backoff.ts';
import { defaultBackoff } from './reconnect-delay.ts';
import { systemClock, type Scheduler } from '../timing/clock.ts';
import { parseEndpoint, type Endpoint } from './endpoint.ts';
import { OvsdbError } from './errors.ts';
import type { MonitoredTables } from './monitor.ts';
import { readOnlyDial } from './read-only.ts';
import { dial, type Dial, type TlsOption } from './transport.ts';

/** All durations are in milliseconds. */
export interface OvsdbOptions {
  /** `unix:/path`, `tcp:host:port`, `ssl:host:port`; tried in this order, again and again. */
  readonly endpoints: readonly string[];
  readonly database: string;
  /** Tables and columns of the replica. Those that the server's schema lacks are left out: see `missing`. */
  readonly tables: MonitoredTables;
  /** Use only the leader of a cluster: its contents are never out of date. No effect on a server without a cluster. */
  readonly leaderOnly?: boolean;
  /** Needed for `ssl:` endpoints. */
  readonly tls?: TlsOption;
  /** After this long without a byte the session sends an echo; after as long again it closes the connection. Default 5 s, as in OVS. */
  readonly probeIntervalMs?: number;
  /** Default 5 s. */
  readonly connectTimeoutMs?: number;
  /** The silence allowed while a server composes the contents. Default 60 s (measured: 1.8 s for 100,000 rows). */
  readonly syncSilenceMs?: number;
  /** The largest message accepted. Default 256 MiB (measured: 43 MB for 100,000 rows). */
  readonly maxMessageBytes?: number;
  readonly backoff?: Partial<BackoffOptions>;
  /** If no server had what was read for this long, the session accepts an older or another database. Default 30 s. */
  readonly rollbackPatienceMs?: number;
  readonly clock?: Scheduler;
  /** A number in [0, 1). */
  readonly random?: () => number;
  /** Opens connections; a system socket by default. */
  readonly dial?: Dial;
  /** Nothing that could change a row is sent, whatever is asked for. */
  readonly readOnly?: boolean;
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
  readonly rollbackPatienceMs: number;
  readonly clock: Scheduler;
  readonly random: () => number;
  readonly dial: Dial;
  readonly readOnly: boolean;
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
    rollbackPatienceMs: options.rollbackPatienceMs ?? 30_000,
    backoff: { ...defaultBackoff, ...options.backoff },
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    dial: options.readOnly === true ? readOnlyDial(options.dial ?? dial) : (options.dial ?? dial),
    readOnly: options.readOnly ?? false,
  };
}
