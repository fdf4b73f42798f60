/** The operations of RFC 7047 section 5.2 on a draft of the database. */
import { decodeMembers, defaultValue } from '../decode.ts';
import { encodeValue } from '../encode.ts';
import type { ColumnSchema, TableSchema } from '../schema.ts';
import { isUuid, type Uuid } from '../uuid.ts';
import type { Atom, Value } from '../value.ts';
import { equalValues } from '../value.ts';
import { checkAtom, columnOf, readValue, OperationError } from './constraints.ts';
import type { Draft, RowDifference, SimulatedDatabase, StoredRow } from './database.ts';
import { plain } from './database.ts';

type Json = Readonly<Record<string, unknown>>;

export interface Execution {
  /** The `result` of the transact request. */
  readonly results: readonly unknown[];
  /** The changed rows; empty if it failed. */
  readonly differences: readonly RowDifference[];
  readonly comments: readonly string[];
  readonly ok: boolean;
}

/** Executes all operations of a transaction, or none. @param operations as in the request, without the name of the database */
export function execute(database: SimulatedDatabase, operations: readonly unknown[], newUuid: () => Uuid): Execution {
  const run = new Run(database, newUuid);
  const results: unknown[] = [];
  const failed = (error: unknown): Execution => {
    if (!(error instanceof OperationError)) throw error;
    results.push(error.toJson());
    while (results.length < operations.length) results.push(null);
    return { results, differences: [], comments: [], ok: false };
  };
  const named = operations.some((operation) => (operation as Json)['uuid-name'] !== undefined);
  for (const operation of operations) {
    try {
      results.push(run.execute((named ? run.resolve(operation) : operation) as Json));
    } catch (error) {
      return failed(error);
    }
  }
  try {
    return { results, differences: database.commit(run.draft), comments: run.comments, ok: true };
  } catch (error) {
    return failed(error);
  }
}

class Run {
  readonly draft: Draft;
  readonly comments: string[] = [];
  readonly #database: SimulatedDatabase;
  readonly #newUuid: () => Uuid;
  readonly #names = new Map<string, { readonly uuid: Uuid; made: boolean }>();

  constructor(database: SimulatedDatabase, newUuid: () => Uuid) {
    this.#database = database;
    this.#newUuid = newUuid;
    this.draft = database.draft();
  }

  execute(operation: Json): unknown {
    switch (operation['op']) {
      case 'insert':
        return this.#insert(operation);
      case 'select':
        return this.#select(operation);
      case 'update':
        return this.#update(operation);
      case 'mutate':
        return this.#mutate(operation);
      case 'delete':
        return this.#delete(operation);
      case 'wait':
        return this.#wait(operation);
      case 'comment':
        this.comments.push(String(operation['comment']));
        return {};
      case 'abort':
        throw new OperationError('aborted', 'aborted by request');
      default:
        throw new OperationError('unknown operation', `No operation "${String(operation['op'])}".`);
    }
  }

  /** Replaces names by UUIDs. */
  resolve(json: unknown): unknown {
    if (Array.isArray(json)) {
      if (json.length === 2 && json[0] === 'named-uuid') return ['uuid', this.#named(String(json[1])).uuid];
      return json.map((part) => this.resolve(part));
    }
    if (typeof json !== 'object' || json === null) return json;
    return Object.fromEntries(Object.entries(json).map(([key, part]) => [key, this.resolve(part)]));
  }

  #named(name: string): { readonly uuid: Uuid; made: boolean } {
    let known = this.#names.get(name);
    if (known === undefined) this.#names.set(name, (known = { uuid: this.#newUuid(), made: false }));
    return known;
  }

  #insert(operation: Json): unknown {
    const table = this.#table(operation);
    const chosen = operation['uuid'];
    const name = operation['uuid-name'];
    let uuid = typeof chosen === 'string' && isUuid(chosen) ? chosen : undefined;
    if (typeof name === 'string') {
      const known = this.#named(name);
      if (known.made) throw new OperationError('duplicate uuid-name', `This "uuid-name" appeared on an earlier "insert" operation.`);
      known.made = true;
      uuid ??= known.uuid;
    }
    uuid ??= this.#newUuid();
    if (this.#database.row(table.name, uuid) !== undefined || this.draft.changed.has(uuid))
      throw new OperationError(
        'duplicate uuid',
        'This UUID would duplicate a UUID already present within the table or deleted within the same transaction.',
      );
    const given = this.#row(table, operation['row']);
    const row: Record<string, Value> = {};
    for (const column of table.columns.values()) row[column.name] = given.get(column.name) ?? defaultValue(column);
    this.draft.set(table.name, uuid, row);
    return { uuid: ['uuid', uuid] };
  }

