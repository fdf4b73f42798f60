import { OvsdbError } from './errors.ts';
import { uuidColumn, type BaseType, type ColumnSchema, type DatabaseSchema, type TableSchema } from './schema.ts';
import type { Atom, InputRow, InputValue } from './value.ts';
import { isUuid } from './uuid.ts';

/** @throws {OvsdbError} OVSDB_UNKNOWN_TABLE */
export function requireTable(schema: DatabaseSchema, table: string): TableSchema {
  const found = schema.tables.get(table);
  if (found !== undefined) return found;
  throw new OvsdbError('OVSDB_UNKNOWN_TABLE', `database ${schema.name} ${schema.version} has no table ${table}`);
}

/** @throws {OvsdbError} OVSDB_UNKNOWN_COLUMN */
export function requireColumn(table: TableSchema, column: string): ColumnSchema {
  const found = column === '_uuid' ? uuidColumn : table.columns.get(column);
  if (found !== undefined) return found;
  throw new OvsdbError('OVSDB_UNKNOWN_COLUMN', `table ${table.name} has no column ${column} on this server`);
}

/**
 * A column's value as the protocol writes it (RFC 7047 section 5.1 `<value>`). Where the column refers to rows, text that is not
 * a UUID stands for the `uuid-name` of a row inserted by the same transaction. Limits of number and range are left to the server.
 *
 * @throws {OvsdbError} OVSDB_UNKNOWN_TABLE, OVSDB_UNKNOWN_COLUMN or OVSDB_BAD_VALUE
 */
export function encode(schema: DatabaseSchema, table: string, column: string, value: InputValue): unknown {
  return encodeValue(requireColumn(requireTable(schema, table), column), value);
}

/** A `<row>`; what is undefined is left out. @throws as {@link encode} */
export function encodeRow(table: TableSchema, row: InputRow): Record<string, unknown> {
  const encoded: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row)) {
    if (value !== undefined) encoded[column] = encodeValue(requireColumn(table, column), value);
  }
  return encoded;
}

/** @throws {OvsdbError} OVSDB_BAD_VALUE */
export function encodeValue(column: ColumnSchema, value: InputValue): unknown {
  if (column.kind === 'map') return ['map', encodePairs(column, value)];
  return encodeMembers(column, value);
}

/** For a `mutate` that deletes from a map by keys alone (RFC 7047 section 5.1 `<mutation>`). @throws {OvsdbError} OVSDB_BAD_VALUE */
export function encodeMembers(column: ColumnSchema, value: InputValue): unknown {
  if (value === null) {
    if (column.kind === 'scalar') throw badValue(column, value);
    return ['set', []];
  }
  if (value instanceof Set || Array.isArray(value)) {
    return ['set', Array.from(value as Iterable<Atom>, (atom) => encodeAtom(column, column.key, atom))];
  }
  return encodeAtom(column, column.key, value);
}

function encodePairs(column: ColumnSchema, value: InputValue): [unknown, unknown][] {
  if (typeof value !== 'object' || value === null || value instanceof Set || Array.isArray(value)) throw badValue(column, value);
  const pairs = value instanceof Map ? (value as ReadonlyMap<Atom, Atom>) : Object.entries(value as Readonly<Record<string, Atom>>);
  return Array.from(pairs, ([key, member]) => [encodeAtom(column, column.key, key), encodeAtom(column, column.value!, member)]);
}

function encodeAtom(column: ColumnSchema, type: BaseType, atom: unknown): unknown {
  switch (type.type) {
    case 'uuid':
      if (typeof atom === 'string') return [isUuid(atom) ? 'uuid' : 'named-uuid', atom];
      break;
    case 'integer':
      if (typeof atom === 'number' && Number.isInteger(atom)) return atom;
      break;
    case 'real':
      if (typeof atom === 'number' && Number.isFinite(atom)) return atom;
      break;
    case 'string':
      if (typeof atom === 'string' && isText(atom)) return atom;
      break;
    default:
      if (typeof atom === type.type) return atom;
  }
  throw badValue(column, atom);
}

/** ovsdb-server ends the connection over a zero byte or half of a surrogate pair in a string, so neither may ever be sent. */
function isText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

function badValue(column: ColumnSchema, value: unknown): OvsdbError {
  const text = value instanceof Map || value instanceof Set ? `a ${value.constructor.name}` : JSON.stringify(value)?.slice(0, 100);
  const types = column.value === undefined ? column.key.type : `${column.key.type} to ${column.value.type}`;
  const rule = typeof value === 'string' && !isText(value) ? ': text has neither a zero byte nor half of a surrogate pair' : '';
  return new OvsdbError('OVSDB_BAD_VALUE', `column ${column.name} (${column.kind} of ${types}) cannot hold ${text}${rule}`);
}
