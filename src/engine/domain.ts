/** The keys that a rule runs for: a set that announces each key that enters or leaves it. */
import type { Table } from './table.ts';
import type { Watcher } from './watcher.ts';

/**
 * A set of keys that changes.
 *
 * Guarantees: `watch` first announces each present key once, synchronously, then each change once and in order. A key that enters twice
 * without leaving in between is a bug of the domain. Watching does not end: a domain lives as long as its World.
 *
 * Cost: each change of the table calls the watcher once, and runs the predicate on the old and the new object. `pairsOf` announces one pair
 * for each key of the other side.
 */
export interface Domain {
  /** Announces the present keys, then every change. */
  watch(watcher: Watcher): void;
}

/** The keys of the objects in a table that satisfy a predicate. The predicate must be pure: it also runs on the object before a change. */
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

/** The values of an index that at least one object of the table is filed under. */
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

/** Keys that are in both domains. */
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

/** The keys of several domains, each with its prefix before it, so that the domains share none. */
export function prefixed(domains: Readonly<Record<string, Domain>>): Domain {
  return {
    watch({ enter, leave }) {
      for (const [prefix, domain] of Object.entries(domains))
        domain.watch({ enter: (key) => enter(prefix + key), leave: (key) => leave(prefix + key) });
    },
  };
}

const SEPARATOR = '\n';

/** Every pair of a key of `a` with a key of `b`; `splitPair` splits the key. */
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

/** One key, the empty one: for a rule that runs once per cluster. */
export const ONCE: Domain = {
  watch({ enter }) {
    enter('');
  },
};
