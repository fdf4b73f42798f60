/** OpenAPI documents, v2 and v3, from the same schemas that validate: `kubectl explain`, `apply` and its validation read them. */
import { createHash } from 'node:crypto';
import type { JsonObject } from './json.ts';
import { clone, isObject } from './json.ts';
import type { ResourceRegistry } from './registry.ts';
import type { ResourceDefinition } from './resource.ts';
import { builtinSchema } from './builtin/types.ts';
import type { Schema } from './schema/schema.ts';

const V3_PREFIX = '#/components/schemas/';
const V2_PREFIX = '#/definitions/';

export class OpenApi {
  readonly #registry: ResourceRegistry;
  readonly #cache = new Map<string, JsonObject>();
  #generation = -1;

  constructor(registry: ResourceRegistry) {
    this.#registry = registry;
  }

  v3Index(): JsonObject {
    const paths: JsonObject = {};
    for (const [group, versions] of this.#registry.groups()) {
      for (const version of versions) {
        const path = group === '' ? `api/${version}` : `apis/${group}/${version}`;
        const hash = createHash('sha256')
          .update(JSON.stringify(this.v3(path)))
          .digest('hex')
          .toUpperCase();
        paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
      }
    }
    return { paths };
  }

  /** @param path such as `api/v1` or `apis/kubeovn.io/v1`. */
  v3(path: string): JsonObject | undefined {
    return this.#cached(path, () => {
      const [root, ...rest] = path.split('/');
      const [group = '', version = ''] = root === 'api' ? ['', rest[0]] : rest;
      const definitions = this.#registry.all().filter((definition) => definition.group === group && definition.version === version);
      if (definitions.length === 0) return undefined;
      const writer = new SchemaWriter(V3_PREFIX);
      const paths: JsonObject = {};
      for (const definition of definitions) Object.assign(paths, writer.resource(definition, 3));
      return { openapi: '3.0.0', info: INFO, paths, components: { schemas: writer.schemas } };
    });
  }

  v2(): JsonObject {
    const document = this.#cached('v2', () => {
      const writer = new SchemaWriter(V2_PREFIX);
      const paths: JsonObject = {};
      for (const definition of this.#registry.all()) Object.assign(paths, writer.resource(definition, 2));
      return { swagger: '2.0', info: INFO, paths, definitions: writer.schemas };
    });
    return document ?? {};
  }

  #cached(key: string, make: () => JsonObject | undefined): JsonObject | undefined {
    if (this.#generation !== this.#registry.generation) {
      this.#cache.clear();
      this.#generation = this.#registry.generation;
    }
    const known = this.#cache.get(key);
    if (known !== undefined) return known;
    const made = make();
    if (made !== undefined) this.#cache.set(key, made);
    return made;
  }
}

const INFO = { title: 'Kubernetes', version: 'v1.32.0' };

