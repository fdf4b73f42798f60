/**
 * Values between the store and a client in the same process, without JSON text in between: each side gets what it would read in that
 * text. The store's objects are immutable, so a client is given them as they are.
 */
import type { Json, JsonObject } from './json.ts';
import { inInt64, isRawJson } from './json.ts';

const shown = new WeakMap<object, unknown>();

/** What a client reads of a value of the store: integers beyond 2^53 are bigint. Most hold none, and are themselves what is read. */
export function asRead(value: Json): unknown {
  if (typeof value !== 'object' || value === null) return readOf(value);
  let read = shown.get(value);
  if (read === undefined) shown.set(value, (read = readOf(value)));
  return read;
}

/** The value itself where nothing in it reads otherwise. */
function readOf(value: Json | undefined): unknown {
  if (typeof value === 'number') return exact(value) ?? value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(readOf);
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  if (isRawJson(value)) return BigInt(value.rawJSON);
  let copy: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    const member = value[key];
    const read = readOf(member);
    if (read === member && read !== undefined) continue;
    copy ??= { ...value };
    if (read === undefined) delete copy[key];
    else copy[key] = read;
  }
  return copy ?? value;
}

/** The integer that a number's text shows, where it is beyond 2^53. */
function exact(value: number): bigint | undefined {
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return undefined;
  const text = String(value);
  return /^-?\d+$/.test(text) ? BigInt(text) : undefined;
}

function stored(value: bigint): Json {
  const plain = Number(value);
  return Number.isSafeInteger(plain) || !inInt64(value) ? plain : JSON.rawJSON(value.toString());
}

/** What a server reads of a client's body: a copy of its own, which it may change. */
export function asSent(body: object): Json {
  return sentOf(body);
}

function sentOf(value: unknown): Json {
  switch (typeof value) {
    case 'bigint':
      return stored(value);
    case 'number': {
      const integer = exact(value);
      return integer !== undefined ? stored(integer) : Number.isFinite(value) ? value : null;
    }
    case 'object': {
      if (value === null) return null;
      if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : sentOf(item)));
      const copy: JsonObject = {};
      for (const [key, member] of Object.entries(value)) if (member !== undefined) copy[key] = sentOf(member);
      return copy;
    }
    default:
      return value as Json;
  }
}
