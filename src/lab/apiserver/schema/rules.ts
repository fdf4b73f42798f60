/** Evaluates the CEL rules of a schema, once its plain validation has passed. */
import type { Json } from '../json.ts';
import { at, isObject, isRawJson } from '../json.ts';
import type { FieldError, FieldErrorType } from '../status.ts';
import type { Schema, ValidationRule } from './schema.ts';

const REASONS: Readonly<Record<string, FieldErrorType>> = {
  FieldValueInvalid: 'Invalid',
  FieldValueForbidden: 'Forbidden',
  FieldValueRequired: 'Required',
  FieldValueDuplicate: 'Duplicate',
};

/** @param old the value before an update: rules that compare with it are asked only where there was one. */
export function validateRules(schema: Schema, value: Json, old: Json | undefined): FieldError[] {
  const errors: FieldError[] = [];
  if (hasRules(schema)) visit(schema, value, old, '', errors);
  return errors;
}

const ruled = new WeakMap<Schema, boolean>();

/** Of its own, or further below. */
function hasRules(schema: Schema): boolean {
  const known = ruled.get(schema);
  if (known !== undefined) return known;
  const { rules = [], items, properties, additionalProperties } = schema;
  const children = [items, additionalProperties, ...(properties?.values() ?? [])];
  const has = rules.length > 0 || children.some((child) => typeof child === 'object' && hasRules(child));
  ruled.set(schema, has);
  return has;
}

function visit(schema: Schema, value: Json, old: Json | undefined, path: string, errors: FieldError[]): void {
  for (const rule of schema.rules ?? []) {
    if (rule.isTransition && old === undefined) continue;
    const problem = broken(rule, value, old);
    if (problem !== undefined) errors.push(fault(rule, value, path, problem));
  }
  const items = schema.items;
  if (Array.isArray(value)) {
    if (items !== undefined && hasRules(items))
      value.forEach((item, index) => visit(items, item, counterpart(schema, item, old), `${path}[${index}]`, errors));
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const child = schema.properties?.get(key) ?? (schema.additionalProperties === true ? undefined : schema.additionalProperties);
      if (child === undefined || !hasRules(child)) continue;
      visit(child, value[key] as Json, at(old, key), path === '' ? key : `${path}.${key}`, errors);
    }
  }
}

/** Elements of a list can only be told again by their keys. */
function counterpart(schema: Schema, item: Json, old: Json | undefined): Json | undefined {
  if (schema.listType !== 'map' || !Array.isArray(old)) return undefined;
  return old.find((before) => (schema.listMapKeys ?? []).every((key) => at(before, key) === at(item, key)));
}

/** An API server shows the type of a value that breaks a rule, not the value. */
function typeName(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (isObject(value)) return 'object';
  if (isRawJson(value) || Number.isInteger(value)) return 'integer';
  return typeof value;
}

/** @returns what is wrong, or undefined. */
function broken(rule: ValidationRule, value: Json, old: Json | undefined): string | undefined {
  if (rule.check === undefined) return undefined;
  try {
    return rule.check(value, old) ? undefined : (rule.message ?? `failed rule: ${rule.rule}`);
  } catch (error) {
    return `rule evaluation error: ${rule.rule}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function fault(rule: ValidationRule, value: Json, path: string, problem: string): FieldError {
  const type = REASONS[rule.reason ?? ''] ?? 'Invalid';
  const field = `${path}${rule.fieldPath ?? ''}` || '<nil>';
  if (type === 'Forbidden') return { type, field, message: `Forbidden: ${problem}` };
  if (type === 'Required') return { type, field, message: `Required value: ${problem}` };
  const shown = JSON.stringify(typeName(value));
  return { type, field, message: `${type === 'Duplicate' ? 'Duplicate' : 'Invalid'} value: ${shown}: ${problem}` };
}
