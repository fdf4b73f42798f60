/** Validates a custom object against its schema, with the messages an API server gives. */
import type { Json, JsonObject } from '../json.ts';
import { equal, isObject, isRawJson } from '../json.ts';
import type { FieldError } from '../status.ts';
import { duplicate, invalidValue, notSupported, required } from '../status.ts';
import { matchesFormat } from './formats.ts';
import type { Schema } from './schema.ts';

/** @param old the value before the update, which was valid: equal parts are valid, too */
export function validate(schema: Schema, value: Json, old?: Json): FieldError[] {
  const errors: FieldError[] = [];
  // Paths are needed only for errors, which are rare: then a second pass builds them.
  visit(schema, value, undefined, errors, old);
  if (errors.length === 0) return errors;
  const findings: FieldError[] = [];
  visit(schema, value, '', findings, old);
  return findings;
}

/** @param path undefined on the first pass, which builds no paths */
function visit(schema: Schema, value: Json, path: string | undefined, errors: FieldError[], old?: Json): void {
  const here = path ?? '';
  if (value === null) {
    if (schema.nullable === true || (schema.type === undefined && schema.intOrString !== true)) return;
    errors.push(wrongType(here, schema.intOrString === true ? 'integer,string' : (schema.type ?? 'object'), 'null'));
    return;
  }
  const actual = typeOf(value);
  if (schema.intOrString === true) {
    if (actual !== 'integer' && actual !== 'string') {
      errors.push(wrongType(here, 'integer,string', actual));
      visitCombinations(schema, value, here, errors);
      return;
    }
  } else if (schema.type !== undefined && actual !== schema.type && !(schema.type === 'number' && actual === 'integer')) {
    errors.push(wrongType(here, schema.type, actual));
    if (actual !== 'number') return;
  }
  visitCombinations(schema, value, here, errors);
  if (schema.enum !== undefined && !schema.enum.some((allowed) => equal(allowed, value)))
    errors.push(notSupported(here, value, schema.enum));
  if (typeof value === 'string') visitString(schema, value, here, errors);
  else if (Array.isArray(value)) visitArray(schema, value, path, errors, old);
  else if (isObject(value)) visitObject(schema, value, path, errors, old);
  else if (typeof value !== 'boolean') visitNumber(schema, value, here, errors);
}

function visitString(schema: Schema, value: string, path: string, errors: FieldError[]): void {
  const length = lengthFor(schema, value);
  // Only the first of these errors is reported.
  if (schema.maxLength !== undefined && length > schema.maxLength)
    errors.push({ type: 'TooLong', field: path, message: `Too long: may not be more than ${schema.maxLength} bytes` });
  else if (schema.minLength !== undefined && length < schema.minLength)
    errors.push(invalidValue(path, value, `${path} in body should be at least ${schema.minLength} chars long`));
  else if (schema.pattern !== undefined && !schema.pattern.test(value))
    errors.push(invalidValue(path, value, `${path} in body should match '${schema.pattern.source}'`));
  if (schema.format !== undefined && !matchesFormat(schema.format, value)) {
    errors.push(invalidValue(path, value, `${path} in body must be of type ${schema.format}: ${JSON.stringify(value)}`));
  }
}

/** The length in characters, counted only if necessary: there are at most as many as UTF-16 units. */
function lengthFor({ maxLength, minLength }: Schema, value: string): number {
  const counts = (maxLength !== undefined && value.length > maxLength) || minLength !== undefined;
  return counts ? Array.from(value).length : value.length;
}

/** `format` has no effect on numbers: an API server does not check custom objects for int32, int64 or float. */
function visitNumber(schema: Schema, value: Json, path: string, errors: FieldError[]): void {
  const number = isRawJson(value) ? Number(value.rawJSON) : Number(value);
  const fail = (rule: string): void => void errors.push(invalidValue(path, value, `${path} in body ${rule}`));
  if (schema.minimum !== undefined) {
    if (schema.exclusiveMinimum === true ? number <= schema.minimum : number < schema.minimum) {
      fail(`should be greater than ${schema.exclusiveMinimum === true ? '' : 'or equal to '}${schema.minimum}`);
    }
  }
  if (schema.maximum !== undefined) {
    if (schema.exclusiveMaximum === true ? number >= schema.maximum : number > schema.maximum) {
      fail(`should be less than ${schema.exclusiveMaximum === true ? '' : 'or equal to '}${schema.maximum}`);
    }
  }
  if (schema.multipleOf !== undefined && !passesForInteger(times(number, schema.multipleOf)))
    fail(`should be a multiple of ${schema.multipleOf}`);
}

function visitArray(schema: Schema, value: Json[], path: string | undefined, errors: FieldError[], old: Json | undefined): void {
  const here = path ?? '';
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    errors.push({ type: 'TooMany', field: here, message: `Too many: ${value.length}: must have at most ${schema.maxItems} items` });
  }
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    errors.push(invalidValue(here, value.length, `${here} in body should have at least ${schema.minItems} items`));
  }
  const items = schema.items;
  if (items !== undefined) {
    const was = Array.isArray(old) ? old : undefined;
    value.forEach((item, index) => {
      if (!isSame(item, was?.[index])) visit(items, item, path === undefined ? undefined : `${path}[${index}]`, errors, was?.[index]);
    });
  }
  visitIdentities(schema, value, here, errors);
}

