/** Fills in the defaults of a schema. */
import type { Json } from '../json.ts';
import { clone, isObject } from '../json.ts';
import type { Schema } from './schema.ts';

/**
 * Changes the value in place. A null where null is invalid counts as absent: it is replaced by the default, or removed.
 * @param old the value before the update: equal parts already have their defaults
 */
export function applyDefaults(schema: Schema, value: Json, old?: Json): void {
  if (Array.isArray(value)) {
    const items = schema.items;
    if (items === undefined) return;
    const was = Array.isArray(old) ? old : undefined;
    value.forEach((item, index) => {
      if (item === null && items.nullable !== true && items.default !== undefined) value[index] = clone(items.default);
      below(items, value[index], was?.[index]);
    });
  } else if (isObject(value)) {
    const was = isObject(old) ? old : undefined;
    for (const [key, child] of schema.properties ?? []) {
      const present = value[key];
      if ((present === undefined || (present === null && child.nullable !== true)) && child.default !== undefined)
        value[key] = clone(child.default);
      else if (present === null && child.nullable !== true && !isFree(child)) delete value[key];
      below(child, value[key], was?.[key]);
    }
    const additional = schema.additionalProperties;
    if (additional === undefined || additional === true) return;
    for (const key of Object.keys(value)) {
      if (schema.properties?.has(key) === true) continue;
      if (value[key] === null && additional.nullable !== true && additional.default !== undefined) value[key] = clone(additional.default);
      else if (value[key] === null && additional.nullable !== true && !isFree(additional)) delete value[key];
      below(additional, value[key], was?.[key]);
    }
  }
}

function below(schema: Schema, value: Json | undefined, old: Json | undefined): void {
  if (typeof value === 'object' && value !== null && value !== old) applyDefaults(schema, value, old);
}

/** Whether the schema permits any type. */
function isFree(schema: Schema): boolean {
  return schema.type === undefined && schema.intOrString !== true;
}
