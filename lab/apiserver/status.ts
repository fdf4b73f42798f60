/** Errors of the API: each is a Kubernetes `Status` with reason, code, message and details. */
import type { Json, JsonObject } from './json.ts';
import { goPrinted } from './json.ts';

/** The resource as the message names it: `pods`, `subnets.kubeovn.io`. */
export interface GroupResource {
  readonly group: string;
  readonly plural: string;
}

export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

export type FieldErrorType =
  'Required' | 'Invalid' | 'NotSupported' | 'Forbidden' | 'TooLong' | 'TooMany' | 'Duplicate' | 'NotFound' | 'TypeInvalid';

/** A rule that one field breaks; `message` does not contain the field's name. */
export interface FieldError {
  readonly type: FieldErrorType;
  readonly field: string;
  readonly message: string;
}

export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly reason: string;
  readonly details: JsonObject | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: number, reason: string, message: string, details?: JsonObject, retryAfterSeconds?: number) {
    // Answers to clients are frequent, and nothing reads their stack traces.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  toStatus(): JsonObject {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}

export function resourceName(of: GroupResource): string {
  return of.group === '' ? of.plural : `${of.plural}.${of.group}`;
}

function named(of: GroupResource, name: string): JsonObject {
  return { ...(name === '' ? {} : { name }), ...(of.group === '' ? {} : { group: of.group }), kind: of.plural };
}

export function notFound(of: GroupResource, name: string): ApiError {
  return new ApiError(404, 'NotFound', `${resourceName(of)} ${JSON.stringify(name)} not found`, named(of, name));
}

export function alreadyExists(of: GroupResource, name: string, isBeingDeleted = false): ApiError {
  return new ApiError(
    409,
    'AlreadyExists',
    `${isBeingDeleted ? 'object is being deleted: ' : ''}${resourceName(of)} "${name}" already exists`,
    named(of, name),
  );
}

export function conflict(of: GroupResource, name: string, why: string): ApiError {
  return new ApiError(409, 'Conflict', `Operation cannot be fulfilled on ${resourceName(of)} "${name}": ${why}`, named(of, name));
}

export function modifiedMeanwhile(of: GroupResource, name: string): ApiError {
  return conflict(of, name, 'the object has been modified; please apply your changes to the latest version and try again');
}

export function forbidden(of: GroupResource, name: string, why: string, causes?: Json[]): ApiError {
  const details = { ...named(of, name), ...(causes === undefined ? {} : { causes }) };
  return new ApiError(403, 'Forbidden', `${resourceName(of)} ${name === '' ? '' : `"${name}" `}is forbidden: ${why}`, details);
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, 'BadRequest', message);
}

export function methodNotAllowed(of: GroupResource, action: string): ApiError {
  return new ApiError(405, 'MethodNotAllowed', `${action} is not supported on resources of kind "${resourceName(of)}"`, named(of, ''));
}

export function expired(message: string): ApiError {
  return new ApiError(410, 'Expired', message);
}

export function unsupportedMediaType(message: string): ApiError {
  return new ApiError(415, 'UnsupportedMediaType', message);
}

export function invalid(of: GroupKind, name: string, errors: readonly FieldError[]): ApiError {
  const kind = of.group === '' ? of.kind : `${of.kind}.${of.group}`;
  const lines = [...new Set(errors.map((error) => `${error.field}: ${error.message}`))];
  const summary = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  const causes = errors.map((error) => ({ reason: `FieldValue${error.type}`, message: error.message, field: error.field }));
  const details = { ...(name === '' ? {} : { name }), ...(of.group === '' ? {} : { group: of.group }), kind: of.kind, causes };
  return new ApiError(422, 'Invalid', `${kind} "${name}" is invalid: ${summary}`, details);
}

export function required(field: string, detail = ''): FieldError {
  return { type: 'Required', field, message: detail === '' ? 'Required value' : `Required value: ${detail}` };
}

export function invalidValue(field: string, value: Json | undefined, detail: string): FieldError {
  return { type: 'Invalid', field, message: `Invalid value: ${shown(value)}: ${detail}` };
}

export function notSupported(field: string, value: Json | undefined, supported: readonly Json[]): FieldError {
  return {
    type: 'NotSupported',
    field,
    message: `Unsupported value: ${shown(value)}: supported values: ${supported.map(shown).join(', ')}`,
  };
}

export function forbiddenField(field: string, detail: string): FieldError {
  return { type: 'Forbidden', field, message: `Forbidden: ${detail}` };
}

export function duplicate(field: string, value: Json | undefined): FieldError {
  return { type: 'Duplicate', field, message: `Duplicate value: ${shown(value)}` };
}

function shown(value: Json | undefined): string {
  return value === undefined ? 'null' : typeof value === 'number' ? goPrinted(value) : JSON.stringify(value);
}