  #row(table: TableSchema, json: unknown): Map<string, Value> {
    return new Map(Object.entries((json ?? {}) as Json).map(([name, value]) => [name, readValue(columnOf(table, name), value)]));
  }

  #select(operation: Json): unknown {
    const table = this.#table(operation);
    const columns = (operation['columns'] as readonly string[] | undefined) ?? ['_uuid', ...table.columns.keys()];
    const rows = this.#where(table, operation).map(([uuid, row]) =>
      Object.fromEntries(columns.map((name) => [name, name === '_uuid' ? ['uuid', uuid] : encodeValue(columnOf(table, name), row[name]!)])),
    );
    return { rows };
  }

  #update(operation: Json): unknown {
    const table = this.#table(operation);
    const given = this.#row(table, operation['row']);
    for (const name of given.keys()) mustBeMutable(table, columnOf(table, name));
    const found = this.#where(table, operation);
    for (const [uuid, row] of found) this.draft.set(table.name, uuid, { ...row, ...Object.fromEntries(given) });
    return { count: found.length };
  }

  #mutate(operation: Json): unknown {
    const table = this.#table(operation);
    const found = this.#where(table, operation);
    const mutations = operation['mutations'] as readonly (readonly [string, string, unknown])[];
    const columns = mutations.map(([name]) => columnOf(table, name));
    for (const column of columns) mustBeMutable(table, column);
    for (const [uuid, before] of found) {
      let row = before;
      for (const [at, [name, mutator, value]] of mutations.entries())
        row = { ...row, [name]: mutated(table, columns[at]!, row[name] ?? null, mutator, value) };
      this.draft.set(table.name, uuid, row);
    }
    return { count: found.length };
  }

  #delete(operation: Json): unknown {
    const table = this.#table(operation);
    const found = this.#where(table, operation);
    for (const [uuid] of found) this.draft.set(table.name, uuid, undefined);
    return { count: found.length };
  }

  #wait(operation: Json): unknown {
    const table = this.#table(operation);
    const columns = (operation['columns'] as readonly string[]) ?? [];
    const text = (row: ReadonlyMap<string, Value>): string => JSON.stringify(columns.map((name) => plain(row.get(name) ?? null)));
    const wanted = (operation['rows'] as readonly unknown[]).map((json) => {
      const given = this.#row(table, Object.fromEntries(Object.entries(json as Json).filter(([name]) => name !== '_uuid')));
      for (const [name, value] of Object.entries(json as Json)) if (name === '_uuid') given.set(name, (value as [string, string])[1]);
      for (const name of columns) if (!given.has(name)) given.set(name, defaultValue(columnOf(table, name)));
      return text(given);
    });
    const found = this.#where(table, operation).map(([uuid, row]) => text(new Map([...Object.entries(row), ['_uuid', uuid]])));
    const same = JSON.stringify([...new Set(wanted)].toSorted()) === JSON.stringify([...new Set(found)].toSorted());
    if (same !== (operation['until'] === '==')) throw new OperationError('timed out', '"where" clause test failed');
    return {};
  }

  #table(operation: Json): TableSchema {
    const name = String(operation['table']);
    const table = this.#database.schema.tables.get(name);
    if (table === undefined) throw new OperationError('unknown table', `No table named ${name}.`);
    return table;
  }

  #where(table: TableSchema, operation: Json): [Uuid, StoredRow][] {
    const clauses = ((operation['where'] ?? []) as readonly (readonly [string, string, unknown])[]).map(([name, test, json]) => ({
      name,
      test,
      column: columnOf(table, name),
      value: name === '_uuid' ? (json as [string, string])[1] : conditionValue(columnOf(table, name), json),
    }));
    const holds = (uuid: Uuid, row: StoredRow): boolean =>
      clauses.every(({ name, test, value }) => compare(name === '_uuid' ? uuid : (row[name] ?? null), test, value));
    const byUuid = clauses.find(({ name, test }) => name === '_uuid' && test === '==');
    if (byUuid !== undefined) {
      const uuid = byUuid.value as Uuid;
      const row = this.draft.get(table.name, uuid);
      return row !== undefined && holds(uuid, row) ? [[uuid, row]] : [];
    }
    return [...this.draft.rows(table.name)].filter(([uuid, row]) => holds(uuid, row));
  }
}

/** A condition may name fewer or more members than the column may hold. */
function conditionValue(column: ColumnSchema, json: unknown): Value {
  return readValue({ ...column, min: 0, max: Infinity }, json);
}

