/** AdmissionReview of `admission.k8s.io/v1`: a request as data, an answer as text. */
import { parseJson, stringifyJson } from '../kube/json.ts';
import { visibleMessage } from '../text/visible-text.ts';
import type { Objection, Opinion } from './opinion.ts';
import { annotationsProblem, bodyProblem, MOST_VALUES } from './review-bounds.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** An object as it comes: nothing of it is promised but its metadata. */
export interface ReviewedObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name?: string;
    readonly generateName?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
  readonly spec?: unknown;
  readonly status?: unknown;
}

export interface AdmissionRequest {
  readonly uid: string;
  readonly operation: Operation;
  readonly group: string;
  readonly version: string;
  /** Plural. */
  readonly resource: string;
  readonly kind: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  /** Empty where the server chooses it, and for a collection. */
  readonly name: string;
  readonly object: ReviewedObject | undefined;
  readonly oldObject: ReviewedObject | undefined;
  readonly dryRun: boolean;
  /** Of CreateOptions, UpdateOptions and PatchOptions; empty where none is given. Any client may name any. */
  readonly fieldManager: string;
  /** Of DeleteOptions: only the object with this uid is meant; empty where none is given. */
  readonly preconditionUid: string;
  /** Name of the user, as the API server authenticated it. */
  readonly user: string;
}

export type ParsedReview = { readonly ok: true; readonly request: AdmissionRequest } | { readonly ok: false; readonly problem: string };

type Fields = Readonly<Record<string, unknown>>;

const API_VERSION = 'admission.k8s.io/v1';
const KIND = 'AdmissionReview';
/** No API server has a longer name, and each of them is answered, logged or counted. */
const LONGEST_NAME = 512;
const OPERATIONS: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];

/** @param mostValues members and elements that its JSON may have */
export function parseReview(body: Uint8Array, mostValues: number = MOST_VALUES.proven): ParsedReview {
  const tooMuch = bodyProblem(body, mostValues);
  if (tooMuch !== undefined) return { ok: false, problem: tooMuch };
  let review: Fields;
  try {
    review = fields(parseJson(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')));
  } catch {
    return { ok: false, problem: 'the body is not JSON' };
  }
  if (review['apiVersion'] !== API_VERSION || review['kind'] !== KIND)
    return { ok: false, problem: `the body is not an ${KIND} of ${API_VERSION}` };
  const request = fields(review['request']);
  const uid = words(request['uid']);
  const operation = OPERATIONS.find((one) => one === request['operation']);
  if (uid === '') return { ok: false, problem: 'request.uid is missing' };
  if (operation === undefined) return { ok: false, problem: `request.operation is none of ${OPERATIONS.join(', ')}` };
  const resource = fields(request['resource']);
  const tooLong = Object.entries({
    'request.uid': uid,
    'request.name': request['name'],
    'request.namespace': request['namespace'],
    'request.subResource': request['subResource'],
    'request.kind.kind': fields(request['kind'])['kind'],
    'request.resource.group': resource['group'],
    'request.resource.version': resource['version'],
    'request.resource.resource': resource['resource'],
  }).find(([, value]) => words(value).length > LONGEST_NAME);
  if (tooLong !== undefined) return { ok: false, problem: `${tooLong[0]} is longer than ${LONGEST_NAME} characters` };
  if (words(resource['resource']) === '') return { ok: false, problem: 'request.resource.resource is missing' };
  const [object, oldObject] = [objectIn(request['object']), objectIn(request['oldObject'])];
  for (const [what, one] of Object.entries({ object, oldObject })) {
    const problem = annotationsProblem(one?.metadata.annotations);
    if (problem !== undefined) return { ok: false, problem: `request.${what}.${problem}` };
  }
  const options = fields(request['options']);
  return {
    ok: true,
    request: {
      uid,
      operation,
      group: words(resource['group']),
      version: words(resource['version']),
      resource: words(resource['resource']),
      kind: words(fields(request['kind'])['kind']),
      subresource: words(request['subResource']),
      namespace: words(request['namespace']),
      name: words(request['name']),
      object,
      oldObject,
      dryRun: request['dryRun'] === true,
      fieldManager: words(options['fieldManager']),
      preconditionUid: words(fields(options['preconditions'])['uid']),
      user: words(fields(request['userInfo'])['username']),
    },
  };
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function words(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function objectIn(value: unknown): ReviewedObject | undefined {
  const object = fields(value);
  dropNulls(object);
  return Object.keys(fields(object['metadata'])).length === 0 ? undefined : (object as unknown as ReviewedObject);
}

/** A member that is null is absent, as to a Go client; those of a value that was just read, which no other holds. It is as deep as `bodyProblem` lets it be. */
function dropNulls(value: unknown): void {
  if (Array.isArray(value)) value.forEach(dropNulls);
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) {
      if (member === null) delete (value as Record<string, unknown>)[name];
      else dropNulls(member);
    }
}

/** More would make a message that nobody reads. */
const MOST_SAID = 5;
/** API servers cut longer warnings, and all of them together at 4096 bytes. */
const MOST_WARNINGS = 10;
const LONGEST_WARNING = 256;
const LONGEST_MESSAGE = 2_048;
const LONGEST_FIELD = 512;

/** The AdmissionReview that answers a request. */
export function answerText(request: AdmissionRequest, { objections, warnings }: Opinion): string {
  const said = warnings
    .slice(0, MOST_WARNINGS)
    // The API server drops a warning with control characters in it without a word.
    .map((text) => visibleMessage(text, LONGEST_WARNING));
  const response = {
    uid: request.uid,
    allowed: objections.length === 0,
    ...(objections.length > 0 && { status: statusOf(request, objections) }),
    ...(said.length > 0 && { warnings: said }),
  };
  return stringifyJson({ apiVersion: API_VERSION, kind: KIND, response });
}

function statusOf(request: AdmissionRequest, objections: readonly Objection[]): object {
  const isInvalid = objections.some(({ kind }) => kind === 'invalid');
  // What a client writes is in these, and a person reads them on a terminal.
  const some = objections.slice(0, MOST_SAID).map(({ code, field, message }) => ({
    code,
    field: visibleMessage(field, LONGEST_FIELD),
    message: visibleMessage(message, LONGEST_MESSAGE),
  }));
  const more = objections.length - some.length;
  return {
    metadata: {},
    status: 'Failure',
    code: isInvalid ? 422 : 403,
    reason: isInvalid ? 'Invalid' : 'Forbidden',
    message: some.map(({ message }) => message).join('; ') + (more > 0 ? `; and ${more} more` : ''),
    details: {
      name: request.name,
      group: request.group,
      kind: request.kind,
      causes: some.map(({ code, field, message }) => ({ reason: code, message, field })),
    },
  };
}
