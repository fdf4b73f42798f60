/**
 * Every error of this folder is an {@link OvsdbError} with a code from {@link errorCodes}. Match on the code, never on the message.
 * The first group is the client's own; the second are the error strings of RFC 7047 and of ovsdb-server(7), section 3.1.
 */
export const errorCodes = {
  OVSDB_BAD_ENDPOINT: 'an endpoint is not unix:PATH, tcp:HOST:PORT or ssl:HOST:PORT',
  OVSDB_BAD_OPTION: 'an option of the session cannot be used',
  OVSDB_CONNECT_FAILED: 'the connection could not be made',
  OVSDB_CONNECT_TIMEOUT: 'the connection took longer than connectTimeoutMs',
  OVSDB_DISCONNECTED: 'the connection was lost, or there is none',
  OVSDB_PROBE_TIMEOUT: 'the server was silent and did not answer an echo',
  OVSDB_BROKEN_STREAM: 'the server sent bytes that are not JSON',
  OVSDB_MESSAGE_TOO_LARGE: 'a message is larger than maxMessageBytes',
  OVSDB_PROTOCOL: 'the server sent JSON that is not the protocol',
  OVSDB_BAD_SCHEMA: 'the server sent a schema that cannot be read',
  OVSDB_BAD_VALUE: 'a value does not fit the type of its column',
  OVSDB_INCONSISTENT: 'an update does not fit the replica; everything is read again',
  OVSDB_NO_DATABASE: 'the server does not have the database, has not joined its cluster yet, or was just started',
  OVSDB_NOT_LEADER: 'the server is not the leader of the cluster',
  OVSDB_CLUSTER_DISCONNECTED: 'the server has lost the majority of its cluster',
  OVSDB_STALE_SERVER: 'the server is behind what was read before',
  OVSDB_OTHER_CLUSTER: 'the server is not of the cluster that was read before',
  OVSDB_MONITOR_CANCELED: 'the server ended the monitor',
  OVSDB_NOT_MONITORED: 'the table is not among those that the session monitors',
  OVSDB_TRANSACTION_TIMEOUT: 'the reply to a transaction took longer than timeoutMs',
  OVSDB_NO_REPLY: 'the server answers echoes and does not answer a request; the connection is closed',
  OVSDB_EFFECT_MISSING: 'the server reported success of a transaction and did not send its changes; the connection is closed',
  OVSDB_CLOSED: 'the session was closed',
  OVSDB_READ_ONLY: 'the session only reads, and this would have changed something: it was not sent',

  OVSDB_ABORTED: 'aborted',
  OVSDB_CANCELED: 'canceled',
  OVSDB_CLUSTER_ERROR: 'cluster error',
  OVSDB_CONSTRAINT_VIOLATION: 'constraint violation',
  OVSDB_DOMAIN_ERROR: 'domain error',
  OVSDB_DUPLICATE_UUID: 'duplicate uuid',
  OVSDB_DUPLICATE_UUID_NAME: 'duplicate uuid-name',
  OVSDB_INTERNAL_ERROR: 'internal error',
  OVSDB_IO_ERROR: 'I/O error',
  OVSDB_NOT_ALLOWED: 'not allowed',
  OVSDB_NOT_OWNER: 'not owner',
  OVSDB_NOT_SUPPORTED: 'not supported',
  OVSDB_OVSDB_ERROR: 'ovsdb error',
  OVSDB_PERMISSION_ERROR: 'permission error',
  OVSDB_RANGE_ERROR: 'range error',
  OVSDB_REFERENTIAL_INTEGRITY_VIOLATION: 'referential integrity violation',
  OVSDB_RESOURCES_EXHAUSTED: 'resources exhausted',
  OVSDB_SYNTAX_ERROR: 'syntax error',
  OVSDB_TIMED_OUT: 'timed out',
  OVSDB_UNKNOWN_COLUMN: 'unknown column',
  OVSDB_UNKNOWN_DATABASE: 'unknown database',
  OVSDB_UNKNOWN_METHOD: 'unknown method',
  OVSDB_UNKNOWN_TABLE: 'unknown table',
  OVSDB_SERVER_ERROR: 'an error of the server that this client does not know by name',
} as const;

export type OvsdbErrorCode = keyof typeof errorCodes;

