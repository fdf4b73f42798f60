/** CustomResourceDefinitions: defaults of their names, and the checks that make a definition servable. */
import { compileCel } from '../../../src/api/cel/cel.ts';
import type { Json, JsonObject } from '../json.ts';
import { at, isObject, list, object, text } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { Strategy } from '../resource.ts';
import { readSchema } from '../schema/schema.ts';
import type { FieldError } from '../status.ts';
import { forbiddenField, invalidValue, notSupported, required } from '../status.ts';

export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

export function setCondition(object_: KubeObject, condition: JsonObject, now: string): void {
  const status = object(object_['status']);
  const conditions = list(status['conditions']);
  const index = conditions.findIndex((existing) => at(existing, 'type') === condition['type']);
  const unchanged = at(conditions[index], 'status') === condition['status'];
  const next = { ...condition, lastTransitionTime: unchanged ? (at(conditions[index], 'lastTransitionTime') ?? now) : now };
  if (index < 0) conditions.push(next);
  else conditions[index] = next;
  object_['status'] = { ...status, conditions };
}

function storedVersion(spec: JsonObject): Json | undefined {
  return at(
    list(spec['versions']).find((version) => at(version, 'storage') === true),
    'name',
  );
}

function validateVersion(version: Json, path: string, here: string): FieldError[] {
  const errors: FieldError[] = [];
  if (text(at(version, 'name')) === '') errors.push(required(`${path}.name`));
  const schema = at(version, 'schema', 'openAPIV3Schema');
  if (!isObject(schema)) return [...errors, required(`${path}.schema.openAPIV3Schema`, 'schemas are required')];
  if (schema['type'] !== 'object')
    errors.push(
      schema['type'] === undefined
        ? required(`${here}.type`, 'must not be empty at the root')
        : invalidValue(`${here}.type`, schema['type'], 'must be object at the root'),
    );
  errors.push(...structuralErrors(schema, here));
  try {
    readSchema(schema);
  } catch (error) {
    errors.push(invalidValue(here, '', error instanceof Error ? error.message : String(error)));
  }
  return errors;
}

