/** Parses the options of a read or a write, also in the form of an AdmissionReview. */
import { decodeBuiltin } from './builtin/decode.ts';
import { builtinSchema } from './builtin/types.ts';
import type { Json, JsonObject } from './json.ts';
import { goKindOf, inInt64, isObject, list, object } from './json.ts';
import { parseLabelSelector } from './label-selector.ts';
import type { DeleteOptions, WriteOptions } from './operation-options.ts';
import type { ResourceDefinition } from './resource.ts';
import type { Selector } from './selectors.ts';
import { parseFieldSelector } from './selectors.ts';
import type { FieldError } from './status.ts';
import { ApiError, badRequest, forbiddenField, invalid, invalidValue, notSupported } from './status.ts';

/** Options of a creation, an update or a patch. */
export function reviewedOptions(kind: string, query: URLSearchParams): JsonObject {
  const [fieldManager, dryRun] = [query.get('fieldManager') ?? '', query.getAll('dryRun')];
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(fieldManager !== '' && { fieldManager }),
    ...(dryRun.length > 0 && { dryRun }),
  };
}

export function reviewedDeletion({ preconditions = {}, propagationPolicy, gracePeriodSeconds, dryRun }: DeleteOptions): JsonObject {
  return {
    kind: 'DeleteOptions',
    apiVersion: 'meta.k8s.io/v1',
    ...(Object.keys(preconditions).length > 0 && { preconditions: { ...preconditions } }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(dryRun === true && { dryRun: ['All'] }),
  };
}

export function isDryRun(query: URLSearchParams, options: string): boolean {
  return isAll(query.getAll('dryRun'), options);
}

function isAll(values: readonly string[], options: string): boolean {
  if (values.some((value) => value !== 'All')) {
    const shown = JSON.stringify(values);
    throw invalid({ group: 'meta.k8s.io', kind: options }, '', [
      { type: 'NotSupported', field: 'dryRun', message: `Unsupported value: ${shown}: supported values: "All"` },
    ]);
  }
  return values.includes('All');
}

const MANAGER_BYTES = 128;

/** Checks `fieldManager`: a short printable text. */
function checkManager(query: URLSearchParams, kind: string): void {
  const manager = query.get('fieldManager') ?? '';
  const field = 'fieldManager';
  const refuse = (error: FieldError): ApiError => invalid({ group: 'meta.k8s.io', kind }, '', [error]);
  if (kind === 'PatchOptions' && query.has('force')) throw refuse(forbiddenField('force', 'may not be specified for non-apply patch'));
  if (manager === '') return;
  if (Buffer.byteLength(manager) > MANAGER_BYTES)
    throw refuse({ type: 'TooLong', field, message: `Too long: may not be more than ${MANAGER_BYTES} bytes` });
  const odd = manager.search(/\p{C}/u);
  if (odd < 0) return;
  const code = manager.codePointAt(odd)?.toString(16).toUpperCase().padStart(4, '0') ?? '';
  throw refuse(invalidValue(field, manager, `invalid character U+${code} (at position ${odd})`));
}

/** A number in a query. @throws ApiError 400 */
export function integerOf(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '0';
  const refuse = (why: string): ApiError => badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`);
  if (!/^[+-]?\d+$/.test(text)) throw refuse('invalid syntax');
  if (!inInt64(BigInt(text.replace('+', '')))) throw refuse('value out of range');
  return Number(text);
}

/** @param kind the kind of options: `CreateOptions`, `UpdateOptions`, `PatchOptions` */
export function writeOptions(query: URLSearchParams, warnings: string[], kind: string): WriteOptions {
  checkManager(query, kind);
  const validation = query.get('fieldValidation') || 'Warn';
  if (validation !== 'Strict' && validation !== 'Warn' && validation !== 'Ignore') {
    throw badRequest(`fieldValidation: Unsupported value: ${JSON.stringify(validation)}: supported values: "", "Ignore", "Strict", "Warn"`);
  }
  return {
    dryRun: isDryRun(query, kind),
    fromClient: true,
    fieldValidation: validation,
    warn: (message) => void warnings.push(message),
  };
}

export function deleteOptions(body: Json | undefined, asked: URLSearchParams): DeleteOptions {
  if (body !== undefined && !isObject(body))
    throw badRequest(`couldn't get version/kind; json parse error: json: cannot unmarshal ${goKindOf(body)} into Go value of type struct`);
  const fields = body ?? {};
  // Options in the body replace those of the query.
  const query = body === undefined ? asked : new URLSearchParams();
  if (fields['kind'] !== undefined && fields['kind'] !== 'DeleteOptions')
    throw badRequest(`no kind ${JSON.stringify(fields['kind'])} is a way to delete: send DeleteOptions`);
  const misfit = decodeBuiltin(builtinSchema('DeleteOptions'), fields, 'DeleteOptions');
  if (misfit !== undefined) throw badRequest(misfit);
  const grace = query.has('gracePeriodSeconds') ? integerOf(query, 'gracePeriodSeconds') : fields['gracePeriodSeconds'];
  const policy = query.get('propagationPolicy') ?? fields['propagationPolicy'];
  const orphan = query.get('orphanDependents') ?? fields['orphanDependents'];
  const dryRun = isDryRun(query, 'DeleteOptions') || isAll(list(fields['dryRun']).map(String), 'DeleteOptions');
  const propagation =
    policy === 'Orphan' || policy === 'Background' || policy === 'Foreground'
      ? policy
      : orphan === true || orphan === 'true'
        ? 'Orphan'
        : undefined;
  if (typeof policy === 'string' && policy !== propagation)
    throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', [
      notSupported('propagationPolicy', policy, ['Foreground', 'Background', 'Orphan', 'nil']),
    ]);
  if (typeof policy === 'string' && (typeof orphan === 'boolean' || typeof orphan === 'string'))
    throw invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', [
      invalidValue('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'),
    ]);
  const conditions = object(fields['preconditions']);
  return {
    dryRun,
    ...(grace === undefined || grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(propagation === undefined ? {} : { propagationPolicy: propagation }),
    preconditions: {
      ...(typeof conditions['uid'] === 'string' ? { uid: conditions['uid'] } : {}),
      ...(typeof conditions['resourceVersion'] === 'string' ? { resourceVersion: conditions['resourceVersion'] } : {}),
    },
  };
}

