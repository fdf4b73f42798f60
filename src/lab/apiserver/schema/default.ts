/** Fills in the defaults of a schema. */
import type { Json } from '../json.ts';
import { clone, isObject } from '../json.ts';
import type { Schema } from './schema.ts';

/** In place. A null where null is not allowed counts as absent: it gives way to the default, or goes. */
export function applyDefaults(schema: Schema, value: Json): void {
  if (Array.isArray(value)) {
    const items = schema.items;
    if (items === undefined) return;
    value.forEach((item, index) => {
      if (item === null && items.nullable !== true && items.default !== undefined) value[index] = clone(items.default);
      applyDefaults(items, value[index] as Json);
    });
  } else if (isObject(value)) {
    for (const [key, child] of schema.properties ?? []) {
      const present = value[key];
      if ((present === undefined || (present === null && child.nullable !== true)) && child.default !== undefined)
        value[key] = clone(child.default);
      else if (present === null && child.nullable !== true && !isFree(child)) delete value[key];
      if (value[key] !== undefined) applyDefaults(child, value[key]);
    }
    const additional = schema.additionalProperties;
    if (additional === undefined || additional === true) return;
    for (const key of Object.keys(value)) {
      if (schema.properties?.has(key) === true) continue;
      if (value[key] === null && additional.nullable !== true && additional.default !== undefined) value[key] = clone(additional.default);
      else if (value[key] === null && additional.nullable !== true && !isFree(additional)) delete value[key];
      if (value[key] !== undefined) applyDefaults(additional, value[key]);
    }
  }
}

/** Says nothing of its value. */
function isFree(schema: Schema): boolean {
  return schema.type === undefined && schema.intOrString !== true;
}
