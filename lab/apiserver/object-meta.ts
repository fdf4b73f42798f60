/** The rules of `metadata`: names, labels, finalizers, owner references, and immutable fields. */
import { decodeBuiltin } from './builtin/decode.ts';
import { builtinSchema } from './builtin/types.ts';
import type { Json, JsonObject } from './json.ts';
import { equal, isObject, isRawJson } from './json.ts';
import type { KubeObject, ObjectMeta } from './object.ts';
import type { ResourceDefinition } from './resource.ts';
import type { FieldError } from './status.ts';
import { badRequest, forbiddenField, invalidValue, required } from './status.ts';

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const SERVICE = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SERVICE_RULE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const STANDARD_FINALIZERS = ['orphan', 'foregroundDeletion', 'kubernetes'];
const MAX_ANNOTATIONS_BYTES = 256 * 1024;

/** The error in a name, or undefined. */
export function nameProblem(name: string, rule: 'subdomain' | 'label' | 'path' | 'service'): string | undefined {
  switch (rule) {
    case 'path':
      return name === '.' || name === '..' || /[/%]/.test(name) ? "may not be '.', '..' or contain '/' or '%'" : undefined;
    case 'label':
      if (name.length > 63) return 'must be no more than 63 characters';
      return LABEL.test(name) ? undefined : LABEL_RULE;
    case 'service':
      if (name.length > 63) return 'must be no more than 63 characters';
      return SERVICE.test(name) ? undefined : SERVICE_RULE;
    default:
      if (name.length > 253) return 'must be no more than 253 characters';
      return SUBDOMAIN.test(name) ? undefined : SUBDOMAIN_RULE;
  }
}

export function validateMeta(definition: ResourceDefinition, object: KubeObject): FieldError[] {
  const meta = object.metadata;
  const errors: FieldError[] = [];
  const rule = definition.strategy.nameRule ?? 'subdomain';
  // A trailing hyphen is valid, since the suffix follows it.
  const prefix = meta.generateName === undefined ? undefined : nameProblem(meta.generateName.replace(/-$/, 'a'), rule);
  if (prefix !== undefined) errors.push(invalidValue('metadata.generateName', meta.generateName, prefix));
  if (meta.name === '' || meta.name === undefined) errors.push(required('metadata.name', 'name or generateName is required'));
  else {
    const problem = nameProblem(meta.name, rule);
    if (problem !== undefined) errors.push(invalidValue('metadata.name', meta.name, problem));
  }
  for (const [key, value] of Object.entries(meta.labels ?? {})) {
    for (const problem of labelKeyProblems(key)) errors.push(invalidValue('metadata.labels', key, problem));
    const problem = labelValueProblem(value);
    if (problem !== undefined) errors.push(invalidValue('metadata.labels', value, problem));
  }
  let length = 0;
  for (const [key, value] of Object.entries(meta.annotations ?? {})) {
    for (const problem of labelKeyProblems(key.toLowerCase())) errors.push(invalidValue('metadata.annotations', key, problem));
    length += key.length + value.length;
  }
  // A UTF-16 unit takes at most three bytes.
  if (length * 3 > MAX_ANNOTATIONS_BYTES && bytesOf(meta.annotations ?? {}) > MAX_ANNOTATIONS_BYTES)
    errors.push({
      type: 'TooLong',
      field: 'metadata.annotations',
      message: `Too long: may not be more than ${MAX_ANNOTATIONS_BYTES} bytes`,
    });
  const field = 'metadata.ownerReferences';
  for (const owner of meta.ownerReferences ?? []) {
    for (const key of ['apiVersion', 'kind', 'name', 'uid'] as const) {
      if (typeof owner[key] !== 'string' || owner[key] === '')
        errors.push(
          invalidValue(`${field}.${key}`, owner[key] ?? '', key === 'apiVersion' ? 'version must not be empty' : 'must not be empty'),
        );
    }
  }
  const [controller, another] = (meta.ownerReferences ?? []).filter((owner) => owner.controller === true);
  if (controller !== undefined && another !== undefined)
    errors.push(
      invalidValue(
        field,
        meta.ownerReferences,
        `Only one reference can have Controller set to true. Found "true" in references for ${controller.kind}/${controller.name} and ${another.kind}/${another.name}`,
      ),
    );
  for (const [index, finalizer] of (meta.finalizers ?? []).entries()) {
    for (const problem of labelKeyProblems(finalizer)) errors.push(invalidValue('metadata.finalizers', finalizer, problem));
    if (!definition.custom && !finalizer.includes('/') && !STANDARD_FINALIZERS.includes(finalizer))
      errors.push(
        invalidValue(`metadata.finalizers[${index}]`, finalizer, 'name is neither a standard finalizer name nor is it fully qualified'),
      );
  }
  return errors;
}