export function selectorOf(definition: ResourceDefinition, query: URLSearchParams): Selector {
  const labels = query.get('labelSelector') ?? '';
  const fields = query.get('fieldSelector') ?? '';
  const byLabel = labels === '' ? undefined : parseLabelSelector(labels);
  const byField = fields === '' ? undefined : parseFieldSelector(fields, fieldsOf(definition), unknownFieldOf(definition));
  return (item) => (byLabel === undefined || byLabel(item)) && (byField === undefined || byField(item));
}

function unknownFieldOf({ custom, fieldSelectors }: ResourceDefinition): (field: string) => string {
  return custom || fieldSelectors.length > 0
    ? (field) => `field label not supported: ${field}`
    : (field) => `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

/**
 * The field selectors of a kind. Cluster-scoped kinds that declare field selectors have no `metadata.namespace`; other built-in ones do.
 */
function fieldsOf({ custom, namespaced, fieldSelectors }: ResourceDefinition): readonly string[] {
  const placed = namespaced || (!custom && fieldSelectors.length === 0);
  return ['metadata.name', ...(placed ? ['metadata.namespace'] : []), ...fieldSelectors];
}

/**
 * The resourceVersion that a read requests.
 *
 * @param current the store's revision
 * @throws ApiError 400, 422; 504 for a version in the future
 */
export function wantedVersion(query: URLSearchParams, current: number): { readonly revision: number; readonly isExact: boolean } {
  const version = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  checkVersionMatch(query);
  readVersion(version);
  const revision = Number(version);
  if (revision > current) {
    const details = { causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }], retryAfterSeconds: 1 };
    throw new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${version}, current: ${current}`, details, 1);
  }
  return { revision, isExact: match === 'Exact' };
}

/** @throws ApiError 400 for an invalid version */
export function readVersion(version: string): void {
  if (version === '') return;
  const isNumber = /^\d+$/.test(version);
  if (isNumber && BigInt(version) < 2n ** 64n) return;
  const shown = JSON.stringify(version);
  const why = isNumber ? 'value out of range' : 'invalid syntax';
  throw badRequest(`resourceVersion: Invalid value: ${shown}: strconv.ParseUint: parsing ${shown}: ${why}`);
}

/** @throws ApiError 422 */
function checkVersionMatch(query: URLSearchParams): void {
  const [field, match, version] = ['resourceVersionMatch', query.get('resourceVersionMatch') ?? '', query.get('resourceVersion') ?? ''];
  if (match === '') return;
  const errors: FieldError[] = [];
  if (version === '') errors.push(forbiddenField(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
  if ((query.get('continue') ?? '') !== '')
    errors.push(forbiddenField(field, 'resourceVersionMatch is forbidden when continue is provided'));
  if (match !== 'Exact' && match !== 'NotOlderThan') errors.push(notSupported(field, match, ['Exact', 'NotOlderThan', '']));
  if (match === 'Exact' && version === '0')
    errors.push(forbiddenField(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  if (errors.length > 0) throw invalidListOptions(errors);
}

export function invalidListOptions(errors: readonly FieldError[]): ApiError {
  return invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
}
