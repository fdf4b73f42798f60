/**
 * Decodes Kubernetes' protobuf encoding of built-in kinds, which `kubectl create <kind>` and Go's typed clients send.
 *
 * Answers are JSON, which all of these clients accept. Fields with an unknown number are skipped.
 */
import numbers from './protobuf-fields.json' with { type: 'json' };
import type { Json, JsonObject } from '../json.ts';
import { isObject } from '../json.ts';
import type { Schema } from '../schema/schema.ts';
import { builtinSchema } from './types.ts';

type Fields = { readonly [number: string]: string | Fields };

const FIELDS = numbers as unknown as Readonly<Record<string, Fields>>;
const MAGIC = Buffer.from('k8s\0');
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

interface Field {
  readonly number: number;
  readonly wire: number;
  readonly value: bigint;
  readonly bytes: Buffer;
}

/**
 * @param kindOf names the built-in type of an apiVersion and kind, such as `Pod`.
 * @throws RangeError when the bytes are not such a message or the type is unknown.
 */
export function decodeProtobuf(body: Buffer, kindOf: (apiVersion: string, kind: string) => string | undefined): JsonObject {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC)) throw new RangeError('the protobuf message does not begin with k8s');
  let apiVersion = '';
  let kind = '';
  let raw = Buffer.alloc(0);
  for (const field of fieldsOf(body.subarray(MAGIC.length))) {
    if (field.number === 1) {
      for (const inner of fieldsOf(field.bytes)) {
        if (inner.number === 1) apiVersion = inner.bytes.toString('utf8');
        if (inner.number === 2) kind = inner.bytes.toString('utf8');
      }
    } else if (field.number === 2) raw = Buffer.from(field.bytes);
  }
  const type = kindOf(apiVersion, kind);
  if (kind === 'SelfSubjectReview') return { apiVersion, kind };
  if (type === undefined || FIELDS[type] === undefined) throw new RangeError(`no protobuf description of ${apiVersion} ${kind}`);
  const object: JsonObject = { apiVersion, kind };
  readMessage(raw, FIELDS[type], builtinSchema(type), object);
  return object;
}

/**
 * The fields of a type that Go omits when they are empty: those that are neither pointers nor required.
 * Undefined for a type that is not described.
 */
export function omittedWhenEmpty(type: string): ReadonlySet<string> | undefined {
  const fields = FIELDS[type];
  if (fields === undefined) return undefined;
  let names = omitted.get(type);
  if (names === undefined) {
    const required = builtinSchema(type).required ?? [];
    names = new Set(plainNames(fields).filter((name) => !required.includes(name)));
    omitted.set(type, names);
  }
  return names;
}

const omitted = new Map<string, Set<string>>();

function plainNames(fields: Fields): string[] {
  return Object.values(fields).flatMap((field) => (typeof field === 'string' ? (field.startsWith('*') ? [] : [field]) : plainNames(field)));
}

function* fieldsOf(bytes: Buffer): Generator<Field> {
  let offset = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[offset++];
      if (byte === undefined || shift > 63n) throw new RangeError('a protobuf number ends too early');
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const take = (length: number): Buffer => {
    if (offset + length > bytes.length) throw new RangeError('a protobuf field ends too early');
    offset += length;
    return bytes.subarray(offset - length, offset);
  };
  while (offset < bytes.length) {
    const tag = Number(varint());
    const [number, wire] = [tag >>> 3, tag & 7];
    if (wire === VARINT) yield { number, wire, value: varint(), bytes: Buffer.alloc(0) };
    else if (wire === BYTES) yield { number, wire, value: 0n, bytes: take(Number(varint())) };
    else if (wire === FIXED64) yield { number, wire, value: 0n, bytes: take(8) };
    else if (wire === FIXED32) yield { number, wire, value: 0n, bytes: take(4) };
    else throw new RangeError(`protobuf wire type ${wire} is not used here`);
  }
}

function readMessage(bytes: Buffer, fields: Fields, schema: Schema, into: JsonObject): void {
  for (const field of fieldsOf(bytes)) {
    const described = fields[field.number];
    if (described === undefined) continue;
    if (typeof described !== 'string') {
      readMessage(field.bytes, described, schema, into);
      continue;
    }
    const pointer = described.startsWith('*');
    const name = pointer ? described.slice(1) : described;
    const child = schema.properties?.get(name);
    if (child === undefined) continue;
    if (child.type === 'array') {
      const known = into[name];
      const items = Array.isArray(known) ? known : [];
      items.push(readValue(field, child.items ?? {}));
      into[name] = items;
    } else if (child.additionalProperties !== undefined && child.additionalProperties !== true) {
      const map = isObject(into[name]) ? into[name] : {};
      readEntry(field.bytes, child.additionalProperties, map);
      into[name] = map;
    } else {
      const value = readValue(field, child);
      if (value !== null && (pointer || (value !== '' && value !== 0 && value !== false))) into[name] = value;
    }
  }
}

function readEntry(bytes: Buffer, schema: Schema, map: JsonObject): void {
  let key = '';
  let value: Json = '';
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) key = field.bytes.toString('utf8');
    if (field.number === 2) value = readValue(field, schema);
  }
  map[key] = value;
}

function readValue(field: Field, schema: Schema): Json {
  if (schema.intOrString === true) return readIntOrString(field.bytes);
  if (schema.format === 'date-time' || schema.format === 'micro-time') return readTime(field.bytes, schema.format === 'micro-time');
  if (schema.format === 'quantity') return readFirstString(field.bytes);
  if (schema.format === 'byte') return field.bytes.toString('base64');
  switch (schema.type) {
    case 'string':
      return field.bytes.toString('utf8');
    case 'boolean':
      return field.value !== 0n;
    case 'integer':
      return Number(BigInt.asIntN(64, field.value));
    case 'number':
      return field.bytes.readDoubleLE(0);
    default: {
      const object: JsonObject = {};
      const fields = FIELDS[schema.name ?? ''];
      if (fields !== undefined) readMessage(field.bytes, fields, schema, object);
      return object;
    }
  }
}

function readIntOrString(bytes: Buffer): Json {
  let isText = false;
  let number = 0;
  let text = '';
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) isText = field.value !== 0n;
    if (field.number === 2) number = Number(BigInt.asIntN(32, field.value));
    if (field.number === 3) text = field.bytes.toString('utf8');
  }
  return isText ? text : number;
}

/** @returns null for Go's zero time, which means absent. */
function readTime(bytes: Buffer, micro: boolean): string | null {
  let seconds: bigint | undefined;
  let nanoseconds = 0;
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1) seconds = BigInt.asIntN(64, field.value);
    if (field.number === 2) nanoseconds = Number(BigInt.asIntN(32, field.value));
  }
  if (seconds === undefined || seconds < -62_000_000_000n) return null;
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return micro ? `${whole}.${String(Math.floor(nanoseconds / 1000)).padStart(6, '0')}Z` : `${whole}Z`;
}

function readFirstString(bytes: Buffer): string {
  for (const field of fieldsOf(bytes)) if (field.number === 1) return field.bytes.toString('utf8');
  return '0';
}