/** One operation of a transaction, as an error names it. `where` is the condition as text. */
export interface OperationReference {
  readonly index: number;
  readonly op: string;
  readonly table?: string;
  readonly where?: string;
}

/**
 * The state of a transaction that failed: it was never sent (`not-sent`), the server answered with an error and changed nothing
 * (`rejected`), or the connection ended before the reply, that of a relay too, and it may have taken effect (`unknown`).
 */
export type TransactionFate = 'not-sent' | 'rejected' | 'unknown';

export interface OvsdbErrorDetails {
  readonly cause?: unknown;
  /** The server's `error` string. */
  readonly serverError?: string;
  /** The server's `details` and `syntax` members. */
  readonly details?: string;
  readonly outcome?: TransactionFate;
  /** The operation that failed; absent where the transaction failed as a whole, at its commit. */
  readonly operation?: OperationReference;
  /** For a failure at commit: the operations that name a row which the server's details name. */
  readonly suspects?: readonly OperationReference[];
  readonly endpoint?: string;
}

export class OvsdbError extends Error {
  override readonly name = 'OvsdbError';
  readonly code: OvsdbErrorCode;
  readonly serverError: string | undefined;
  readonly details: string | undefined;
  readonly outcome: TransactionFate | undefined;
  readonly operation: OperationReference | undefined;
  readonly suspects: readonly OperationReference[];
  readonly endpoint: string | undefined;

  constructor(code: OvsdbErrorCode, message: string, more: OvsdbErrorDetails = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.serverError = more.serverError;
    this.details = more.details;
    this.outcome = more.outcome;
    this.operation = more.operation;
    this.suspects = more.suspects ?? [];
    this.endpoint = more.endpoint;
  }
}

/** Every transaction would fail: a full disk, a cluster without majority, a read-only replica. No operation is at fault. */
const serverWide: ReadonlySet<OvsdbErrorCode> = new Set<OvsdbErrorCode>([
  'OVSDB_IO_ERROR',
  'OVSDB_CLUSTER_ERROR',
  'OVSDB_NOT_ALLOWED',
  'OVSDB_CANCELED',
  'OVSDB_UNKNOWN_DATABASE',
]);

const lies: ReadonlySet<OvsdbErrorCode> = new Set<OvsdbErrorCode>([
  'OVSDB_BROKEN_STREAM',
  'OVSDB_MESSAGE_TOO_LARGE',
  'OVSDB_PROTOCOL',
  'OVSDB_NO_REPLY',
  'OVSDB_EFFECT_MISSING',
]);

/** Whether a connection ended because the server answered against the protocol: it is reachable, and its answers cannot be used. */
export function isProtocolViolation(code: OvsdbErrorCode): boolean {
  return lies.has(code);
}

/** Whether a transaction failed for a reason that has nothing to do with its operations: any other one would fail as well. */
export function isServerWide(error: OvsdbError): boolean {
  return serverWide.has(error.code);
}

const codeOfServerError = new Map<string, OvsdbErrorCode>(
  Object.entries(errorCodes)
    .slice(Object.keys(errorCodes).indexOf('OVSDB_ABORTED'))
    .map(([code, text]) => [text, code as OvsdbErrorCode]),
);

/** An `error` member as a server sends it: `{ error, details?, syntax? }`, or a bare string as RFC 7047 writes some of them. */
export interface ServerError {
  readonly code: OvsdbErrorCode;
  readonly error: string;
  readonly details: string | undefined;
}

export function readServerError(json: unknown): ServerError {
  if (typeof json === 'string') return { code: codeOfServerError.get(json) ?? 'OVSDB_SERVER_ERROR', error: json, details: undefined };
  const record: Record<string, unknown> = typeof json === 'object' && json !== null ? { ...json } : {};
  const error = typeof record['error'] === 'string' ? record['error'] : 'unknown error';
  const details = [record['details'], record['io-error'], record['syntax']].filter((part) => typeof part === 'string').join('; in: ');
  return { code: codeOfServerError.get(error) ?? 'OVSDB_SERVER_ERROR', error, details: details === '' ? undefined : details };
}

/** The error that a listener or a result gets for any thrown value. */
export function toOvsdbError(thrown: unknown, code: OvsdbErrorCode): OvsdbError {
  if (thrown instanceof OvsdbError) return thrown;
  return new OvsdbError(code, thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
}
