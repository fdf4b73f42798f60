/** Whether a value has the types of a schema, as an object from the API server has. Unknown fields, limits and rules are not checked. */
import type { SchemaNode } from './schema.ts';

export function fitsSchema(value: unknown, node: SchemaNode): boolean {
  switch (node.type) {
    case 'string':
    case 'boolean':
      return typeof value === node.type;
    case 'integer':
    case 'number':
      return typeof value === 'number' && (node.type === 'number' || Number.isSafeInteger(value));
    case 'array':
      return Array.isArray(value) && value.every((item) => node.items !== undefined && fitsSchema(item, node.items));
    case 'object':
      return isRecord(value) && Object.entries(value).every(([name, item]) => fitsField(name, item, node));
    default:
      return false;
  }
}

function fitsField(name: string, value: unknown, { properties = {}, additionalProperties }: SchemaNode): boolean {
  const field = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
  return field === undefined || value === undefined || fitsSchema(value, field);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
