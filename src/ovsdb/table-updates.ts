import { OvsdbError } from './errors.ts';
import type { JsonRow } from './mutable-row.ts';
import type { Uuid } from './uuid.ts';

/** Row updates in one of the two notations: `v1` of RFC 7047 section 4.1.6, `v2` of ovsdb-server(7) section 4.1.14. */
export interface TableUpdates {
  readonly notation: 'v1' | 'v2';
  readonly tables: unknown;
}

export function* eachRow(updates: TableUpdates): Generator<[table: string, uuid: Uuid, update: JsonRow]> {
  const tables = jsonObject(updates.tables);
  for (const table of Object.keys(tables)) {
    const rows = jsonObject(tables[table]);
    for (const uuid of Object.keys(rows)) yield [table, uuid as Uuid, jsonObject(rows[uuid])];
  }
}

export function jsonObject(json: unknown): JsonRow {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new OvsdbError('OVSDB_PROTOCOL', `an update has ${JSON.stringify(json)?.slice(0, 200)} where an object was expected`);
  }
  return json as JsonRow;
}
