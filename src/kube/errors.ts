/** Stable codes with their meaning; match on these, never on text. */
export const kubeErrorCodes = {
  KUBE_BAD_REQUEST: 'the server could not read the request',
  KUBE_UNAUTHORIZED: 'the server does not accept the credentials',
  KUBE_FORBIDDEN: 'the credentials do not allow this',
  KUBE_DENIED: 'an admission webhook or an admission policy denied the request; the credentials allow it',
  KUBE_NOT_FOUND: 'the object does not exist',
  KUBE_NOT_SERVED: 'the server does not know the resource (no such CRD, group or version)',
  KUBE_CONFLICT: 'the object has changed since the version that was read',
  KUBE_ALREADY_EXISTS: 'an object of that name exists',
  KUBE_PRECONDITION: 'another object has the name now: its uid is not the requested one',
  KUBE_GONE: '410: the resourceVersion or the continue token is too old',
  KUBE_INVALID: 'the object breaks a rule of its kind',
  KUBE_TOO_LARGE: 'the request is larger than the server takes',
  KUBE_NAMESPACE_TERMINATING: 'the namespace is being deleted and takes no new objects',
  KUBE_DISRUPTION_BUDGET: 'an eviction that a PodDisruptionBudget does not allow now',
  KUBE_TOO_MANY_REQUESTS: '429: the server is overloaded',
  KUBE_WEBHOOK_FAILED: 'an admission webhook that the server has to call does not answer: the request took no effect',
  KUBE_INTERNAL: 'the server failed; the request may have taken effect',
  KUBE_UNAVAILABLE: 'the server cannot serve now',
  KUBE_TIMEOUT: 'no answer in time; the request may have taken effect',
  KUBE_UNREACHABLE: 'no connection to the server: the request took no effect',
  KUBE_DISCONNECTED: 'the connection broke: the request may have taken effect',
  KUBE_PROTOCOL: 'the answer breaks the rules of the protocol',
  KUBE_ANSWER_TOO_LARGE: 'the answer is larger than the limit: the request may have taken effect',
  KUBE_LIST_DOUBTED: 'a list lacks objects that the server has by name, or that the next list has: it is not accepted',
  KUBE_CONFIG: 'a kubeconfig or credential that cannot be used',
  KUBE_FENCED: 'not sent: this process may not write',
  KUBE_SUPERSEDED: 'not sent: a newer write of the same object replaced it',
  KUBE_CLOSED: 'not sent, or aborted: the client was closed',
} as const;

export type KubeErrorCode = keyof typeof kubeErrorCodes;

/** Verb and object of a request, for messages and metrics. */
export interface KubeSubject {
  /** `list`, `watch`, `get`, `create`, `update`, `patch`, `delete`, `evict`, `discover`. */
  readonly verb: string;
  /** `plural.group`, or the plural for the core group. */
  readonly resource: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

export interface KubeErrorCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface KubeErrorDetails {
  /** HTTP status; 0: no answer. */
  readonly status?: number;
  /** The `reason` of the server's Status object. */
  readonly reason?: string | undefined;
  /** `Retry-After` of the server, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly causes?: readonly KubeErrorCause[];
  readonly cause?: unknown;
}

const RETRYABLE: ReadonlySet<KubeErrorCode> = new Set<KubeErrorCode>([
  'KUBE_TOO_MANY_REQUESTS',
  'KUBE_WEBHOOK_FAILED',
  'KUBE_INTERNAL',
  'KUBE_UNAVAILABLE',
  'KUBE_TIMEOUT',
  'KUBE_UNREACHABLE',
  'KUBE_DISCONNECTED',
  'KUBE_UNAUTHORIZED',
]);
const OUTCOME_UNKNOWN: ReadonlySet<KubeErrorCode> = new Set<KubeErrorCode>([
  'KUBE_INTERNAL',
  'KUBE_TIMEOUT',
  'KUBE_DISCONNECTED',
  'KUBE_PROTOCOL',
  'KUBE_ANSWER_TOO_LARGE',
]);

/** Every failure of this folder. The message names verb, resource, object and the server's own message. */
export class KubeError extends Error {
  override readonly name = 'KubeError';
  readonly code: KubeErrorCode;
  readonly subject: KubeSubject;
  /** The message of the server (or the socket), without the subject. */
  readonly detail: string;
  readonly status: number;
  readonly reason: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly causes: readonly KubeErrorCause[];

