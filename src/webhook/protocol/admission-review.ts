/** AdmissionReview of `admission.k8s.io/v1`: parses the request, writes the answer. */
import { parseJson, stringifyJson } from '../../kube/json.ts';
import { visibleMessage } from '../../text/visible-text.ts';
import type { Denial, AdmissionResult } from './admission-result.ts';
import { annotationsProblem, bodyProblem, MOST_VALUES } from './review-bounds.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** An object as the client sent it: only the types of its metadata are known. */
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
  /** Plural name of the resource. */
  readonly resource: string;
  readonly kind: string;
  /** Empty for a request on the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  /** Empty if the server generates the name, and for a collection. */
  readonly name: string;
  readonly object: ReviewedObject | undefined;
  readonly oldObject: ReviewedObject | undefined;
  readonly dryRun: boolean;
  /** From CreateOptions, UpdateOptions or PatchOptions; empty if the client names none. Any client can claim any name. */
  readonly fieldManager: string;
  /** From DeleteOptions: the request is only for the object with this uid; empty if the client gives none. */
  readonly preconditionUid: string;
  /** Name of the user, as the API server authenticated it. */
  readonly user: string;
}

export type ParsedReview = { readonly ok: true; readonly request: AdmissionRequest } | { readonly ok: false; readonly problem: string };

type Fields = Readonly<Record<string, unknown>>;

const API_VERSION = 'admission.k8s.io/v1';
const KIND = 'AdmissionReview';
/** No name of an API server is longer. Kiln puts names into answers, the log and metrics, so it bounds them. */
const LONGEST_NAME = 512;
const OPERATIONS: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];

/** @param mostValues the highest number of members and elements in its JSON */
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

/**
 * Removes members that are null: a Go client does not distinguish them from absent ones. It changes the value in place, which is safe since
 * only the caller holds it. `bodyProblem` bounds the depth of the recursion.
 */
function dropNulls(value: unknown): void {
  if (Array.isArray(value)) value.forEach(dropNulls);
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) {
      if (member === null) delete (value as Record<string, unknown>)[name];
      else dropNulls(member);
    }
}

/** A longer list would not be read. */
const MOST_SAID = 5;
/** The API server truncates longer warnings, and all warnings together at 4096 bytes. */
const MOST_WARNINGS = 10;
const LONGEST_WARNING = 256;
const LONGEST_MESSAGE = 2_048;
const LONGEST_FIELD = 512;

/** The AdmissionReview that answers a request. */
export function answerText(request: AdmissionRequest, { denials, warnings }: AdmissionResult): string {
  const said = warnings
    .slice(0, MOST_WARNINGS)
    // The API server silently drops a warning with control characters.
    .map((text) => visibleMessage(text, LONGEST_WARNING));
  const response = {
    uid: request.uid,
    allowed: denials.length === 0,
    ...(denials.length > 0 && { status: statusOf(request, denials) }),
    ...(said.length > 0 && { warnings: said }),
  };
  return stringifyJson({ apiVersion: API_VERSION, kind: KIND, response });
}

function statusOf(request: AdmissionRequest, denials: readonly Denial[]): object {
  const isInvalid = denials.some(({ kind }) => kind === 'invalid');
  // These texts contain input of clients, and a terminal displays them.
  const some = denials.slice(0, MOST_SAID).map(({ code, field, message }) => ({
    code,
    field: visibleMessage(field, LONGEST_FIELD),
    message: visibleMessage(message, LONGEST_MESSAGE),
  }));
  const more = denials.length - some.length;
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
