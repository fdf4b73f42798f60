/**
 * A small language for the schema of a custom resource. One description gives both the static type (`TypeOf`) and the structural OpenAPI v3
 * schema by which the API server validates, defaults and prunes (`Schema.node`), so that the two cannot diverge.
 */

/** A CEL rule (`x-kubernetes-validations`); API servers before 1.25 do not have them. */
export interface CelRule {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
}

/** A node of a structural schema, in the JSON of `apiextensions.k8s.io/v1`. */
export interface SchemaNode {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly description?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly additionalProperties?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  readonly 'x-kubernetes-validations'?: readonly CelRule[];
}

declare const valueType: unique symbol;

/** A node together with the type of its values; the type exists at compile time only. */
export interface Schema<T> {
  readonly node: SchemaNode;
  readonly [valueType]?: T;
}

/** A field that its object must have. */
export interface RequiredField<T> extends Schema<T> {
  readonly isRequired: true;
}

/** The type of a schema's values. */
export type TypeOf<S> = S extends Schema<infer T> ? T : never;

type Fields = Readonly<Record<string, Schema<unknown>>>;
type RequiredKeys<F extends Fields> = { [K in keyof F]: F[K] extends RequiredField<unknown> ? K : never }[keyof F];
/** Makes the compiler display the fields instead of the type expression. */
type Flat<T> = T extends infer O ? { readonly [K in keyof O]: O[K] } : never;

/** The object type of a set of fields: required ones present, the others optional, all read-only. */
export type ObjectType<F extends Fields> = Flat<
  { readonly [K in RequiredKeys<F>]: TypeOf<F[K]> } & { readonly [K in Exclude<keyof F, RequiredKeys<F>>]?: TypeOf<F[K]> }
>;

type StringLimits<V extends string> = Pick<SchemaNode, 'format' | 'pattern' | 'minLength' | 'maxLength'> & {
  readonly enum?: readonly V[];
  readonly default?: NoInfer<V>;
  readonly rules?: readonly CelRule[];
};
type NumberLimits = Pick<SchemaNode, 'minimum' | 'maximum'> & { readonly format?: 'int32' | 'int64'; readonly default?: number };
type ListLimits = Pick<SchemaNode, 'maxItems'> & {
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly keys?: readonly string[];
};
type ObjectLimits = { readonly atomic?: true; readonly rules?: readonly CelRule[] };

const make = <T>(node: SchemaNode): Schema<T> => ({ node });
const described = (description: string): SchemaNode => (description === '' ? {} : { description });
const withRules = (rules: readonly CelRule[] | undefined): SchemaNode => (rules === undefined ? {} : { 'x-kubernetes-validations': rules });

/** A string. With `enum`, its values are also the type. */
export const string = <const V extends string = string>(description = '', limits: StringLimits<V> = {}): Schema<V> => {
  const { rules, ...rest } = limits;
  return make<V>({ type: 'string', ...described(description), ...rest, ...withRules(rules) });
};

/** RFC 3339 text. */
export const time = (description = ''): Schema<string> => string(description, { format: 'date-time' });

/** An integer that fits a JavaScript number. */
export const integer = (description = '', limits: NumberLimits = {}): Schema<number> =>
  make({ type: 'integer', ...described(description), ...limits });

/** A number of addresses: an IPv6 Subnet can have more than 2^53, so a large one is a bigint. */
export const count = (description = ''): Schema<number | bigint> => make({ type: 'number', ...described(description) });

export const boolean = (description = '', limits: { readonly default?: boolean } = {}): Schema<boolean> =>
  make({ type: 'boolean', ...described(description), ...limits });

/** A quantity: an integer or a string; `typed` adds the `anyOf` that Kubernetes writes for its own quantities. */
export const intOrString = (
  description: string,
  limits: { readonly pattern: string; readonly typed?: true; readonly rules?: readonly CelRule[] },
): Schema<number | string> =>
  make({
    ...described(description),
    ...(limits.typed === true && { anyOf: [{ type: 'integer' }, { type: 'string' }] }),
    pattern: limits.pattern,
    'x-kubernetes-int-or-string': true,
    ...withRules(limits.rules),
  });

export const list = <T>(description: string, item: Schema<T>, limits: ListLimits = {}): Schema<readonly T[]> => {
  const { listType, keys, ...rest } = limits;
  return make({
    type: 'array',
    ...described(description),
    items: item.node,
    ...rest,
    ...(keys !== undefined && { 'x-kubernetes-list-map-keys': keys }),
    ...(listType !== undefined && { 'x-kubernetes-list-type': listType }),
  });
};

/** A map with keys that the user chooses. */
export const map = <T>(description: string, value: Schema<T>): Schema<Readonly<Record<string, T>>> =>
  make({ type: 'object', ...described(description), additionalProperties: value.node });

export const object = <const F extends Fields>(description: string, fields: F, limits: ObjectLimits = {}): Schema<ObjectType<F>> => {
  const required = Object.keys(fields).filter((name) => isRequired(fields[name]));
  const properties: Record<string, SchemaNode> = {};
  for (const [name, field] of Object.entries(fields)) properties[name] = field.node;
  return make({
    type: 'object',
    ...described(description),
    properties,
    ...(required.length > 0 && { required }),
    ...(limits.atomic === true && { 'x-kubernetes-map-type': 'atomic' }),
    ...withRules(limits.rules),
  });
};

/** Marks a field that its object must have. */
export const required = <T>(field: Schema<T>): RequiredField<T> => ({ ...field, isRequired: true });

const isRequired = (field: Schema<unknown> | undefined): boolean => field !== undefined && 'isRequired' in field;
