/** Writes that the API server refused, as entries of a table: rules tell of them, and let go of what rests on them. */
import type { ResourceName } from './resources.ts';

/**
 * What of an object was to be written: `create` makes it, `object` changes it, `status` its status, `release` takes the finalizer away,
 * `delete` the object. They are refused apart: a policy about changes does not speak of the status.
 */
export type WritePart = 'create' | 'object' | 'status' | 'release' | 'delete';

/** A policy of somebody, a webhook that does not answer, rights that are missing, a rule of the kind. */
export interface RejectedWrite {
  readonly resource: ResourceName;
  readonly key: string;
  readonly part: WritePart;
  /** Of the object; of one that is to be made, of the pod or the node that it is for. Another one of the same name is not refused yet. */
  readonly uid: string;
  /** What the server said. */
  readonly message: string;
  /** How often, one after another. */
  readonly times: number;
  /** When it is tried again, in milliseconds since the epoch. */
  readonly until: number;
}

/** Key in the table. */
export function rejectionKey(resource: ResourceName, key: string, part: WritePart): string {
  return `${part} ${resource}/${key}`;
}
