/** Removes fields that the schema does not have, and reports them. */
import type { Json } from '../json.ts';
import { isObject } from '../json.ts';
import type { Schema } from './schema.ts';

const TYPE_META = new Set(['apiVersion', 'kind', 'metadata']);
const NOTHING: ReadonlySet<string> = new Set();

export interface PruneOptions {
  /** Top-level fields that stay in any case. */
  readonly except?: ReadonlySet<string>;
  /** The value before the update: equal parts are already pruned. */
  readonly old?: Json | undefined;
}

/** Removes unknown fields in place. @returns their paths, such as `spec.ports[0].prot`. */
export function prune(schema: Schema, value: Json, { except = NOTHING, old }: PruneOptions = {}): string[] {
  return (visit(schema, value, old, except) ?? []).map((path) => (path.startsWith('.') ? path.slice(1) : path));
}

/** @returns the paths of the removed fields, from the root */
function visit(schema: Schema, value: Json, old: Json | undefined, except = NOTHING): string[] | undefined {
  let unknown: string[] | undefined;
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return undefined;
    const was = Array.isArray(old) ? old : undefined;
    for (const [index, item] of value.entries()) {
      if (typeof item !== 'object' || item === null || was?.[index] === item) continue;
      const below = visit(items, item, was?.[index]);
      if (below !== undefined) unknown = [...(unknown ?? []), ...below.map((path) => `[${index}]${path}`)];
    }
  } else if (isObject(value)) {
    if (schema.type !== undefined && schema.type !== 'object') return undefined;
    const additional = schema.additionalProperties;
    const was = isObject(old) ? old : undefined;
    for (const key of Object.keys(value)) {
      if (except.has(key)) continue;
      const child = schema.properties?.get(key) ?? (additional === true ? undefined : additional);
      if (child === undefined) {
        if (!isUnknown(schema, key)) continue;
        delete value[key];
        unknown = [...(unknown ?? []), `.${key}`];
        continue;
      }
      const member = value[key];
      if (typeof member !== 'object' || member === null || was?.[key] === member) continue;
      const below = visit(child, member, was?.[key]);
      if (below !== undefined) unknown = [...(unknown ?? []), ...below.map((path) => `.${key}${path}`)];
    }
  }
  return unknown;
}

function isUnknown({ additionalProperties, preserveUnknownFields, embeddedResource }: Schema, key: string): boolean {
  return additionalProperties === undefined && preserveUnknownFields !== true && !(embeddedResource === true && TYPE_META.has(key));
}
