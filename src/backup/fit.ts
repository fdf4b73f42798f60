/** Whether a backup may be restored into a database: its schema, and which database it is. Pure. */
import type { ColumnSchema } from '../ovsdb/index.ts';
import { defaultValue, equalValues } from '../ovsdb/index.ts';
import type { Backup } from './database-file.ts';
import type { Identity, Rows, Snapshot } from './snapshot.ts';

/** Tables about the servers themselves, and the row that all programs share. */
export const NOT_CONTENTS: ReadonlySet<string> = new Set(['NB_Global', 'Connection', 'SSL']);

export function isEmptyDatabase(rows: Rows): boolean {
  for (const [table, held] of rows) if (held.size > 0 && !NOT_CONTENTS.has(table)) return false;
  return true;
}

/** What names the database that a restore changes: the UUID of its NB_Global, or else the UID of its Kubernetes cluster. */
export function identityText({ contents, kubernetes }: Identity): string {
  return contents ?? kubernetes ?? 'unknown';
}

/** @returns why the present database cannot hold the backup's rows */
export function schemaProblem({ schema, rows, facts }: Backup, present: Snapshot): string | undefined {
  const [theirs, ours] = [schema.version.split('.')[0], present.schema.version.split('.')[0]];
  const versions = `the backup has schema ${facts.schemaVersion}, the database ${present.schema.version}`;
  if (theirs !== ours) return `${versions}: rows of another major version mean something else`;
  for (const [table, held] of rows) {
    if (held.size === 0 || NOT_CONTENTS.has(table)) continue;
    const columns = schema.tables.get(table)?.columns ?? new Map<string, ColumnSchema>();
    const now = present.schema.tables.get(table);
    if (now === undefined) return `${versions}, which does not have the table ${table} with ${held.size} rows`;
    for (const column of columns.values()) {
      const type = now.columns.get(column.name);
      if (column.ephemeral || (type !== undefined && sameType(column, type))) continue;
      const empty = defaultValue(column);
      for (const row of held.values())
        if (!equalValues(row[column.name] ?? null, empty))
          return `${versions}, ${type === undefined ? 'which does not have' : 'which has another type of'} the column ${table}.${column.name}`;
    }
  }
  return undefined;
}

function sameType(one: ColumnSchema, other: ColumnSchema): boolean {
  return one.kind === other.kind && one.key.type === other.key.type && one.value?.type === other.value?.type;
}

/**
 * @param into the database that a person named as the one to restore into, as `identityText` writes it
 * @returns why the backup seems to be of another database
 */
export function identityProblem({ identity }: Backup, present: Snapshot, into: string | undefined): string | undefined {
  const here = identityText(present.identity);
  if (into !== undefined) return into === here ? undefined : `--into names ${into}, and the database is ${here}`;
  const { contents, kubernetes } = present.identity;
  if (kubernetes !== undefined && identity.kubernetes !== undefined && kubernetes !== identity.kubernetes)
    return `the backup is of the Kubernetes cluster with the namespace kube-system ${identity.kubernetes}; here it is ${kubernetes}`;
  if (contents === identity.contents || isEmptyDatabase(present.rows)) return undefined;
  return `the backup is of the database ${identity.contents ?? 'without NB_Global'}; here is ${contents ?? 'one without NB_Global'}, which is not empty`;
}
