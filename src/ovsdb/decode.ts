import { OvsdbError } from './errors.ts';
import type { BaseType, ColumnSchema } from './schema.ts';
import type { Atom, Value } from './value.ts';

/** Shared by all rows: most sets and maps of most rows are empty, and an empty one for each row would take 200 bytes. */
export const emptySet: ReadonlySet<Atom> = new Set();
export const emptyMap: ReadonlyMap<Atom, Atom> = new Map();

/** Keys of maps repeat in every row ("external_ids"): each is kept once. Bounded, since a key may be anything. */
const knownKeys = new Map<string, string>();
const maxKnownKeys = 4_096;

/** RFC 7047 section 5.1 `<atom>` @throws {OvsdbError} OVSDB_BAD_VALUE */
export function decodeAtom(type: BaseType, json: unknown): Atom {
  switch (type.type) {
    case 'uuid':
      if (Array.isArray(json) && json[0] === 'uuid' && typeof json[1] === 'string') return json[1];
      break;
    case 'string':
      if (typeof json === 'string') return json;
      break;
    case 'boolean':
      if (typeof json === 'boolean') return json;
      break;
    case 'integer':
    case 'real':
      if (typeof json === 'number') return json;
      break;
  }
  throw badValue(`an atom of type ${type.type}`, json);
}

/** The members of a `<set>`, which the protocol writes as a bare atom where there is one. */
export function decodeMembers(type: BaseType, json: unknown): Atom[] {
  if (!Array.isArray(json) || json[0] !== 'set') return [decodeAtom(type, json)];
  const members: unknown = json[1];
  if (!Array.isArray(members)) throw badValue('a set', json);
  return members.map((member) => decodeAtom(type, member));
}

/** The pairs of a `<map>`. */
export function decodePairs(column: ColumnSchema, json: unknown): [Atom, Atom][] {
  const pairs: unknown = Array.isArray(json) && json[0] === 'map' ? json[1] : undefined;
  if (!Array.isArray(pairs)) throw badValue('a map', json);
  return pairs.map((pair: unknown) => {
    if (!Array.isArray(pair) || pair.length !== 2) throw badValue('a pair of a map', pair);
    return [sharedKey(decodeAtom(column.key, pair[0])), decodeAtom(column.value!, pair[1])];
  });
}

/** A column's value as the server writes it, in the shape of its {@link ColumnSchema}. @throws {OvsdbError} OVSDB_BAD_VALUE */
export function decodeValue(column: ColumnSchema, json: unknown): Value {
  switch (column.kind) {
    case 'scalar':
      return decodeAtom(column.key, json);
    case 'optional':
      return decodeMembers(column.key, json)[0] ?? null;
    case 'set': {
      const members = decodeMembers(column.key, json);
      return members.length === 0 ? emptySet : new Set(members);
    }
    case 'map': {
      const pairs = decodePairs(column, json);
      return pairs.length === 0 ? emptyMap : new Map(pairs);
    }
  }
}

/** The value of a column that an insert leaves out (RFC 7047 section 5.2.1), and that update2 and update3 leave out, too. */
export function defaultValue(column: ColumnSchema): Value {
  if (column.kind === 'optional') return null;
  if (column.kind === 'map') return column.min === 0 ? emptyMap : new Map([[defaultAtom(column.key), defaultAtom(column.value!)]]);
  if (column.kind === 'set') return column.min === 0 ? emptySet : new Set([defaultAtom(column.key)]);
  return defaultAtom(column.key);
}

function defaultAtom(type: BaseType): Atom {
  switch (type.type) {
    case 'uuid':
      return '00000000-0000-0000-0000-000000000000';
    case 'string':
      return '';
    case 'boolean':
      return false;
    case 'integer':
    case 'real':
      return 0;
  }
}

function sharedKey(key: Atom): Atom {
  if (typeof key !== 'string') return key;
  const known = knownKeys.get(key);
  if (known !== undefined) return known;
  if (knownKeys.size < maxKnownKeys) knownKeys.set(key, key);
  return key;
}

function badValue(expected: string, json: unknown): OvsdbError {
  return new OvsdbError('OVSDB_BAD_VALUE', `the server sent ${JSON.stringify(json)?.slice(0, 200)} where ${expected} was expected`);
}
