/** An OVSDB client (RFC 7047, and ovsdb-server(7)): see README.md. */
export { OvsdbSession, type SessionState } from './session.ts';
export { isLockHeld } from './lock.ts';
export { firstRead } from './first-read.ts';
export { parseEndpoint, type Endpoint } from './endpoint.ts';
export type { OvsdbOptions } from './session-options.ts';
export { snapshotDial, type SnapshotSource } from './snapshot-dial.ts';
export type { BackoffOptions } from '../timing/backoff.ts';
export type { Scheduler } from '../timing/clock.ts';
export type { Dial, TlsMaterial, TlsOption, Wire } from './transport.ts';
export type { TransactOptions } from './send-transaction.ts';
export type { MissingPart, MonitoredTables } from './monitor.ts';
export type { Replica, ReplicaStatus } from './replica.ts';
export type { KeyOf, ReplicaIndex } from './row-index.ts';
export type { ColumnChange, RowChange } from './row-change.ts';
export { equalValues, type Atom, type InputRow, type InputValue, type Row, type Value } from './value.ts';
export { isUuid, newUuid, parseUuid, zeroUuid, type Uuid } from './uuid.ts';
export { parseSchema, type BaseType, type ColumnKind, type ColumnSchema, type DatabaseSchema, type TableSchema } from './schema.ts';
export { decodeValue, defaultValue } from './decode.ts';
export { encode, encodeRow, encodeValue } from './encode.ts';
export { equals, excludes, includes, notEquals, rowIs, type Condition, type ConditionFunction } from './condition.ts';
export {
  abort,
  assertLock,
  comment,
  deleteRows,
  insert,
  insertNamed,
  mapSet,
  mutate,
  mutateDelete,
  mutateInsert,
  select,
  update,
  waitFor,
  waitForNone,
  waitForRow,
  type Mutation,
  type Mutator,
  type Operation,
} from './operation.ts';
export type { OperationResult, TransactOutcome } from './transaction.ts';
export {
  errorCodes,
  isProtocolViolation,
  isServerWide,
  OvsdbError,
  toOvsdbError,
  type OperationReference,
  type OvsdbErrorCode,
  type OvsdbErrorDetails,
  type TransactionFate,
} from './errors.ts';
