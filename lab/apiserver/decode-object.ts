/** Decodes the body that a client sent into an object of one kind: types, unknown fields, type meta. */
import { decodeBuiltin } from './builtin/decode.ts';
import type { JsonObject } from './json.ts';
import { at } from './json.ts';
import { decodeMeta } from './object-meta.ts';
import type { KubeObject } from './object.ts';
import type { WriteOptions } from './operation-options.ts';
import type { ResourceDefinition } from './resource.ts';
import { apiVersionOf } from './resource.ts';
import { prune } from './schema/prune.ts';
import type { ApiError, FieldError } from './status.ts';
import { badRequest, invalid, invalidValue } from './status.ts';

const TYPE_AND_META: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * @param body becomes the object and is changed.
 * @param old the stored object, valid by the same schema: equal parts of the body are not decoded again, nor changed
 * @throws ApiError 400; 422 for the result of a patch
 */
export function decodeObject(definition: ResourceDefinition, body: JsonObject, options: WriteOptions, old?: KubeObject): KubeObject {
  const apiVersion = apiVersionOf(definition);
  const handled = (): string =>
    `${definition.kind} in version ${JSON.stringify(definition.version)} cannot be handled as a ${definition.kind}`;
  if (body['kind'] === undefined || body['kind'] === '') {
    if (definition.custom && options.isPatch !== true && options.fromClient === true)
      throw badRequest(`${handled()}: unmarshalerDecoder: Object 'Kind' is missing in '${JSON.stringify(body)}'`);
    body['kind'] = definition.kind;
  }
  if (body['apiVersion'] === undefined || body['apiVersion'] === '') body['apiVersion'] = apiVersion;
  const misplaced = options.isPatch !== true && body['apiVersion'] !== apiVersion;
  if (
    definition.custom &&
    !misplaced &&
    (body['kind'] !== definition.kind || (options.isPatch === true && body['apiVersion'] !== apiVersion))
  )
    throw wrongKind(definition, body);
  if (body['apiVersion'] !== apiVersion)
    throw badRequest(`the API version in the data (${String(body['apiVersion'])}) does not match the expected API version (${apiVersion})`);
  if (body['kind'] !== definition.kind)
    throw badRequest(
      `${String(body['kind'])} in version ${JSON.stringify(definition.version)} cannot be handled as a ${definition.kind}: the kind in the data does not match the expected kind ${definition.kind}`,
    );
  const meta = decodeMeta(body, old?.metadata);
  const problem = meta.problem ?? (definition.custom ? undefined : decodeBuiltin(definition.schema, body, '', old));
  if (problem !== undefined) throw options.isPatch === true ? unfitPatch(body, problem) : badRequest(`${handled()}: ${problem}`);
  // Metadata is decoded separately: a custom schema that describes it does not prune it.
  const pruned = prune(definition.schema, body, definition.custom ? { except: TYPE_AND_META, old } : { old });
  const unknown = [...meta.unknown, ...pruned].sort();
  if (unknown.length > 0 && options.fieldValidation === 'Strict') {
    const fields = unknown.map((field) => `unknown field ${JSON.stringify(field)}`).join(', ');
    if (options.isPatch === true) throw unfitPatch(body, `strict decoding error: ${fields}`);
    throw badRequest(`${handled()}: strict decoding error: ${fields}`);
  }
  if (options.fieldValidation === 'Warn') for (const field of unknown) options.warn?.(`unknown field ${JSON.stringify(field)}`);
  return body as KubeObject;
}

function unfitPatch(body: JsonObject, problem: string): ApiError {
  return invalid({ group: '', kind: '' }, '', [invalidValue('patch', JSON.stringify(body), problem)]);
}

function wrongKind(definition: ResourceDefinition, body: JsonObject): ApiError {
  const apiVersion = String(body['apiVersion']);
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  const errors: FieldError[] = [];
  if (body['kind'] !== definition.kind) errors.push(invalidValue('kind', body['kind'], `must be ${definition.kind}`));
  if (apiVersion !== apiVersionOf(definition)) errors.push(invalidValue('apiVersion', apiVersion, `must be ${apiVersionOf(definition)}`));
  const name = at(body, 'metadata', 'name');
  return invalid({ group, kind: String(body['kind']) }, typeof name === 'string' ? name : '', errors);
}