function mustBeMutable(table: TableSchema, column: ColumnSchema): void {
  if (column.mutable && column.name !== '_uuid') return;
  throw new OperationError('constraint violation', `Cannot update immutable column ${column.name} in table ${table.name}.`);
}

function compare(actual: Value, test: string, wanted: Value): boolean {
  switch (test) {
    case '==':
      return equalValues(actual, wanted);
    case '!=':
      return !equalValues(actual, wanted);
    case 'includes':
      return members(wanted).every((member) => has(actual, member));
    case 'excludes':
      return members(wanted).every((member) => !has(actual, member));
    case '<':
      return (actual as number) < (wanted as number);
    case '<=':
      return (actual as number) <= (wanted as number);
    case '>':
      return (actual as number) > (wanted as number);
    case '>=':
      return (actual as number) >= (wanted as number);
    default:
      throw new OperationError('syntax error', `No function "${test}".`);
  }
}

type Member = Atom | readonly [Atom, Atom];

function members(value: Value): readonly Member[] {
  if (value === null) return [];
  if (value instanceof Set || value instanceof Map) return [...(value as Iterable<Member>)];
  return [value as Atom];
}

function has(value: Value, member: Member): boolean {
  if (value instanceof Map) return Array.isArray(member) && (value as ReadonlyMap<Atom, Atom>).get(member[0] as Atom) === member[1];
  if (value instanceof Set) return (value as ReadonlySet<Atom>).has(member as Atom);
  return value === member;
}

function mutated(table: TableSchema, column: ColumnSchema, before: Value, mutator: string, json: unknown): Value {
  if (mutator === 'insert' || mutator === 'delete') {
    if (column.kind === 'scalar')
      throw new OperationError('domain error', `${mutator} needs a set or a map, and ${column.name} is neither`);
    return fitting(
      table,
      column,
      column.kind === 'map' ? mutatedMap(column, before, mutator, json) : mutatedSet(column, before, mutator, json),
    );
  }
  const by = Number(json);
  const count = (atom: Atom): Atom => {
    if (typeof atom !== 'number') throw new OperationError('domain error', `Type ${typeof atom} does not support ${mutator}.`);
    if (by === 0 && (mutator === '/=' || mutator === '%=')) throw new OperationError('domain error', 'Division by zero.');
    const whole = column.key.type === 'integer';
    const results: Readonly<Record<string, number>> = {
      '+=': atom + by,
      '-=': atom - by,
      '*=': atom * by,
      '/=': whole ? Math.trunc(atom / by) : atom / by,
      '%=': atom % by,
    };
    const result = results[mutator];
    if (result === undefined) throw new OperationError('syntax error', `No mutator named ${mutator}.`);
    checkAtom(column, column.key, result);
    return result;
  };
  if (before instanceof Set) return new Set([...(before as ReadonlySet<Atom>)].map(count));
  return before === null ? null : count(before as Atom);
}

function mutatedSet(column: ColumnSchema, before: Value, mutator: 'insert' | 'delete', json: unknown): Value {
  const given = readValue({ ...column, kind: 'set', min: 0, max: Infinity }, json) as ReadonlySet<Atom>;
  const set = new Set<Atom>(before instanceof Set ? (before as ReadonlySet<Atom>) : before === null ? [] : [before as Atom]);
  for (const atom of given)
    if (mutator === 'insert') set.add(atom);
    else set.delete(atom);
  return set;
}

/** An existing key keeps its value; a pair is deleted only if its value is equal. */
function mutatedMap(column: ColumnSchema, before: Value, mutator: 'insert' | 'delete', json: unknown): Value {
  const map = new Map(before as ReadonlyMap<Atom, Atom>);
  const byPairs = Array.isArray(json) && json[0] === 'map';
  if (mutator === 'delete' && !byPairs) {
    for (const key of decodeMembers(column.key, json)) map.delete(key);
    return map;
  }
  const given = readValue({ ...column, min: 0, max: Infinity }, json) as ReadonlyMap<Atom, Atom>;
  for (const [key, value] of given) {
    if (mutator === 'insert') {
      if (!map.has(key)) map.set(key, value);
    } else if (map.get(key) === value) map.delete(key);
  }
  return map;
}

function fitting(table: TableSchema, column: ColumnSchema, value: Value): Value {
  const size = value instanceof Set || value instanceof Map ? value.size : 1;
  if (size < column.min || size > column.max)
    throw new OperationError(
      'constraint violation',
      `Attempted to store ${size} elements in attribute of column ${column.name} of table ${table.name}, which requires ${column.min} to ${column.max}`,
    );
  if (column.kind === 'optional') return [...(value as ReadonlySet<Atom>)][0] ?? null;
  return value;
}
