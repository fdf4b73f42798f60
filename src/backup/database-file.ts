/**
 * The file of a database as `ovsdb-client backup` writes it (ovsdb(5)): records of a header line `OVSDB JSON <bytes> <SHA-1>` and one line
 * of JSON; first the schema, then one transaction with all rows. Pure. Kiln's own facts are in the transaction's comment, which OVSDB's
 * tools ignore.
 */
import { createHash } from 'node:crypto';
import type { Row, TableSchema, Uuid } from '../ovsdb/index.ts';
import { decodeValue, defaultValue, encodeValue, equalValues, isUuid } from '../ovsdb/index.ts';
import { countOf, globalOf, schemaOf } from './snapshot.ts';
import type { Identity, Snapshot } from './snapshot.ts';

/** What a backup says of itself. */
export interface BackupFacts {
  /** RFC 3339. */
  readonly at: string;
  readonly schemaVersion: string;
  readonly schemaChecksum: string;
  readonly identity: Identity;
  readonly rows: number;
  /** Rows of each table that has any. */
  readonly tables: Readonly<Record<string, number>>;
}

export interface Backup extends Snapshot {
  readonly facts: BackupFacts;
}

export type ReadBackup = { readonly ok: true; readonly backup: Backup } | { readonly ok: false; readonly problem: string };

const MAGIC = 'OVSDB JSON';
const COMMENT = 'kiln backup ';
const FORMAT = 1;
const DATABASE = 'OVN_Northbound';

export function factsOf({ schema, schemaJson, rows, identity }: Snapshot, at: string): BackupFacts {
  return {
    ...{ at, identity, schemaVersion: schema.version, schemaChecksum: checksumOf(schemaJson), rows: countOf(rows) },
    tables: Object.fromEntries([...rows].flatMap(([table, { size }]) => (size === 0 ? [] : [[table, size]]))),
  };
}

export function databaseFile(snapshot: Snapshot, facts: BackupFacts): Buffer {
  const transaction: Record<string, unknown> = {
    _date: Date.parse(facts.at),
    _comment: `${COMMENT}${JSON.stringify({ format: FORMAT, ...facts })}`,
  };
  for (const [table, held] of snapshot.rows) {
    const columns = snapshot.schema.tables.get(table);
    if (columns === undefined || held.size === 0) continue;
    transaction[table] = Object.fromEntries([...held].map(([uuid, row]) => [uuid, rowJson(columns, row)]));
  }
  return Buffer.concat([record(snapshot.schemaJson), record(transaction)]);
}

/** All columns that a server keeps and that have another value than the default. */
function rowJson({ columns }: TableSchema, row: Row): Readonly<Record<string, unknown>> {
  const json: Record<string, unknown> = {};
  for (const column of columns.values()) {
    const value = row[column.name];
    if (value === undefined || column.ephemeral || equalValues(value, defaultValue(column))) continue;
    json[column.name] = encodeValue(column, value);
  }
  return json;
}

function record(json: unknown): Buffer {
  const text = Buffer.from(`${JSON.stringify(json)}\n`);
  const sha1 = createHash('sha1').update(text).digest('hex');
  return Buffer.concat([Buffer.from(`${MAGIC} ${text.length} ${sha1}\n`), text]);
}