/** Collects the schemas that a document's resources reference. */
class SchemaWriter {
  readonly schemas: JsonObject = {};
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The resource's schema, and its paths with the parameters that clients read. */
  resource(definition: ResourceDefinition, openApi: 2 | 3): JsonObject {
    const { group, version, kind, plural, namespaced, listKind } = definition;
    const gvk = { group, version, kind };
    const name = definition.custom
      ? `${group.split('.').toReversed().join('.')}.${version}.${kind}`
      : `io.k8s.api.${definition.schema.name ?? kind}`;
    if (definition.custom) this.schemas[name] = this.#custom(definition);
    else this.#builtin(definition.schema);
    const schema = this.schemas[name];
    if (isObject(schema))
      schema['x-kubernetes-group-version-kind'] = [
        ...(Array.isArray(schema['x-kubernetes-group-version-kind']) ? schema['x-kubernetes-group-version-kind'] : []),
        gvk,
      ];
    const listName = `${name}List`;
    this.schemas[listName] = {
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: { type: 'object' },
        items: { type: 'array', items: { $ref: this.#prefix + name } },
      },
      'x-kubernetes-group-version-kind': [{ group, version, kind: listKind }],
    };
    const root = `${group === '' ? `/api/${version}` : `/apis/${group}/${version}`}/${namespaced ? 'namespaces/{namespace}/' : ''}${plural}`;
    const operation = (action: string, of: string, parameters: readonly string[]): JsonObject => ({
      'x-kubernetes-action': action,
      'x-kubernetes-group-version-kind': gvk,
      parameters: parameters.map((parameter) => ({
        name: parameter,
        in: 'query',
        ...(openApi === 3 ? { schema: { type: 'string', uniqueItems: true } } : { type: 'string', uniqueItems: true }),
      })),
      responses: {
        200:
          openApi === 3
            ? { description: 'OK', content: { 'application/json': { schema: { $ref: this.#prefix + of } } } }
            : { description: 'OK', schema: { $ref: this.#prefix + of } },
      },
    });
    const write = ['dryRun', 'fieldManager', 'fieldValidation'];
    return {
      [root]: {
        get: operation('list', listName, ['labelSelector', 'fieldSelector', 'limit', 'continue', 'resourceVersion', 'watch']),
        post: operation('post', name, write),
      },
      [`${root}/{name}`]: {
        get: operation('get', name, []),
        put: operation('put', name, write),
        patch: operation('patch', name, [...write, 'force']),
        delete: operation('delete', name, ['dryRun', 'gracePeriodSeconds', 'propagationPolicy']),
      },
    };
  }

  #custom(definition: ResourceDefinition): JsonObject {
    const schema = clone(definition.openApiSchema ?? { type: 'object' });
    const properties = isObject(schema['properties']) ? schema['properties'] : {};
    properties['apiVersion'] ??= { type: 'string', description: 'API group and version of the object.' };
    properties['kind'] ??= { type: 'string', description: 'Kind of the object.' };
    properties['metadata'] = {
      description: 'Standard metadata of the object.',
      allOf: [{ $ref: this.#builtin({ name: 'ObjectMeta' }) }],
    };
    schema['properties'] = properties;
    return schema;
  }

  /** @returns the reference of a built-in type. */
  #builtin(schema: Schema): string {
    const name = `io.k8s.api.${schema.name ?? ''}`;
    if (this.schemas[name] === undefined) {
      const written: JsonObject = { type: 'object' };
      this.schemas[name] = written;
      const full = schema.properties === undefined ? builtinSchema(schema.name ?? '') : schema;
      if (full.required !== undefined) written['required'] = [...full.required];
      const properties: JsonObject = {};
      for (const [key, child] of full.properties ?? []) properties[key] = this.#field(child);
      written['properties'] = properties;
    }
    return this.#prefix + name;
  }

  #field(schema: Schema): JsonObject {
    const written: JsonObject = {};
    if (schema.name !== undefined) written['allOf'] = [{ $ref: this.#builtin(schema) }];
    else if (schema.intOrString === true) {
      written['format'] = 'int-or-string';
      written['oneOf'] = [{ type: 'integer' }, { type: 'string' }];
    } else if (schema.format === 'quantity') written['oneOf'] = [{ type: 'string' }, { type: 'number' }];
    else if (schema.preserveUnknownFields === true) written['x-kubernetes-preserve-unknown-fields'] = true;
    else {
      if (schema.type !== undefined) written['type'] = schema.type;
      if (schema.format !== undefined && schema.format !== 'micro-time') written['format'] = schema.format;
      if (schema.items !== undefined) written['items'] = this.#field(schema.items);
      if (schema.additionalProperties !== undefined && schema.additionalProperties !== true)
        written['additionalProperties'] = this.#field(schema.additionalProperties);
    }
    if (schema.patchMergeKey !== undefined) {
      written['x-kubernetes-patch-strategy'] = 'merge';
      if (schema.patchMergeKey !== '') written['x-kubernetes-patch-merge-key'] = schema.patchMergeKey;
    }
    if (schema.retainKeys === true)
      written['x-kubernetes-patch-strategy'] = schema.patchMergeKey === undefined ? 'retainKeys' : 'merge,retainKeys';
    return written;
  }
}
