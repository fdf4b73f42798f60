import type { InputValue } from './value.ts';
import type { Uuid } from './uuid.ts';

/** `<function>` of RFC 7047 section 5.1. */
export type ConditionFunction = '<' | '<=' | '==' | '!=' | '>=' | '>' | 'includes' | 'excludes';

/** One clause of a `where`; all clauses have to hold. `_uuid` is a column like others. */
export interface Condition {
  readonly column: string;
  readonly function: ConditionFunction;
  readonly value: InputValue;
}

export const equals = (column: string, value: InputValue): Condition => ({ column, function: '==', value });
export const notEquals = (column: string, value: InputValue): Condition => ({ column, function: '!=', value });
/** The column has all these members, or all these pairs. */
export const includes = (column: string, value: InputValue): Condition => ({ column, function: 'includes', value });
/** The column has none of these members, or none of these pairs. */
export const excludes = (column: string, value: InputValue): Condition => ({ column, function: 'excludes', value });
export const rowIs = (uuid: Uuid): Condition => equals('_uuid', uuid);

/** `_uuid == … and external_ids includes {…}`, for a message to a person. */
export function conditionText(where: readonly Condition[]): string {
  return where.map(({ column, function: test, value }) => `${column} ${test} ${valueText(value)}`).join(' and ');
}

function valueText(value: InputValue): string {
  if (value instanceof Map) return JSON.stringify(Object.fromEntries(value));
  if (value instanceof Set) return JSON.stringify([...value]);
  return JSON.stringify(value);
}
