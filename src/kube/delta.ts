import type { KubeObject } from './resource.ts';

/** One true change of a cache. Objects are shared and never altered: treat them as frozen. */
export type Delta<T extends KubeObject> =
  /** `before` is what was held under the name; a recreated object comes as a delete and an upsert without it. */
  | { readonly type: 'upsert'; readonly object: T; readonly before?: T }
  /** `object` is the last state that was held. `inferred`: no event told it, but a list did not show the object any more. */
  | { readonly type: 'delete'; readonly object: T; readonly inferred?: true };

/** The deltas of one chunk of the stream, one page of a list, or one write of our own; never empty. */
export type DeltaListener<T extends KubeObject> = (deltas: readonly Delta<T>[]) => void;