/** Reads and verifies a file: length and checksum of each record, the database's name, all rows by the schema, and the counts. */
export function readDatabaseFile(bytes: Buffer): ReadBackup {
  const records: unknown[] = [];
  for (let at = 0; at < bytes.length;) {
    const read = readRecord(bytes, at);
    if (typeof read === 'string') return { ok: false, problem: read };
    records.push(read.json);
    at = read.next;
  }
  const [schemaJson, transaction, more] = records;
  if (schemaJson === undefined) return { ok: false, problem: 'it is empty' };
  if (transaction === undefined) return { ok: false, problem: 'it is truncated after the schema: it has no rows' };
  if (more !== undefined)
    return { ok: false, problem: 'it is the log of a running database, not a backup; ovsdb-tool compact makes one of a copy of it' };
  try {
    return readTransaction(schemaJson, transaction);
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

function readRecord(bytes: Buffer, at: number): { readonly json: unknown; readonly next: number } | string {
  const end = bytes.indexOf(10, at);
  const header = bytes.subarray(at, end === -1 || end - at > 200 ? Math.min(at + 200, bytes.length) : end).toString('latin1');
  const parsed = /^OVSDB (JSON|CLUSTER) (\d{1,12}) ([0-9a-f]{40})$/.exec(header);
  if (parsed === null || end === -1)
    return at === 0 ? 'it is no file of an OVSDB database' : `it is truncated, or damaged, at byte ${at} of its uncompressed contents`;
  if (parsed[1] === 'CLUSTER')
    return "it is the file of a cluster's member, not a backup; ovsdb-tool cluster-to-standalone makes one of a copy of it";
  const next = end + 1 + Number(parsed[2]);
  if (next > bytes.length)
    return `it is truncated: the record at byte ${at} should have ${parsed[2]} bytes, and ${bytes.length - end - 1} are there`;
  const text = bytes.subarray(end + 1, next);
  if (createHash('sha1').update(text).digest('hex') !== parsed[3])
    return `it is damaged: the record at byte ${at} has another checksum than it should`;
  try {
    return { json: JSON.parse(text.toString('utf8')), next };
  } catch {
    return `the record at byte ${at} is no JSON`;
  }
}

/** @throws OvsdbError if a value does not fit the schema */
function readTransaction(schemaJson: unknown, transaction: unknown): ReadBackup {
  const schema = schemaOf(schemaJson);
  if (schema.name !== DATABASE) return { ok: false, problem: `it is a backup of the database ${schema.name}, not of ${DATABASE}` };
  const rows = new Map<string, ReadonlyMap<Uuid, Row>>([...schema.tables.keys()].toSorted().map((table) => [table, new Map()]));
  const { _comment: comment, _date: date } = transaction as Readonly<Record<string, unknown>>;
  for (const [table, held] of Object.entries(transaction as Readonly<Record<string, unknown>>)) {
    if (table.startsWith('_')) continue;
    const found = schema.tables.get(table);
    if (found === undefined) return { ok: false, problem: `it has rows of the table ${table}, which its own schema does not have` };
    rows.set(table, readRows(found, held as Readonly<Record<string, Readonly<Record<string, unknown>> | null>>));
  }
  const contents = globalOf(rows)?._uuid;
  const said = factsIn(comment);
  if (said === 'unknown format')
    return { ok: false, problem: 'it was written by a later version of Kiln, in a form that this one does not read' };
  const identity = said?.identity ?? { contents, cluster: undefined, kubernetes: undefined };
  const snapshot: Snapshot = { schema, schemaJson, rows, identity };
  const facts = factsOf(snapshot, said?.at ?? new Date(typeof date === 'number' ? date : 0).toISOString());
  const problem = said === undefined ? undefined : contradiction(said, facts, contents);
  return problem === undefined ? { ok: true, backup: { ...snapshot, facts } } : { ok: false, problem };
}

function readRows(table: TableSchema, held: Readonly<Record<string, Readonly<Record<string, unknown>> | null>>): ReadonlyMap<Uuid, Row> {
  const rows = new Map<Uuid, Row>();
  for (const [uuid, json] of Object.entries(held)) {
    if (!isUuid(uuid)) throw new Error(`${table.name} has a row with the UUID "${uuid.slice(0, 60)}"`);
    if (json === null) throw new Error('it is the log of a running database, not a backup');
    const unknown = Object.keys(json).find((column) => !table.columns.has(column));
    if (unknown !== undefined) throw new Error(`${table.name} has a column ${unknown} in it, which its own schema does not have`);
    const row: { _uuid: Uuid; [column: string]: Row[string] } = { _uuid: uuid };
    for (const column of table.columns.values())
      row[column.name] = json[column.name] === undefined ? defaultValue(column) : decodeValue(column, json[column.name]);
    rows.set(uuid, row);
  }
  return rows;
}

/** What Kiln wrote; undefined: another program made the backup. */
function factsIn(comment: unknown): BackupFacts | 'unknown format' | undefined {
  if (typeof comment !== 'string' || !comment.startsWith(COMMENT)) return undefined;
  const { format, ...facts } = JSON.parse(comment.slice(COMMENT.length)) as BackupFacts & { readonly format: number };
  return format === FORMAT ? facts : 'unknown format';
}

function contradiction(said: BackupFacts, found: BackupFacts, contents: Uuid | undefined): string | undefined {
  if (said.rows !== found.rows) return `it should have ${said.rows} rows, and has ${found.rows}`;
  for (const table of new Set([...Object.keys(said.tables), ...Object.keys(found.tables)])) {
    const [should, has] = [said.tables[table] ?? 0, found.tables[table] ?? 0];
    if (should !== has) return `it should have ${should} rows of ${table}, and has ${has}`;
  }
  if (said.schemaVersion !== found.schemaVersion || said.schemaChecksum !== found.schemaChecksum)
    return `its schema is ${found.schemaVersion} (${found.schemaChecksum}), and should be ${said.schemaVersion} (${said.schemaChecksum})`;
  if (said.identity.contents !== contents)
    return `its row of NB_Global is ${contents ?? 'missing'}, and should be ${said.identity.contents ?? 'missing'}`;
  return undefined;
}

function checksumOf(schemaJson: unknown): string {
  const checksum: unknown = (schemaJson as { readonly cksum?: unknown } | null)?.cksum;
  return typeof checksum === 'string' ? checksum : '';
}
