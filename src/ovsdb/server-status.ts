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
  /** The server's index in the raft log; undefined: it has read nothing of it yet, or there is no cluster. */
  readonly index: number | undefined;
}

/** The raft index of the server that the session last read from. */
export interface ClusterProgress {
  readonly cluster: string;
  readonly index: number;
}

export const serverStatusColumns = ['name', 'model', 'leader', 'connected', 'cid', 'index'];

/**
 * Reads the row of one database from a monitor of `_Server`, in the notation of RFC 7047 section 4.1.6.
 *
 * @returns undefined if the update does not name the database, `gone` if the server no longer has it
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

/** @returns why a session cannot use the server; undefined: it can. A server without `_Server` (before Open vSwitch 2.9) has no cluster. */
export function checkServer(
  status: ServerStatus | undefined,
  database: string,
  leaderOnly: boolean,
  progress: ClusterProgress | undefined,
): OvsdbError | undefined {
  if (status === undefined) return progress === undefined ? undefined : checkProgress(progress, alone, database);
  const clustered = status.model !== 'standalone';
  if (clustered && !status.connected) {
    return new OvsdbError('OVSDB_CLUSTER_DISCONNECTED', `the server of ${database} is not connected to the majority of its cluster`);
  }
  if (clustered && leaderOnly && !status.leader) {
    return new OvsdbError('OVSDB_NOT_LEADER', `the server of ${database} is not the leader of its cluster`);
  }
  return progress === undefined ? undefined : checkProgress(progress, status, database);
}

const alone: ServerStatus = { model: 'standalone', leader: true, connected: true, cluster: undefined, index: undefined };

/** A healthy server may lack what was read from another one: it is of another cluster, or has not caught up. */
function checkProgress(progress: ClusterProgress, { cluster, index }: ServerStatus, database: string): OvsdbError | undefined {
  if (cluster !== progress.cluster) {
    const where = cluster === undefined ? 'stands alone' : `is of the cluster ${cluster}`;
    const message = `the server of ${database} ${where}; what was read is of the cluster ${progress.cluster}`;
    return new OvsdbError('OVSDB_OTHER_CLUSTER', message);
  }
  if (cluster !== undefined && (index ?? 0) < progress.index) {
    return new OvsdbError(
      'OVSDB_STALE_SERVER',
      `the server of ${database} is at index ${index ?? 0}, behind ${progress.index}, which was read from another`,
    );
  }
  return undefined;
}
