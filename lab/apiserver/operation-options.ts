/** The options of a write or a deletion, and its result. */
import type { KubeObject } from './object.ts';
import type { ResourceDefinition } from './resource.ts';

export interface WriteOptions {
  readonly dryRun?: boolean;
  /** The treatment of fields that the schema does not have. Default `Ignore`. */
  readonly fieldValidation?: 'Strict' | 'Warn' | 'Ignore';
  /** The object is the unchanged body of a request. */
  readonly fromClient?: boolean;
  /** The object is the result of a patch. */
  readonly isPatch?: boolean;
  /** Receives the warnings of `fieldValidation=Warn`. */
  readonly warn?: (message: string) => void;
}

export interface UpdateOptions extends WriteOptions {
  readonly subresource?: 'status' | 'finalize';
  /** A full update (PUT), which must have a resourceVersion if the kind requires it. */
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
  /** False: the object waits for its finalizers or its grace period. */
  readonly removed: boolean;
}

/** Rejects a write before it takes effect, by throwing. */
export type Guard = (request: {
  readonly verb: 'create' | 'update' | 'delete';
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly name: string;
  readonly object?: KubeObject;
  /** Only for a creation or an update. */
  readonly options?: WriteOptions;
}) => void;
