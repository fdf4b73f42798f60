import { OvsdbError } from './errors.ts';

/** The atomic types of RFC 7047 section 3.2. */
export type AtomicType = 'integer' | 'real' | 'boolean' | 'string' | 'uuid';

/** A `<base-type>`: the type of a key or a value, with its limits. */
export interface BaseType {
  readonly type: AtomicType;
  readonly enum?: ReadonlySet<string | number | boolean>;
  readonly minimum?: number;
  readonly maximum?: number;
  /** In characters. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly refTable?: string;
  readonly refType?: 'strong' | 'weak';
}

/**
 * How a column's values look here: one atom (`scalar`), an atom or null (`optional`: none or one), a Set, or a Map.
 */
export type ColumnKind = 'scalar' | 'optional' | 'set' | 'map';

export interface ColumnSchema {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly key: BaseType;
  /** Only of a `map`. */
  readonly value?: BaseType;
  readonly min: number;
  /** `Infinity` for "unlimited". */
  readonly max: number;
  readonly mutable: boolean;
  readonly ephemeral: boolean;
}

export interface TableSchema {
  readonly name: string;
  readonly columns: ReadonlyMap<string, ColumnSchema>;
  /** Rows of a table that is not a root are collected when nothing refers to them. */
  readonly isRoot: boolean;
  /** Sets of columns that are unique in the table. */
  readonly indexes: readonly (readonly string[])[];
  readonly maxRows: number;
}

export interface DatabaseSchema {
  readonly name: string;
  readonly version: string;
  readonly tables: ReadonlyMap<string, TableSchema>;
}

type JsonObject = Readonly<Record<string, unknown>>;

const atomicTypes: ReadonlySet<unknown> = new Set<AtomicType>(['integer', 'real', 'boolean', 'string', 'uuid']);

/** A column that every table has; schemas do not list it (RFC 7047 section 3.2). */
export const uuidColumn: ColumnSchema = {
  name: '_uuid',
  kind: 'scalar',
  key: { type: 'uuid' },
  min: 1,
  max: 1,
  mutable: false,
  ephemeral: false,
};

/** Parsed schemas by their JSON value: a server in this process gives the same value to each session. */
const read = new WeakMap<object, DatabaseSchema>();

/** As `parseSchema`, once for each value. @throws {OvsdbError} OVSDB_BAD_SCHEMA */
export function readSchema(json: unknown): DatabaseSchema {
  if (typeof json !== 'object' || json === null) return parseSchema(json);
  let schema = read.get(json);
  if (schema === undefined) read.set(json, (schema = parseSchema(json)));
  return schema;
}

/**
 * Reads a `<database-schema>` (RFC 7047 section 3.2).
 *
 * @throws {OvsdbError} OVSDB_BAD_SCHEMA
 */
export function parseSchema(json: unknown): DatabaseSchema {
  const root = object(json, 'the schema');
  const tables = Object.entries(object(root['tables'], 'tables'));
  // A schema that has `isRoot` nowhere is older than that member: every table is a root.
  const noneIsRoot = tables.every(([, table]) => object(table, 'a table')['isRoot'] !== true);
  return {
    name: String(root['name']),
    version: typeof root['version'] === 'string' ? root['version'] : '',
    tables: new Map(tables.map(([name, table]) => [name, parseTable(name, object(table, name), noneIsRoot)])),
  };
}

function parseTable(name: string, json: JsonObject, isRootByDefault: boolean): TableSchema {
  const columns = Object.entries(object(json['columns'], `columns of ${name}`));
  const indexes = Array.isArray(json['indexes']) ? (json['indexes'] as unknown[]) : [];
  return {
    name,
    columns: new Map(columns.map(([column, type]) => [column, parseColumn(`${name}.${column}`, column, object(type, column))])),
    isRoot: isRootByDefault || json['isRoot'] === true,
    indexes: indexes.map((index) => (Array.isArray(index) ? index.map(String) : [])),
    maxRows: typeof json['maxRows'] === 'number' ? json['maxRows'] : Infinity,
  };
}

function parseColumn(path: string, name: string, json: JsonObject): ColumnSchema {
  const type: JsonObject = typeof json['type'] === 'string' ? { key: json['type'] } : object(json['type'], `type of ${path}`);
  const key = parseBase(path, type['key']);
  const value = type['value'] === undefined ? undefined : parseBase(path, type['value']);
  const min = typeof type['min'] === 'number' ? type['min'] : 1;
  const max = type['max'] === 'unlimited' ? Infinity : typeof type['max'] === 'number' ? type['max'] : 1;
  const single: ColumnKind = min === 0 ? 'optional' : 'scalar';
  const shared = {
    name,
    key,
    min,
    max,
    mutable: json['mutable'] !== false,
    ephemeral: json['ephemeral'] === true,
  };
  return value === undefined ? { ...shared, kind: max === 1 ? single : 'set' } : { ...shared, kind: 'map', value };
}

function parseBase(path: string, json: unknown): BaseType {
  const record: JsonObject = typeof json === 'string' ? { type: json } : object(json, `type of ${path}`);
  if (!atomicTypes.has(record['type'])) {
    throw new OvsdbError('OVSDB_BAD_SCHEMA', `column ${path} has the type ${JSON.stringify(record['type'])}, which is none of RFC 7047`);
  }
  const type = record['type'] as AtomicType;
  const minimum = record[type === 'real' ? 'minReal' : 'minInteger'];
  const maximum = record[type === 'real' ? 'maxReal' : 'maxInteger'];
  const choices = record['enum'];
  return {
    type,
    ...(choices === undefined ? {} : { enum: new Set(listOf(choices)) }),
    ...(typeof minimum === 'number' ? { minimum } : {}),
    ...(typeof maximum === 'number' ? { maximum } : {}),
    ...(typeof record['minLength'] === 'number' ? { minLength: record['minLength'] } : {}),
    ...(typeof record['maxLength'] === 'number' ? { maxLength: record['maxLength'] } : {}),
    ...(typeof record['refTable'] === 'string'
      ? { refTable: record['refTable'], refType: record['refType'] === 'weak' ? ('weak' as const) : ('strong' as const) }
      : {}),
  };
}

function listOf(json: unknown): (string | number | boolean)[] {
  const members: unknown = Array.isArray(json) && json[0] === 'set' ? json[1] : [json];
  return (Array.isArray(members) ? (members as unknown[]) : []).filter(
    (member) => typeof member === 'string' || typeof member === 'number' || typeof member === 'boolean',
  );
}

function object(json: unknown, what: string): JsonObject {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new OvsdbError('OVSDB_BAD_SCHEMA', `${what} is not an object in the schema that the server sent`);
  }
  return json as JsonObject;
}
