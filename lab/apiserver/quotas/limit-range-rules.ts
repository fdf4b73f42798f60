/** The checks of a LimitRange: the defaults of a container lie between its minimum and its maximum. */
import type { Json, JsonObject } from '../json.ts';
import { at, list, object, text } from '../json.ts';
import type { FieldError } from '../status.ts';
import { duplicate, forbiddenField, invalidValue } from '../status.ts';
import { quantityOf } from './quantity.ts';

/** `low` must not exceed `high`; the error names `field`. */
const ORDERS = [
  { low: 'min', high: 'max', field: 'min', say: ['min value', 'max value'] },
  { low: 'min', high: 'defaultRequest', field: 'defaultRequest', say: ['min value', 'default request value'] },
  { low: 'defaultRequest', high: 'max', field: 'defaultRequest', say: ['default request value', 'max value'] },
  { low: 'defaultRequest', high: 'default', field: 'defaultRequest', say: ['default request value', 'default limit value'] },
  { low: 'min', high: 'default', field: 'default', say: ['min value', 'default value'] },
  { low: 'default', high: 'max', field: 'default', say: ['default value', 'max value'] },
] as const;

function ruleErrors(rule: Json, field: string): FieldError[] {
  return ORDERS.flatMap(({ low, high, field: limitField, say }) =>
    Object.entries(object(at(rule, low))).flatMap(([name, least]) => {
      const most = at(rule, high, name);
      if (most === undefined || quantityOf(least).nano <= quantityOf(most).nano) return [];
      const why = `${say[0]} ${text(least)} is greater than ${say[1]} ${text(most)}`;
      return [invalidValue(`${field}.${limitField}[${name}]`, at(rule, limitField, name), why)];
    }),
  );
}

export function limitRangeErrors(range: JsonObject): FieldError[] {
  const types = new Set<string>();
  return list(at(range, 'spec', 'limits')).flatMap((rule, index) => {
    const field = `spec.limits[${index}]`;
    const type = text(at(rule, 'type'));
    const again = types.has(type);
    types.add(type);
    const unfit = ['default', 'defaultRequest'].filter((name) => type === 'Pod' && at(rule, name) !== undefined);
    return [
      ...(again ? [duplicate(`${field}.type`, type)] : []),
      ...unfit.map((name) => forbiddenField(`${field}.${name}`, "may not be specified when `type` is 'Pod'")),
      ...ruleErrors(rule, field),
    ];
  });
}
