import { OvsdbError } from './errors.ts';

/** The row of a database in the table Database of `_Server` (ovsdb-server(5)). */
export interface ServerStatus {
  readonly model: string;
  /** Always true where there is no cluster. */
  readonly leader: boolean;
  /** To the majority of the cluster. */
  readonly connected: boolean;
  /** The cluster's id; undefined where there is no cluster. */
  readonly cluster: string | undefined;
  /** How far the server is in the cluster's log. */
  readonly index: number | undefined;
}

/** How far some server of a cluster was when the session read from it. */
export interface ClusterProgress {
  readonly cluster: string | undefined;
  readonly index: number;
}

export const serverStatusColumns = ['name', 'model', 'leader', 'connected', 'cid', 'index'];

/**
 * Reads what a monitor of `_Server` says of one database, in the notation of RFC 7047 section 4.1.6.
 *
 * @returns undefined if it says nothing of it, `gone` if the server no longer has the database
 */
export function readServerStatus(tables: unknown, database: string): ServerStatus | 'gone' | undefined {
  const rows = (tables as { Database?: unknown } | null)?.Database;
  if (typeof rows !== 'object' || rows === null) return undefined;
  for (const update of Object.values(rows) as { old?: Record<string, unknown>; new?: Record<string, unknown> }[]) {
    const row = update.new;
    if (row === undefined) {
      if (update.old?.['name'] === database) return 'gone';
    } else if (row['name'] === database) {
      return {
        model: String(row['model']),
        leader: row['leader'] === true,
        connected: row['connected'] === true,
        cluster: Array.isArray(row['cid']) && row['cid'][0] === 'uuid' ? String(row['cid'][1]) : undefined,
        index: typeof row['index'] === 'number' ? row['index'] : undefined,
      };
    }
  }
  return undefined;
}

/** Why a session should not use the server, if so. A server without `_Server` (before Open vSwitch 2.9) has no cluster. */
export function judgeServer(
  status: ServerStatus | undefined,
  database: string,
  leaderOnly: boolean,
  progress: ClusterProgress | undefined,
): OvsdbError | undefined {
  if (status === undefined || status.model === 'standalone') return undefined;
  if (!status.connected) {
    return new OvsdbError('OVSDB_CLUSTER_DISCONNECTED', `the server of ${database} is not connected to the majority of its cluster`);
  }
  if (leaderOnly && !status.leader) {
    return new OvsdbError('OVSDB_NOT_LEADER', `the server of ${database} is not the leader of its cluster`);
  }
  const comparable = progress !== undefined && progress.cluster === status.cluster && status.index !== undefined;
  if (comparable && status.index < progress.index) {
    return new OvsdbError(
      'OVSDB_STALE_SERVER',
      `the server of ${database} is at index ${status.index}, behind ${progress.index}, which was read from another`,
    );
  }
  return undefined;
}
