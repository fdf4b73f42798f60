/**
 * JSON as a Kubernetes API server stores it: integers exact up to 64 bits, larger ones as float64.
 *
 * Integers that a JavaScript number cannot hold are `JSON.rawJSON` values, which keep their text.
 */

declare global {
  interface JSON {
    rawJSON(text: string): RawJson;
    isRawJSON(value: unknown): value is RawJson;
  }
}

/** An integer beyond 2^53 that fits in 64 bits, as its text. */
export interface RawJson {
  readonly rawJSON: string;
}

export type Json = null | boolean | number | string | RawJson | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

/** @throws SyntaxError when the text is not JSON. */
export function parseJson(text: string): Json {
  if (!/\d{16}/.test(text)) return JSON.parse(text) as Json;
  const revive = (_key: string, value: unknown, context: { readonly source?: string }): unknown => {
    if (typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(context.source ?? '')) return value;
    const exact = BigInt(context.source ?? '0');
    return inInt64(exact) ? JSON.rawJSON(exact.toString()) : value;
  };
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown) as Json;
}

/** A JSON syntax error in Go's wording if that is short. */
export function saidOfJson(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : String(error);
  const position = Number(/at position (\d+)/.exec(message)?.[1] ?? -1);
  if (message.startsWith('Unexpected end of JSON input') || position >= text.length) return 'unexpected end of JSON input';
  if (message.startsWith('Unexpected non-whitespace character after JSON'))
    return `invalid character '${text.charAt(position)}' after top-level value`;
  const odd = /^Unexpected token '(.)'/.exec(message)?.[1];
  return odd === undefined ? message : `invalid character '${odd}' looking for beginning of value`;
}

/** Go's name for the type of a JSON value. */
export function goKindOf(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (value === null || isRawJson(value)) return value === null ? 'null' : 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** A value in Go's default format: `map[a:[1 2]]`. */
export function goPrinted(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(goPrinted).join(' ')}]`;
  if (value === null) return '<nil>';
  if (typeof value === 'number') return goNumber(value);
  if (!isObject(value)) return isRawJson(value) ? JSON.stringify(value) : String(value);
  const entries = Object.keys(value)
    .sort()
    .map((key) => `${key}:${goPrinted(value[key] ?? null)}`);
  return `map[${entries.join(' ')}]`;
}

/** Integers of 64 bits in full, other numbers from a million on with an exponent. */
function goNumber(value: number): string {
  if (value === 0) return '0';
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) return String(value);
  const [digits = '', power = ''] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return String(value);
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** JSON as Go encodes it, with HTML escapes. */
export function goEncoded(value: Json): string {
  return JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, (odd) => `\\u${odd.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export function inInt64(value: bigint): boolean {
  return value >= MIN_INT64 && value <= MAX_INT64;
}

/** Checks the field first: `JSON.isRawJSON` is a slow call out of the language, and this runs very often. */
export function isRawJson(value: unknown): value is RawJson {
  return typeof value === 'object' && value !== null && (value as Partial<RawJson>).rawJSON !== undefined && JSON.isRawJSON(value);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJson(value);
}

/** The limit for objects. A deeper one could be decoded but not encoded (stack overflow), and then no list of its kind could be sent. */
export const MOST_LEVELS = 1_000;

/** Whether lists and objects are nested deeper than this. */
export function isDeeper(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part as Json, levels - 1));
}

/** A deep copy; raw integers are immutable and shared. */
export function clone<T extends Json>(value: T): T {
  return copy(value) as T;
}

function copy(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  if (isRawJson(value)) return value;
  const result: JsonObject = { ...value };
  for (const key of Object.keys(result)) {
    const member = result[key] as Json;
    if (typeof member === 'object' && member !== null) result[key] = copy(member);
  }
  return result;
}

/**
 * Deep equality of JSON as this server stores it: a field with the value undefined differs from an absent one, and numbers of any size are
 * compared by their text. Therefore it is not the product's `equal`.
 */
export function equal(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => equal(item, b[index]));
  if (isRawJson(a)) return isRawJson(b) && a.rawJSON === b.rawJSON;
  if (Array.isArray(b) || isRawJson(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  for (const key of keys) {
    const other = b[key];
    // A field with the value undefined differs from an absent field.
    if (a[key] !== other ? !equal(a[key], other) : other === undefined && !(key in b)) return false;
  }
  return true;
}

/** The value at a path of keys, or undefined where the path leaves the objects. */
export function at(value: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  let here: Json | undefined = value;
  for (const key of path) {
    if (typeof here !== 'object' || here === null) return undefined;
    if (Array.isArray(here)) here = typeof key === 'number' ? here[key] : undefined;
    else here = typeof key === 'string' && Object.hasOwn(here, key) && !isRawJson(here) ? here[key] : undefined;
  }
  return here;
}

export function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

export function object(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

export function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}
