/**
 * From flags to an OVSDB session with the Northbound database.
 */
import { monitoredColumns } from '../../nb/tables.ts';
import type { OvsdbOptions } from '../../ovsdb/index.ts';
import { OvsdbSession } from '../../ovsdb/index.ts';
import type { Log } from '../../runtime/log.ts';
import { readOvnCertificates } from './ovn-certificates.ts';

export interface OvnFlags {
  /** `unix:PATH`, `tcp:HOST:PORT` or `ssl:HOST:PORT`, several separated by commas. */
  readonly ovnNb: string;
  readonly ovnCa?: string;
  readonly ovnCert?: string;
  readonly ovnKey?: string;
}

/** The endpoints of `--ovn-nb`, one by one. */
export function endpointsOf(ovnNb: string): readonly string[] {
  return ovnNb
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

/** The endpoints of `--ovn-nb`; undefined if none is named. An empty variable names none. */
export function northboundOf({ ovnNb = '' }: Partial<OvnFlags>): string | undefined {
  return endpointsOf(ovnNb).length === 0 ? undefined : ovnNb;
}

/** @param more for a command that does more than a controller does at once */
export function northboundSession(flags: OvnFlags, log: Log, more: Partial<OvsdbOptions> = {}): OvsdbSession {
  const endpoints = endpointsOf(flags.ovnNb);
  const { ovnCa, ovnCert, ovnKey } = flags;
  // Read at each connection, so renewed certificates need no restart.
  const tls =
    ovnCa === undefined || ovnCert === undefined || ovnKey === undefined
      ? {}
      : { tls: () => readOvnCertificates({ ovnCa, ovnCert, ovnKey }) };
  const options: OvsdbOptions = {
    endpoints,
    database: 'OVN_Northbound',
    tables: monitoredColumns(),
    leaderOnly: endpoints.length > 1,
    ...tls,
    ...more,
  };
  const session = new OvsdbSession(options);
  logConnection(session, log);
  return session;
}

/** Logs one line when the database is lost or unreachable, and one when it is back. */
function logConnection(session: OvsdbSession, log: Log): void {
  let since: number | undefined;
  /** Reasons already logged: cluster members fail in different ways, and each reason is logged once. */
  const logged = new Set<string>();
  session.onError(({ code, message, endpoint = '' }) => {
    since ??= performance.now();
    const reason = message.replaceAll(endpoint, '').replaceAll(/\d+/g, '#');
    if (logged.has(reason)) return;
    logged.add(reason);
    log.warn('the Northbound database cannot be read', { code, error: message });
  });
  session.onState((state) => {
    if (state !== 'synced') return;
    if (since !== undefined)
      log.info('the Northbound database is read again', { endpoint: session.endpoint, ms: Math.round(performance.now() - since) });
    since = undefined;
    logged.clear();
  });
}
