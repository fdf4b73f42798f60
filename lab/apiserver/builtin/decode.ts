/** Decodes an object of a built-in kind as typed Go clients and servers do: nulls are absent, and types must match. */
import type { Json } from '../json.ts';
import { isObject, isRawJson } from '../json.ts';
import { formatQuantity, parseQuantity } from '../quantity.ts';
import { matchesFormat } from '../schema/formats.ts';
import type { Schema } from '../schema/schema.ts';
import { omittedWhenEmpty } from './protobuf.ts';

const MICRO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(?:Z|[+-]\d\d:\d\d)$/;

const NO_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NO_SUFFIX = "unable to parse quantity's suffix";

/** The message of a mismatch on the first pass, which builds no paths. */
const UNFIT = 'does not fit';

/**
 * Normalises in place.
 * @param old the value before the update: equal parts were decoded then, and stay as they are
 * @returns the mismatch as one sentence, or undefined.
 */
export function decodeBuiltin(schema: Schema, value: Json, path = '', old?: Json): string | undefined {
  // Paths are needed only for a mismatch, which is rare: then a second pass builds them.
  return decoded(schema, value, undefined, old) === undefined ? undefined : decoded(schema, value, path, old);
}

function decoded(schema: Schema, value: Json, path: string | undefined, old: Json | undefined): string | undefined {
  if (Array.isArray(value)) return decodeList(schema, value, path, old);
  if (!isObject(value)) return undefined;
  const was = isObject(old) ? old : undefined;
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (was !== undefined && typeof member === 'object' && member !== null && was[key] === member) continue;
    const child = schema.properties?.get(key) ?? (schema.additionalProperties === true ? undefined : schema.additionalProperties);
    if (child === undefined) continue;
    if (value[key] === null && child.preserveUnknownFields !== true) {
      delete value[key];
      continue;
    }
    if (
      isEmpty(value[key]) &&
      omittedWhenEmpty(schema.name ?? '')?.has(key) === true &&
      (child.type !== 'object' || child.additionalProperties !== undefined) &&
      mismatch(child, value[key] as Json, undefined) === undefined
    ) {
      delete value[key];
      continue;
    }
    const here = path === undefined ? undefined : path === '' ? key : `${path}.${key}`;
    if (child.format === 'quantity' && typeof value[key] === 'number') value[key] = String(value[key]);
    // A YAML block scalar ends with a line break, which Go's decoder ignores.
    if (child.format === 'byte' && typeof value[key] === 'string') value[key] = value[key].replaceAll(/[\r\n]/g, '');
    const problem = mismatch(child, value[key] as Json, here) ?? decoded(child, value[key] as Json, here, was?.[key]);
    if (problem !== undefined) return problem;
    if (child.format === 'quantity') value[key] = canonicalQuantity(value[key] as string);
  }
  return undefined;
}

/** The canonical form of a quantity, in which a server returns it: 0.5 is 500m. */
function canonicalQuantity(written: string): string {
  const quantity = parseQuantity(written);
  return quantity === undefined ? written : formatQuantity(quantity);
}

/** The offset of the first error in base64, as Go's decoder counts. */
function base64ErrorAt(value: string): number {
  const foreign = value.search(/[^A-Za-z0-9+/]/);
  if (foreign < 0) return value.length - (value.length % 4);
  const padding = /^==?/.exec(value.slice(foreign))?.[0].length ?? 0;
  const missing = 4 - (foreign % 4);
  if (padding === 0 || missing > 2) return foreign;
  if (missing === 2 && padding === 1) return foreign + 1 === value.length ? value.length : foreign;
  return foreign + missing;
}

function isEmpty(value: Json | undefined): boolean {
  return (
    value === '' ||
    value === 0 ||
    value === false ||
    (typeof value === 'object' && value !== null && !isRawJson(value) && Object.keys(value).length === 0)
  );
}

function decodeList(schema: Schema, value: Json[], path: string | undefined, old: Json | undefined): string | undefined {
  const items = schema.items;
  if (items === undefined) return undefined;
  const was = Array.isArray(old) ? old : undefined;
  for (const [index, item] of value.entries()) {
    if (was !== undefined && typeof item === 'object' && item !== null && was[index] === item) continue;
    const problem = mismatch(items, item, path) ?? decoded(items, item, path, was?.[index]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function mismatch(schema: Schema, value: Json, path: string | undefined): string | undefined {
  const actual = Array.isArray(value) ? 'array' : isRawJson(value) ? 'number' : typeof value;
  if (schema.intOrString === true)
    return actual === 'number' || actual === 'string' ? undefined : unmarshal(actual, path, 'intstr.IntOrString');
  switch (schema.type) {
    case 'string':
      if (actual !== 'string') return unmarshal(actual, path, 'string');
      if (schema.format === 'byte' && !matchesFormat('byte', value as string))
        return `illegal base64 data at input byte ${base64ErrorAt(value as string)}`;
      if (schema.format === 'quantity' && parseQuantity(value as string) === undefined)
        return /^[+-]?[0-9.]+[eEinumkKMGTP]*[-+]?[0-9]*$/.test(value as string) ? NO_SUFFIX : NO_QUANTITY;
      if (schema.format === 'micro-time' && !MICRO_TIME.test(value as string))
        return `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05.000000Z07:00": cannot parse ${JSON.stringify(value)}`;
      if (schema.format === 'date-time' && !matchesFormat('date-time', value as string))
        return `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(value)} as "2006"`;
      return undefined;
    case 'integer':
      if (actual === 'number' && fitsInteger(value, schema.format)) return undefined;
      return unmarshal(actual === 'number' ? `number ${JSON.stringify(value)}` : actual, path, schema.format ?? 'int64');
    case 'number':
      return actual === 'number' ? undefined : unmarshal(actual, path, 'float64');
    case 'boolean':
      return actual === 'boolean' ? undefined : unmarshal(actual, path, 'bool');
    case 'array':
      return actual === 'array' ? undefined : unmarshal(actual, path, `[]${schema.items?.name ?? schema.items?.type ?? 'interface'}`);
    case 'object':
      return isObject(value) ? undefined : unmarshal(actual, path, schema.name ?? 'map[string]string');
    default:
      return undefined;
  }
}

function fitsInteger(value: Json, format: string | undefined): boolean {
  if (isRawJson(value)) return format !== 'int32';
  return Number.isInteger(value) && (format !== 'int32' || Math.abs(Number(value) + 0.5) < 2 ** 31);
}

function unmarshal(actual: string, path: string | undefined, expected: string): string {
  if (path === undefined) return UNFIT;
  const shown = actual === 'boolean' ? 'bool' : actual;
  return `json: cannot unmarshal ${shown} into Go struct field ${path} of type ${expected}`;
}
