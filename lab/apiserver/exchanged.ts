/**
 * Passes values between the store and a client in the same process without encoding JSON: each side gets the values that it would decode
 * from JSON. The store's objects are immutable, so the client gets the same objects.
 */
import type { Json, JsonObject } from './json.ts';
import { inInt64, isRawJson } from './json.ts';

const shown = new WeakMap<object, unknown>();

/** A value of the store as a client decodes it: integers beyond 2^53 are bigint. A value without such integers is returned itself. */
export function asRead(value: Json): unknown {
  if (typeof value !== 'object' || value === null) return readOf(value);
  let read = shown.get(value);
  if (read === undefined) shown.set(value, (read = readOf(value)));
  return read;
}

/** Returns the value itself if no part of it changes. */
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

/** The number as bigint if it is an integer beyond 2^53. */
function exact(value: number): bigint | undefined {
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return undefined;
  const text = String(value);
  return /^-?\d+$/.test(text) ? BigInt(text) : undefined;
}

function stored(value: bigint): Json {
  const plain = Number(value);
  return Number.isSafeInteger(plain) || !inInt64(value) ? plain : JSON.rawJSON(value.toString());
}

/** A client's body as a server decodes it: a separate copy, which the server may change. */
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
