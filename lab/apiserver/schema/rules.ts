/** Evaluates the CEL rules of a custom kind after the other validation, with the messages of an API server. */
import type { BrokenRule } from '../../../src/api/cel/cel-rules.ts';
import { brokenRules } from '../../../src/api/cel/cel-rules.ts';
import type { Json } from '../json.ts';
import { isObject, isRawJson } from '../json.ts';
import type { FieldError, FieldErrorType } from '../status.ts';
import type { Schema } from './schema.ts';

const REASONS: Readonly<Record<string, FieldErrorType>> = {
  FieldValueInvalid: 'Invalid',
  FieldValueForbidden: 'Forbidden',
  FieldValueRequired: 'Required',
  FieldValueDuplicate: 'Duplicate',
};

/** A rule as a CustomResourceDefinition contains it. */
interface WrittenRule {
  readonly rule: string;
  readonly message?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
}

/** @param old the value before an update: transition rules run only if there is one. */
export function validateRules({ source }: Schema, value: Json, old: Json | undefined): FieldError[] {
  return source === undefined ? [] : brokenRules(source, value, old, '').map(fault);
}

function fault({ rule: broken, path, value, error }: BrokenRule): FieldError {
  const { rule, message = `failed rule: ${rule}`, reason = '', fieldPath = '' } = broken as WrittenRule;
  const problem = error === undefined ? message : `rule evaluation error: ${rule}: ${error}`;
  const type = REASONS[reason] ?? 'Invalid';
  const field = `${path}${fieldPath}` || '<nil>';
  if (type === 'Forbidden') return { type, field, message: `Forbidden: ${problem}` };
  if (type === 'Required') return { type, field, message: `Required value: ${problem}` };
  const shown = JSON.stringify(typeName(value as Json));
  return { type, field, message: `${type === 'Duplicate' ? 'Duplicate' : 'Invalid'} value: ${shown}: ${problem}` };
}

/** An API server reports the type of a value that breaks a rule, not the value. */
function typeName(value: Json): string {
  if (Array.isArray(value)) return 'array';
  if (isObject(value)) return 'object';
  if (isRawJson(value) || Number.isInteger(value)) return 'integer';
  return typeof value;
}
