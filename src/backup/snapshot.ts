/** All rows of a database at one moment, and which database it is. */
import type { DatabaseSchema, Operation, OvsdbSession, Row, Uuid } from '../ovsdb/index.ts';
import { parseSchema, select } from '../ovsdb/index.ts';

export type Rows = ReadonlyMap<string, ReadonlyMap<Uuid, Row>>;

export interface Snapshot {
  readonly schema: DatabaseSchema;
  /** As the server sends it. */
  readonly schemaJson: unknown;
  /** By table and UUID, with all columns. */
  readonly rows: Rows;
  readonly identity: Identity;
}

/** Which database it is. */
export interface Identity {
  /** UUID of the row of NB_Global: as old as the contents, and the same in each copy of them. */
  readonly contents: Uuid | undefined;
  /** Id of the cluster of servers; undefined for a server that stands alone. */
  readonly cluster: string | undefined;
  /** UID of the namespace kube-system, if the Kubernetes cluster is known. */
  readonly kubernetes: string | undefined;
}

const MOST_READS = 5;
/** An election takes seconds. */
const RECONNECT_MS = 60_000;

/**
 * Reads all tables in one transaction, so the rows are of one moment. Cost: the server sends the whole database, 43 MB for 100,000 ports.
 * @param session synced
 * @throws OvsdbError
 */
export async function readSnapshot(session: OvsdbSession, kubernetes: string | undefined): Promise<Snapshot> {
  const { schema, schemaJson, cluster } = session;
  if (schema === undefined) throw new Error('the Northbound database has sent no schema');
  const tables = [...schema.tables.keys()].toSorted();
  const selects = tables.map((table): Operation => select(table, []));
  let outcome = await session.transact(selects);
  // A cluster of servers may elect another leader while this one composes the rows.
  for (let again = 1; !outcome.ok && outcome.error.outcome !== 'rejected' && again < MOST_READS; again++) {
    await session.untilSynced(AbortSignal.timeout(RECONNECT_MS));
    outcome = await session.transact(selects);
  }
  if (!outcome.ok) throw outcome.error;
  const rows = new Map(tables.map((table, at) => [table, new Map((outcome.results[at]?.rows ?? []).map((row) => [row._uuid, row]))]));
  return { schema, schemaJson, rows, identity: { contents: globalOf(rows)?._uuid, cluster, kubernetes } };
}

export function globalOf(rows: Rows): Row | undefined {
  for (const row of rows.get('NB_Global')?.values() ?? []) return row;
  return undefined;
}

export function countOf(rows: Rows): number {
  let count = 0;
  for (const held of rows.values()) count += held.size;
  return count;
}

/** @throws OvsdbError if it is no schema */
export function schemaOf(json: unknown): DatabaseSchema {
  return parseSchema(json);
}
