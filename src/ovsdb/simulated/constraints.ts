/** Types and limits of values, as ovsdb-server checks them when it reads an operation (RFC 7047 section 3.2). */
import { decodeValue } from '../decode.ts';
import { toOvsdbError } from '../errors.ts';
import type { BaseType, ColumnSchema } from '../schema.ts';
import { uuidColumn, type TableSchema } from '../schema.ts';
import type { Atom, Value } from '../value.ts';

/** The error of ovsdb-server for a failed operation or commit. */
export class OperationError extends Error {
  override readonly name = 'OperationError';
  /** The `error` member, such as `constraint violation`. */
  readonly error: string;

  constructor(error: string, details: string) {
    super(details);
    this.error = error;
  }

  toJson(): { readonly error: string; readonly details: string } {
    return { error: this.error, details: this.message };
  }
}

export function columnOf(table: TableSchema, name: string): ColumnSchema {
  if (name === '_uuid' || name === '_version') return uuidColumn;
  const column = table.columns.get(name);
  if (column === undefined) throw new OperationError('unknown column', `No column ${name} in table ${table.name}.`);
  return column;
}

/** Reads a value of an operation. @throws {OperationError} */
export function readValue(column: ColumnSchema, json: unknown): Value {
  const value = decoded(column, json);
  checkLimits(column, value);
  return value;
}

function decoded(column: ColumnSchema, json: unknown): Value {
  try {
    // Without this check only the first member of the set would be read.
    if (column.kind === 'optional' && Array.isArray(json) && json[0] === 'set' && Array.isArray(json[1]) && json[1].length > 1)
      throw new OperationError('syntax error', `${json[1].length} values when column ${column.name} requires 0 to 1`);
    return decodeValue(column, json);
  } catch (thrown) {
    if (thrown instanceof OperationError) throw thrown;
    throw new OperationError('syntax error', toOvsdbError(thrown, 'OVSDB_BAD_VALUE').message);
  }
}

function checkLimits(column: ColumnSchema, value: Value): void {
  if (value === null) return;
  if (value instanceof Set) {
    checkSize(column, value.size);
    for (const atom of value as ReadonlySet<Atom>) checkAtom(column, column.key, atom);
  } else if (value instanceof Map) {
    checkSize(column, value.size);
    for (const [key, member] of value as ReadonlyMap<Atom, Atom>) {
      checkAtom(column, column.key, key);
      checkAtom(column, column.value!, member);
    }
  } else checkAtom(column, column.key, value as Atom);
}

export function checkSize(column: ColumnSchema, size: number): void {
  if (size >= column.min && size <= column.max) return;
  throw new OperationError('syntax error', `${size} values when column ${column.name} requires ${column.min} to ${column.max}`);
}

export function checkAtom(column: ColumnSchema, type: BaseType, atom: Atom): void {
  const fail = (what: string): never => {
    throw new OperationError('constraint violation', `${JSON.stringify(atom)} in column ${column.name} ${what}`);
  };
  if (type.enum !== undefined && !type.enum.has(atom)) fail('is not one of the allowed values');
  if (typeof atom === 'number' && (atom < (type.minimum ?? -Infinity) || atom > (type.maximum ?? Infinity))) fail('is out of range');
  if (typeof atom !== 'string' || (type.minLength === undefined && type.maxLength === undefined)) return;
  const length = Array.from(atom).length;
  if (length < (type.minLength ?? 0) || length > (type.maxLength ?? Infinity)) fail('has not the allowed length');
}
