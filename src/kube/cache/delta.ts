import type { KubeObject } from '../resource.ts';

/** One change of a cache's contents. Objects are shared: treat them as frozen. */
export type Delta<T extends KubeObject> =
  /** `before` is the old object of the name. A recreated object gives a delete and an upsert without `before`. */
  | { readonly type: 'upsert'; readonly object: T; readonly before?: T }
  /** `object` is its last known state. `inferred`: no event delivered the deletion; a list lacked the object. */
  | { readonly type: 'delete'; readonly object: T; readonly inferred?: true };

/** The deltas of one chunk of the stream, one page of a list, or one own write; never empty. */
export type DeltaListener<T extends KubeObject> = (deltas: readonly Delta<T>[]) => void;
