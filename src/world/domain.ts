/**
 * Which keys a rule runs for: a set that announces who enters and who leaves.
 */
import type { Table } from './table.ts';

export interface Watcher {
  readonly enter: (key: string) => void;
  readonly leave: (key: string) => void;
}

export interface Domain {
  /** Announces the present keys, then every change. */
  watch(watcher: Watcher): void;
}

/** All keys of a table, or those whose object satisfies a predicate, which may look at nothing else: it is asked again of what the object was. */
export function keysOf<T>(table: Table<T>, predicate: (object: T) => boolean = () => true): Domain {
  return {
    watch({ enter, leave }) {
      for (const [key, object] of table.entries()) if (predicate(object)) enter(key);
      table.onChange((key, after, before) => {
        const was = before !== undefined && predicate(before);
        const is = after !== undefined && predicate(after);
        if (is && !was) enter(key);
        else if (was && !is) leave(key);
      });
    },
  };
}

/** The values of an index that some object of the table is filed under. */
export function valuesOf<T>(table: Table<T>, index: string): Domain {
  return {
    watch({ enter, leave }) {
      const present = new Set<string>();
      const come = (object: T): void => {
        for (const value of table.valuesOf(index, object)) {
          if (present.has(value)) continue;
          present.add(value);
          enter(value);
        }
      };
      for (const [, object] of table.entries()) come(object);
      table.onChange((_, after, before) => {
        if (after !== undefined) come(after);
        if (before === undefined) return;
        for (const value of table.valuesOf(index, before))
          if (table.peekBucket(index, value).size === 0 && present.delete(value)) leave(value);
      });
    },
  };
}

/** Keys that are in both. */
export function bothOf(a: Domain, b: Domain): Domain {
  return {
    watch({ enter, leave }) {
      const side = (own: Set<string>, other: ReadonlySet<string>): Watcher => ({
        enter: (key) => {
          own.add(key);
          if (other.has(key)) enter(key);
        },
        leave: (key) => {
          own.delete(key);
          if (other.has(key)) leave(key);
        },
      });
      const left = new Set<string>();
      const right = new Set<string>();
      a.watch(side(left, right));
      b.watch(side(right, left));
    },
  };
}

const SEPARATOR = '\n';

/** Every pair of a key of `a` with a key of `b`; take the key apart with `splitPair`. */
export function pairsOf(a: Domain, b: Domain): Domain {
  return {
    watch({ enter, leave }) {
      const left = new Set<string>();
      const right = new Set<string>();
      a.watch({
        enter: (key) => {
          left.add(key);
          for (const other of right) enter(pairOf(key, other));
        },
        leave: (key) => {
          left.delete(key);
          for (const other of right) leave(pairOf(key, other));
        },
      });
      b.watch({
        enter: (key) => {
          right.add(key);
          for (const other of left) enter(pairOf(other, key));
        },
        leave: (key) => {
          right.delete(key);
          for (const other of left) leave(pairOf(other, key));
        },
      });
    },
  };
}

/** The key of a pair. */
export function pairOf(a: string, b: string): string {
  return a + SEPARATOR + b;
}

export function splitPair(key: string): readonly [string, string] {
  const at = key.indexOf(SEPARATOR);
  return [key.slice(0, at), key.slice(at + 1)];
}

/** One key, the empty one: for what exists once in a cluster. */
export const ONCE: Domain = {
  watch({ enter }) {
    enter('');
  },
};