  constructor(code: KubeErrorCode, subject: KubeSubject, detail: string, details: KubeErrorDetails = {}) {
    super(`${subject.verb} ${subjectName(subject)}: ${detail}`, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.subject = subject;
    this.detail = detail;
    this.status = details.status ?? 0;
    this.reason = details.reason;
    this.retryAfterMs = details.retryAfterMs;
    this.causes = details.causes ?? [];
  }

  /** Whether the same request may succeed later without any change. */
  get retryable(): boolean {
    return RETRYABLE.has(this.code);
  }

  /** Whether a failed write may have taken effect all the same. */
  get outcomeUnknown(): boolean {
    return OUTCOME_UNKNOWN.has(this.code);
  }
}

/** `pods ns/name`, `vpcs.kubeovn.io name`, or the resource alone. */
function subjectName(subject: KubeSubject): string {
  const parts = [subject.namespace, subject.name].filter((part) => part !== undefined && part !== '');
  return parts.length === 0 ? subject.resource : `${subject.resource} ${parts.join('/')}`;
}

export function isKubeError(error: unknown, code?: KubeErrorCode): error is KubeError {
  return error instanceof KubeError && (code === undefined || error.code === code);
}

/** The parts of metav1.Status that matter here. */
export interface StatusObject {
  readonly kind?: unknown;
  readonly code?: unknown;
  readonly reason?: unknown;
  readonly message?: unknown;
  readonly details?: {
    readonly causes?: readonly KubeErrorCause[];
    readonly retryAfterSeconds?: number;
  } | null;
}

/** A proxy may request a pause of a day: the client tries again after this time at the latest. */
const LONGEST_RETRY_AFTER_MS = 300_000;

/**
 * A failed answer as an error.
 * @param body the parsed Status if the answer is one, else its text
 * @param retryAfter the `Retry-After` header, in seconds
 */
export function errorFromStatus(subject: KubeSubject, status: number, body: StatusObject | string, retryAfter?: string): KubeError {
  const known = typeof body === 'object' && body.kind === 'Status' ? body : undefined;
  const reason = typeof known?.reason === 'string' ? known.reason : undefined;
  const message = typeof known?.message === 'string' ? known.message : undefined;
  const text = message ?? (typeof body === 'string' ? body.trim().slice(0, 500) : '');
  const causes = known?.details?.causes ?? [];
  const seconds = known?.details?.retryAfterSeconds ?? Number.parseInt(retryAfter ?? '', 10);
  return new KubeError(codeOf(status, reason, text, causes, known !== undefined), subject, text === '' ? `HTTP ${status}` : text, {
    status,
    reason,
    causes,
    retryAfterMs: Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * 1000, LONGEST_RETRY_AFTER_MS) : undefined,
  });
}

/** kube-apiserver's wording of denials by admission webhooks and policies. */
const DENIED = /\badmission webhook "[^"]*" denied the request|\bValidatingAdmissionPolicy '[^']*' with binding '[^']*' denied request/;
const WEBHOOK_FAILED = /\bfailed calling webhook "/;

function codeOf(
  status: number,
  reason: string | undefined,
  text: string,
  causes: readonly KubeErrorCause[],
  isStatus: boolean,
): KubeErrorCode {
  const hasCause = (name: string): boolean => causes.some((cause) => cause.reason === name);
  // A policy may answer with any status: this shows nothing about the server, nor about another write of the object.
  if (isStatus && DENIED.test(text)) return 'KUBE_DENIED';
  switch (status) {
    case 401:
      return 'KUBE_UNAUTHORIZED';
    case 403:
      return hasCause('NamespaceTerminating') ? 'KUBE_NAMESPACE_TERMINATING' : 'KUBE_FORBIDDEN';
    // An API server answers an unknown path with plain text or this sentence, and a missing object with its name.
    case 404:
      return isStatus && text !== 'the server could not find the requested resource' ? 'KUBE_NOT_FOUND' : 'KUBE_NOT_SERVED';
    case 405:
      return 'KUBE_NOT_SERVED';
    case 409:
      if (reason === 'AlreadyExists') return 'KUBE_ALREADY_EXISTS';
      return /UID in (the )?precondition/.test(text) ? 'KUBE_PRECONDITION' : 'KUBE_CONFLICT';
    case 410:
      return 'KUBE_GONE';
    case 413:
      return 'KUBE_TOO_LARGE';
    case 422:
      // A merge patch with another uid breaks the immutability of metadata.uid.
      return causes.some((cause) => cause.field === 'metadata.uid') ? 'KUBE_PRECONDITION' : 'KUBE_INVALID';
    case 429:
      return hasCause('DisruptionBudget') ? 'KUBE_DISRUPTION_BUDGET' : 'KUBE_TOO_MANY_REQUESTS';
    case 503:
      return 'KUBE_UNAVAILABLE';
    case 504:
      return 'KUBE_TIMEOUT';
    default:
      if (isStatus && WEBHOOK_FAILED.test(text)) return 'KUBE_WEBHOOK_FAILED';
      return status >= 500 ? 'KUBE_INTERNAL' : 'KUBE_BAD_REQUEST';
  }
}
