/** Writes that the API server rejected, as entries of a table: rules report them, and release what depends on them. */
import type { ResourceName } from './resources.ts';

/**
 * The part of an object that a write changes: `create` creates it, `object` changes it, `status` its status, `release` removes the
 * finalizer, `delete` deletes it. The server rejects each apart: a policy about changes does not concern the status.
 */
export type WritePart = 'create' | 'object' | 'status' | 'release' | 'delete';

/** By a policy, a webhook that does not answer, missing rights, or a validation rule of the kind. */
export interface RejectedWrite {
  readonly resource: ResourceName;
  readonly key: string;
  readonly part: WritePart;
  /** The object's; for a create, that of the pod or node which needs it. The entry does not apply to another object of the same name. */
  readonly uid: string;
  /** The server's message. */
  readonly message: string;
  /** Number of rejections in a row. */
  readonly times: number;
  /** Time of the next try, in milliseconds since the epoch. */
  readonly until: number;
}

/** Key in the table. */
export function rejectionKey(resource: ResourceName, key: string, part: WritePart): string {
  return `${part} ${resource}/${key}`;
}