/** Every value needs a type, so that pruning and defaulting are unambiguous. */
function structuralErrors(schema: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const free = schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema['type'] === undefined && !free) errors.push(required(`${path}.type`, 'must not be empty for specified object fields'));
  const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
  if (schema['type'] !== undefined && !types.includes(text(schema['type'])))
    errors.push(notSupported(`${path}.type`, schema['type'], types));
  if (schema['type'] === 'array' && schema['items'] === undefined) errors.push(required(`${path}.items`, 'must be specified'));
  if (schema['properties'] !== undefined && schema['additionalProperties'] !== undefined)
    errors.push(forbiddenField(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'));
  for (const [name, property] of Object.entries(object(schema['properties']))) {
    if (isObject(property) && !(path.endsWith('openAPIV3Schema') && name === 'metadata'))
      errors.push(...structuralErrors(property, `${path}.properties[${name}]`));
  }
  if (isObject(schema['items'])) errors.push(...structuralErrors(schema['items'], `${path}.items`));
  if (isObject(schema['additionalProperties']))
    errors.push(...structuralErrors(schema['additionalProperties'], `${path}.additionalProperties`));
  return errors;
}

/** Rules of `x-kubernetes-validations` that the evaluator cannot parse. */
function unreadRules(schema: JsonObject, path: string): string[] {
  const own = list(schema['x-kubernetes-validations']).flatMap((entry, index) => {
    const rule = text(at(entry, 'rule'));
    try {
      compileCel(rule);
      return [];
    } catch {
      return [
        `${path}.x-kubernetes-validations[${index}].rule: this laboratory cannot read ${JSON.stringify(rule)} and does not enforce it`,
      ];
    }
  });
  const below = Object.entries(object(schema['properties'])).flatMap(([name, child]) =>
    unreadRules(object(child), `${path}.properties[${name}]`),
  );
  const items = isObject(schema['items']) ? unreadRules(schema['items'], `${path}.items`) : [];
  const additional = schema['additionalProperties'];
  return [...own, ...below, ...items, ...(isObject(additional) ? unreadRules(additional, `${path}.additionalProperties`) : [])];
}

function validateCrd(crd: KubeObject, old: KubeObject | undefined): FieldError[] {
  const spec = object(crd['spec']);
  const names = object(spec['names']);
  const errors: FieldError[] = [];
  const wanted = `${text(names['plural'])}.${text(spec['group'])}`;
  if (crd.metadata.name !== wanted)
    errors.push(invalidValue('metadata.name', crd.metadata.name, `must be spec.names.plural+"."+spec.group`));
  if (text(spec['group']) === '') errors.push(required('spec.group'));
  else if (!text(spec['group']).includes('.'))
    errors.push(invalidValue('spec.group', spec['group'], 'should be a domain with at least one dot'));
  for (const field of ['plural', 'singular', 'kind', 'listKind'])
    if (text(names[field]) === '') errors.push(required(`spec.names.${field}`));
  const scopes = ['Cluster', 'Namespaced'];
  if (text(spec['scope']) === '') errors.push(required('spec.scope'));
  else if (!scopes.includes(text(spec['scope']))) errors.push(notSupported('spec.scope', spec['scope'], scopes));
  const versions = list(spec['versions']);
  if (versions.filter((version) => at(version, 'storage') === true).length !== 1)
    errors.push(invalidValue('spec.versions', versions, 'must have exactly one version marked as storage version'));
  if (old === undefined && storedVersion(spec) === undefined)
    errors.push(invalidValue('status.storedVersions', undefined, 'must have at least one stored version'));
  // A single schema for all versions is reported at the path that it had in `v1beta1`.
  versions.forEach((version, index) => {
    const path = `spec.versions[${index}]`;
    errors.push(
      ...validateVersion(version, path, versions.length === 1 ? 'spec.validation.openAPIV3Schema' : `${path}.schema.openAPIV3Schema`),
    );
  });
  if (old !== undefined) {
    for (const field of ['group', 'scope']) {
      if (at(old, 'spec', field) !== spec[field]) errors.push(invalidValue(`spec.${field}`, spec[field], 'field is immutable'));
    }
    for (const field of ['plural', 'kind']) {
      if (at(old, 'spec', 'names', field) !== names[field])
        errors.push(invalidValue(`spec.names.${field}`, names[field], 'field is immutable'));
    }
  }
  return errors;
}

export function crdStrategy(now: () => string): Strategy {
  return {
    prepareCreate: (crd) => {
      const stored = storedVersion(object(crd['spec']));
      crd['status'] = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: stored === undefined ? [] : [stored] };
    },
    prepareUpdate: (crd) => {
      const stored = storedVersion(object(crd['spec']));
      const status = object(crd['status']);
      const known = list(status['storedVersions']);
      if (stored !== undefined && !known.includes(stored)) crd['status'] = { ...status, storedVersions: [...known, stored] };
    },
    applyDefaults: (crd) => {
      const spec = object(crd['spec']);
      const names = object(spec['names']);
      const kind = text(names['kind']);
      if (kind !== '') {
        names['singular'] ??= kind.toLowerCase();
        names['listKind'] ??= `${kind}List`;
      }
      spec['conversion'] ??= { strategy: 'None' };
      delete spec['preserveUnknownFields'];
    },
    validate: validateCrd,
    warnings: (crd) =>
      list(at(crd, 'spec', 'versions')).flatMap((version, index) =>
        unreadRules(object(at(version, 'schema', 'openAPIV3Schema')), `spec.versions[${index}].schema.openAPIV3Schema`),
      ),
    prepareDelete: (crd) => {
      crd.metadata.finalizers = [...new Set([...(crd.metadata.finalizers ?? []), CLEANUP_FINALIZER])];
      setCondition(
        crd,
        {
          type: 'Terminating',
          status: 'True',
          reason: 'InstanceDeletionPending',
          message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
        },
        now(),
      );
    },
  };
}
