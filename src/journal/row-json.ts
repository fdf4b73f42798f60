/** Rows and values as the journal writes them, and comparisons of them with rows of the database. Pure. */
import type { InputValue, Row, TableSchema, Value } from '../ovsdb/index.ts';
import type { JsonAtom, JsonRow, JsonValue } from './journal.ts';

/** All columns that are not empty, without the UUID. */
export function rowJson(row: Row): JsonRow {
  const json: Record<string, JsonValue> = {};
  for (const column in row) {
    const value = row[column];
    if (value === undefined || isEmpty(value) || column === '_uuid') continue;
    json[column] = valueJson(value);
  }
  return json;
}

export function valueJson(value: Value): JsonValue {
  if (value instanceof Map) return Object.fromEntries(value as ReadonlyMap<string, JsonAtom>);
  if (value instanceof Set) return [...(value as ReadonlySet<JsonAtom>)];
  return value as JsonValue;
}

/** Whether a column has this value; the order of members does not count, and a missing value is an empty one. */
export function isSame(json: JsonValue | undefined, value: Value | undefined): boolean {
  if (json === undefined || json === null || isEmptyJson(json)) return value === undefined || isEmpty(value);
  if (value === undefined || value === null) return false;
  if (value instanceof Set) {
    const members: readonly JsonAtom[] = Array.isArray(json) ? json : [json as JsonAtom];
    return members.length === value.size && members.every((member) => value.has(member));
  }
  if (value instanceof Map) {
    const pairs = Object.entries(json);
    return pairs.length === value.size && pairs.every(([key, one]) => value.get(key) === one);
  }
  return json === value;
}

function isEmpty(value: Value): boolean {
  return value === null || value === '' || ((value instanceof Set || value instanceof Map) && value.size === 0);
}

function isEmptyJson(json: Exclude<JsonValue, null>): boolean {
  return json === '' || (typeof json === 'object' && Object.keys(json).length === 0);
}

/** As a transaction writes it: null is the empty value of the column. */
export function input(value: JsonValue, schema: TableSchema | undefined, column: string): InputValue {
  if (value !== null) return value;
  const type = schema?.columns.get(column);
  if (type?.kind === 'map') return {};
  if (type?.kind === 'scalar') return type.key.type === 'boolean' ? false : type.key.type === 'string' ? '' : 0;
  return [];
}
