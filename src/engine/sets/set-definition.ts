/** Definitions of live sets. */
import type { Watcher } from '../watcher.ts';

/**
 * A set of keys, defined by a pure function of the World and one key, which several rules share.
 *
 * Guarantees: `candidates` runs again when a source that it read has changed; parts that it names again stay as they are. `member` runs
 * once for each candidate, and again when a source that it read has changed; what others read of the set is touched only if the set
 * changes. A read never returns a stale answer. A definition that throws (a bug) throws the same error at each reader, and the members stay
 * as they were. A set that reads itself is an error.
 *
 * Cost: for each change, what enters and leaves. In memory, as long as something reads or watches the set: one entry for each candidate,
 * and one computation where there is a `member`.
 */
export interface SetDefinition<World> {
  /** For error messages and profiles. */
  readonly name: string;
  /** Index of the definition among all definitions. */
  readonly index: number;
  /** What the set is the union of; tracked. */
  readonly candidates: (world: World, key: string) => readonly Part[];
  /** The member that a candidate stands for, or undefined for none; tracked. Without it, each candidate is a member. */
  readonly member: ((world: World, key: string, candidate: string) => string | undefined) | undefined;
}

/** A set of any World, for what only passes it on. */
export type AnySet = SetDefinition<never>;

/** An index bucket that can be watched: a `Table`. */
export interface BucketTable {
  readonly name: string;
  /** Of a derived table: brings it up to date. */
  refresh?(): void;
  readonly height: number;
  watchBucket(index: string, value: string, watcher: Watcher): () => void;
}

/** Rows whose children can be watched: `ObservedRows`. */
export interface ChildRows {
  watchChildren(parent: string, column: string, watcher: Watcher): () => void;
}

/** A part of the union. */
export type Part =
  /** These keys. */
  | { readonly kind: 'keys'; readonly keys: readonly string[] }
  /** The keys of a table that are filed under a value of an index. */
  | { readonly kind: 'bucket'; readonly table: BucketTable; readonly index: string; readonly value: string }
  /** The identities of the rows in a column of child rows. */
  | { readonly kind: 'children'; readonly rows: ChildRows; readonly parent: string; readonly column: string }
  /** Another set. */
  | { readonly kind: 'set'; readonly of: AnySet; readonly key: string }
  /** For each member of another set, an index bucket: the members are the values. */
  | { readonly kind: 'buckets'; readonly table: BucketTable; readonly index: string; readonly of: AnySet; readonly key: string };
