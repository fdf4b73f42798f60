/** How a write or a deletion is asked for, and what came of it. */
import type { KubeObject } from './object.ts';
import type { ResourceDefinition } from './resource.ts';

export interface WriteOptions {
  readonly dryRun?: boolean;
  /** What to do about fields the schema does not know. Default `Ignore`. */
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore';
  /** The object is a request's body as it came. */
  readonly fromClient?: boolean;
  /** The object is what a patch made of the current one. */
  readonly isPatch?: boolean;
  /** Receives the warnings of `fieldValidation=Warn`. */
  readonly warn?: (message: string) => void;
}

export interface UpdateOptions extends WriteOptions {
  readonly subresource?: 'status' | 'finalize' | 'approval';
  /** A full update (PUT), which must name a resourceVersion where the kind demands it. */
  readonly replace?: boolean;
}

export interface DeleteOptions {
  readonly dryRun?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

export interface Deletion {
  readonly object: KubeObject;
  /** False: the object waits for its finalizers or its grace. */
  readonly removed: boolean;
}

/** Says no to a write before it happens. */
export type Guard = (request: {
  readonly verb: 'create' | 'update' | 'delete';
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly name: string;
  readonly object?: KubeObject;
  /** Of a creation or an update. */
  readonly options?: WriteOptions;
}) => void;