function bytesOf(texts: Readonly<Record<string, string>>): number {
  return Object.entries(texts).reduce((size, [key, value]) => size + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
}

export function labelValueProblem(value: string): string | undefined {
  if (value.length > 63) return 'must be no more than 63 characters';
  return value === '' || QUALIFIED.test(value) ? undefined : LABEL_VALUE_RULE;
}

/** Names that were found valid: a cluster uses the same few again and again. */
const rightNames = new Set<string>();
const MOST_NAMES = 2_000;
const NO_PROBLEMS: readonly string[] = [];

/** A key of labels and annotations, or a finalizer: a name, optionally with a domain and a slash before it. */
export function labelKeyProblems(key: string): readonly string[] {
  if (rightNames.has(key)) return NO_PROBLEMS;
  const problems = lookedAt(key);
  if (problems.length === 0 && rightNames.size < MOST_NAMES) rightNames.add(key);
  return problems;
}

function lookedAt(key: string): readonly string[] {
  const [first = '', second, ...rest] = key.split('/');
  if (rest.length > 0)
    return [`a qualified name ${QUALIFIED_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  const [prefix, name] = second === undefined ? [undefined, first] : [first, second];
  const problems: string[] = [];
  if (prefix === '') problems.push('prefix part must be non-empty');
  else if (prefix !== undefined) {
    const problem = nameProblem(prefix, 'subdomain');
    if (problem !== undefined) problems.push(`prefix part ${problem}`);
  }
  if (name === '') problems.push('name part must be non-empty');
  else if (name.length > 63) problems.push('name part must be no more than 63 characters');
  if (!QUALIFIED.test(name)) problems.push(`name part ${QUALIFIED_RULE}`);
  return problems;
}

export function validateMetaUpdate(meta: ObjectMeta, old: ObjectMeta): FieldError[] {
  const errors = immutableErrors(meta, old);
  if (old.deletionTimestamp === undefined) return errors;
  const added = (meta.finalizers ?? []).filter((finalizer) => !(old.finalizers ?? []).includes(finalizer));
  if (added.length === 0) return errors;
  const shown = `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(', ')}}`;
  return [
    ...errors,
    forbiddenField('metadata.finalizers', `no new finalizers can be added if the object is being deleted, found new finalizers ${shown}`),
  ];
}

/** @throws ApiError 400 when the object's name is not that of the URL */
export function checkName(name: Json | undefined, wanted: string): void {
  if (name === undefined || name === '' || name === null)
    throw badRequest(`the name of the object (${wanted} based on URL) was undeterminable: name must be provided`);
  if (name !== wanted) throw badRequest(`the name of the object (${shownName(name)}) does not match the name on the URL (${wanted})`);
}

/** @throws ApiError 400 when an object names another namespace than the URL. */
export function checkNamespace(namespace: Json | undefined, wanted: string): void {
  if (namespace !== undefined && namespace !== '' && namespace !== wanted)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

/** @throws ApiError 400 when an update changes the namespace to another one than that of the URL */
export function checkUpdatedNamespace(namespace: Json | undefined, wanted: string): void {
  if (typeof namespace === 'string' && namespace !== '' && namespace !== wanted)
    throw badRequest(`the namespace of the object (${namespace}) does not match the namespace on the request (${wanted})`);
}

function shownName(name: Json): string {
  return typeof name === 'string' ? name : JSON.stringify(name);
}

const IMMUTABLE = ['deletionTimestamp', 'deletionGracePeriodSeconds'] as const;

/** A client may omit the fields that the server set, but not change them. */
function immutableErrors(meta: ObjectMeta, old: ObjectMeta): FieldError[] {
  return IMMUTABLE.filter((key) => meta[key] !== undefined && meta[key] !== old[key]).map((key) =>
    invalidValue(`metadata.${key}`, meta[key], 'field is immutable'),
  );
}

const KNOWN = new Set([
  'name',
  'namespace',
  'generateName',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
  'managedFields',
  'selfLink',
]);

/**
 * Decodes `metadata` of a custom object as a typed server does: nulls and empty values absent, unknown fields dropped.
 * @param old of the stored object: equal fields are not decoded again
 * @returns unknown fields, and mismatches
 */
export function decodeMeta(object: JsonObject, old?: ObjectMeta): { readonly unknown: string[]; readonly problem: string | undefined } {
  const unknown: string[] = [];
  const meta = object['metadata'];
  if (meta === undefined || meta === null) {
    object['metadata'] = {};
    return { unknown, problem: undefined };
  }
  if (!isObject(meta)) return { unknown, problem: 'json: cannot unmarshal into Go struct field metadata of type v1.ObjectMeta' };
  let problem: string | undefined;
  for (const key of Object.keys(meta)) {
    const value = meta[key] as Json;
    if (value === old?.[key] && value !== null && value !== '') continue;
    if (!KNOWN.has(key)) {
      delete meta[key];
      unknown.push(`metadata.${key}`);
    } else if (value === null || value === '') delete meta[key];
    else if (key === 'labels' || key === 'annotations') problem ??= stringMapProblem(key, value);
    else {
      problem ??= decodeBuiltin(builtinSchema('ObjectMeta'), { [key]: value }, 'ObjectMeta.metadata');
      if (typeof value === 'object' && Object.keys(value).length === 0) delete meta[key];
    }
  }
  return { unknown, problem };
}

function stringMapProblem(key: string, value: Json): string | undefined {
  if (!isObject(value))
    return `json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value} into Go struct field ObjectMeta.metadata.${key} of type map[string]string`;
  for (const [name, entry] of Object.entries(value)) {
    if (entry === null) value[name] = '';
    else if (typeof entry !== 'string') {
      const kind = typeof entry === 'boolean' ? 'bool' : Array.isArray(entry) ? 'array' : isRawJson(entry) ? 'number' : typeof entry;
      return `json: cannot unmarshal ${kind} into Go struct field ObjectMeta.metadata.${key} of type string`;
    }
  }
  return undefined;
}

/** Equal except for the fields that every write changes. */
export function sameButVersion(a: KubeObject, b: KubeObject): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => (key === 'metadata' ? sameMeta(a.metadata, b.metadata) : key in b && equal(a[key], b[key])));
}

function sameMeta(a: ObjectMeta, b: ObjectMeta): boolean {
  const count = (meta: ObjectMeta): number => Object.keys(meta).length - ('resourceVersion' in meta ? 1 : 0);
  return count(a) === count(b) && Object.keys(a).every((key) => key === 'resourceVersion' || (key in b && equal(a[key], b[key])));
}
