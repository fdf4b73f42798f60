/** A structural schema for both custom and built-in kinds. Schemas of built-in kinds are graphs: a type may contain itself. */
import type { Json, JsonObject } from '../json.ts';
import type { SchemaNode } from '../../../src/api/schema/schema.ts';
import { isObject } from '../json.ts';

export type SchemaType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';

export interface Schema {
  /** The name of a built-in type, for OpenAPI. */
  name?: string;
  type?: SchemaType;
  description?: string;
  format?: string;
  nullable?: boolean;
  properties?: Map<string, Schema>;
  /** `true`: any value; absent: no additional keys. */
  additionalProperties?: Schema | true;
  items?: Schema;
  required?: readonly string[];
  enum?: readonly Json[];
  default?: Json;
  pattern?: Pattern;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  uniqueItems?: boolean;
  allOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  not?: Schema;
  intOrString?: boolean;
  preserveUnknownFields?: boolean;
  embeddedResource?: boolean;
  listType?: 'atomic' | 'set' | 'map';
  listMapKeys?: readonly string[];
  /** Strategic merge of built-in lists: the merge key; `''` for sets of scalars. */
  patchMergeKey?: string;
  /** Strategic merge of built-in objects: with `$retainKeys`, keys that the patch does not name are dropped. */
  retainKeys?: boolean;
  /** Custom kinds only: the original schema with its CEL rules. */
  source?: SchemaNode;
}

/** A regular expression with its original text. */
export interface Pattern {
  readonly source: string;
  test(text: string): boolean;
}

const NUMBERS = [
  'minimum',
  'maximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const;
const FLAGS = ['nullable', 'exclusiveMinimum', 'exclusiveMaximum', 'uniqueItems'] as const;
const COMBINATIONS = ['allOf', 'anyOf', 'oneOf'] as const;

/**
 * Reads an `openAPIV3Schema` of a CustomResourceDefinition.
 * @throws SyntaxError when a pattern is not a regular expression.
 */
export function readSchema(source: JsonObject): Schema {
  const schema: Schema = {};
  if (typeof source['type'] === 'string') schema.type = source['type'] as SchemaType;
  if (typeof source['description'] === 'string') schema.description = source['description'];
  if (typeof source['format'] === 'string') schema.format = source['format'];
  if (typeof source['pattern'] === 'string') schema.pattern = readPattern(source['pattern']);
  for (const key of NUMBERS) if (typeof source[key] === 'number') schema[key] = source[key];
  for (const key of FLAGS) if (source[key] === true) schema[key] = true;
  if (Array.isArray(source['enum'])) schema.enum = source['enum'];
  if (source['default'] !== undefined) schema.default = source['default'];
  if (Array.isArray(source['required'])) schema.required = source['required'] as string[];
  if (isObject(source['properties'])) {
    schema.properties = new Map(Object.entries(source['properties']).map(([key, value]) => [key, readSchema(value as JsonObject)]));
  }
  const additional = source['additionalProperties'];
  if (isObject(additional)) schema.additionalProperties = readSchema(additional);
  else if (additional === true) schema.additionalProperties = true;
  if (isObject(source['items'])) schema.items = readSchema(source['items']);
  for (const key of COMBINATIONS) if (Array.isArray(source[key])) schema[key] = source[key].filter(isObject).map(readSchema);
  if (isObject(source['not'])) schema.not = readSchema(source['not']);
  if (source['x-kubernetes-int-or-string'] === true) schema.intOrString = true;
  if (source['x-kubernetes-preserve-unknown-fields'] === true) schema.preserveUnknownFields = true;
  if (source['x-kubernetes-embedded-resource'] === true) schema.embeddedResource = true;
  if (typeof source['x-kubernetes-list-type'] === 'string') schema.listType = source['x-kubernetes-list-type'] as 'atomic' | 'set' | 'map';
  if (Array.isArray(source['x-kubernetes-list-map-keys'])) schema.listMapKeys = source['x-kubernetes-list-map-keys'] as string[];
  schema.source = source;
  return schema;
}

/** Patterns have Go's syntax, which allows escapes that a JavaScript expression with the flag `u` does not. */
function readPattern(source: string): Pattern {
  const translated = withGoClasses(source);
  let expression: RegExp;
  try {
    expression = new RegExp(translated, 'u');
  } catch {
    expression = new RegExp(translated);
  }
  return { source, test: (text) => expression.test(text) };
}

/** In Go `\s` is five characters, and `.` matches all but a line feed; in JavaScript both follow Unicode. */
function withGoClasses(source: string): string {
  let inClass = false;
  return source.replaceAll(/\\?[^]/gu, (part) => {
    if (part === '[') inClass = true;
    else if (part === ']') inClass = false;
    else if (part === '\\s') return inClass ? BLANKS : `[${BLANKS}]`;
    else if (part === '\\S' && !inClass) return `[^${BLANKS}]`;
    else if (part === '.' && !inClass) return '[^\\n]';
    return part;
  });
}

const BLANKS = '\\t\\n\\f\\r ';
