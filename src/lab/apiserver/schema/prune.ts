/** Drops what a schema does not know, and says what it dropped. */
import type { Json, JsonObject } from '../json.ts';
import { isObject } from '../json.ts';
import type { Schema } from './schema.ts';

const TYPE_META = new Set(['apiVersion', 'kind', 'metadata']);

/** Removes unknown fields in place. @returns their paths, such as `spec.ports[0].prot`. */
export function prune(schema: Schema, value: Json, path = ''): string[] {
  const unknown: string[] = [];
  visit(schema, value, path, unknown);
  return unknown;
}

function visit(schema: Schema, value: Json, path: string, unknown: string[]): void {
  if (Array.isArray(value)) {
    const items = schema.items;
    if (items !== undefined) value.forEach((item, index) => visit(items, item, `${path}[${index}]`, unknown));
  } else if (isObject(value)) {
    visitObject(schema, value, path, unknown);
  }
}

function visitObject(schema: Schema, value: JsonObject, path: string, unknown: string[]): void {
  if (schema.type !== undefined && schema.type !== 'object') return;
  const additional = schema.additionalProperties;
  for (const key of Object.keys(value)) {
    const child = schema.properties?.get(key) ?? (additional === true ? undefined : additional);
    const here = path === '' ? key : `${path}.${key}`;
    if (child !== undefined) visit(child, value[key] as Json, here, unknown);
    else if (
      additional === undefined &&
      schema.preserveUnknownFields !== true &&
      !(schema.embeddedResource === true && TYPE_META.has(key))
    ) {
      delete value[key];
      unknown.push(here);
    }
  }
}