/** In lists of type set or map each element, or each key, is unique. */
function visitIdentities(schema: Schema, value: Json[], path: string, errors: FieldError[]): void {
  if (schema.listType !== 'set' && schema.listType !== 'map') return;
  const seen = new Set<string>();
  value.forEach((item, index) => {
    let identity = item;
    if (schema.listType === 'map') {
      if (!isObject(item)) return;
      const keys: JsonObject = {};
      for (const key of schema.listMapKeys ?? []) if (item[key] !== undefined) keys[key] = item[key];
      identity = keys;
    }
    const text = JSON.stringify(identity);
    if (seen.has(text)) errors.push(duplicate(`${path}[${index}]`, identity));
    seen.add(text);
  });
}

function visitObject(schema: Schema, value: JsonObject, path: string | undefined, errors: FieldError[], old: Json | undefined): void {
  const here = path ?? '';
  const keys = Object.keys(value);
  const size = keys.length;
  if (schema.maxProperties !== undefined && size > schema.maxProperties) {
    errors.push({ type: 'TooMany', field: here, message: `Too many: ${size}: must have at most ${schema.maxProperties} items` });
  }
  if (schema.minProperties !== undefined && size < schema.minProperties) {
    errors.push(invalidValue(here, size, `${here} in body should have at least ${schema.minProperties} properties`));
  }
  const additional = schema.additionalProperties === true ? undefined : schema.additionalProperties;
  const was = isObject(old) ? old : undefined;
  for (const key of keys) {
    const child = schema.properties?.get(key) ?? additional;
    const member = value[key] as Json;
    if (child !== undefined && !isSame(member, was?.[key]))
      visit(child, member, path === undefined ? undefined : join(path, key), errors, was?.[key]);
  }
  for (const key of schema.required ?? []) if (!(key in value)) errors.push(required(join(here, key)));
  if (schema.embeddedResource === true) {
    for (const key of ['apiVersion', 'kind'])
      if (typeof value[key] !== 'string' || value[key] === '') errors.push(required(join(here, key), 'must not be empty'));
  }
}

/** For a combination that fails, the errors of its first branch are reported as well. */
function visitCombinations({ anyOf, oneOf, allOf, not }: Schema, value: Json, path: string, errors: FieldError[]): void {
  if (anyOf === undefined && oneOf === undefined && allOf === undefined && not === undefined) return;
  const problems = (branch: Schema): FieldError[] => {
    const found: FieldError[] = [];
    visit(branch, value, path, found);
    return found;
  };
  // The text of such an error names the field; its `field` does not.
  const fail = (rule: string): void => void errors.push(invalidValue('<nil>', '', `${JSON.stringify(path)} must ${rule}`));
  if (anyOf !== undefined) {
    const found = anyOf.map(problems);
    if (!found.some(isEmpty)) {
      fail('validate at least one schema (anyOf)');
      errors.push(...(found[0] ?? []));
    }
  }
  if (oneOf !== undefined) {
    const found = oneOf.map(problems);
    const valid = found.filter(isEmpty).length;
    if (valid !== 1) fail(`validate one and only one schema (oneOf). Found ${valid === 0 ? 'none valid' : `${valid} valid alternatives`}`);
    if (valid === 0) errors.push(...(found[0] ?? []));
  }
  if (allOf !== undefined) {
    const found = allOf.map(problems);
    const valid = found.filter(isEmpty).length;
    errors.push(...found.flat());
    if (valid < found.length) fail(`validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`);
  }
  if (not !== undefined && isEmpty(problems(not))) fail('not validate the schema (not)');
}

function isSame(value: Json, old: Json | undefined): boolean {
  return typeof value === 'object' && value !== null && value === old;
}

function isEmpty(found: readonly FieldError[]): boolean {
  return found.length === 0;
}

function typeOf(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (isRawJson(value)) return 'integer';
  if (typeof value === 'number') return passesForInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** As in an API server's validation: at most 2^53, and within a billionth (relative to the sum of both) of an integer. */
function passesForInteger(value: number): boolean {
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(value);
  if (whole === value) return true;
  return whole !== 0 && Math.abs(value - whole) / (Math.abs(value) + Math.abs(whole)) < 1e-9;
}

/** A fractional factor is inverted first: in floating point, 0.3 divided by 0.1 is not 3. */
function times(number: number, factor: number): number {
  return factor < 1 ? (1 / factor) * number : number / factor;
}

function wrongType(path: string, expected: string, shown: string): FieldError {
  return {
    type: 'TypeInvalid',
    field: path === '' ? '<nil>' : path,
    message: `Invalid value: ${JSON.stringify(shown)}: ${path} in body must be of type ${expected}: ${JSON.stringify(shown)}`,
  };
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}
