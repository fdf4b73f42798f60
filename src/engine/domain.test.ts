import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { valuesOf } from './domain.ts';
import { Reactor } from './reactor.ts';
import { Table } from './table.ts';

interface Thing {
  readonly tags: readonly string[];
}

test('the values of an index enter with the first object that has them and leave with the last', () => {
  const change = fc.record({
    key: fc.constantFrom('a', 'b', 'c'),
    tags: fc.option(fc.uniqueArray(fc.constantFrom('x', 'y', 'z')), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(change), fc.nat(5), (changes, before) => {
      const table = new Table<Thing>(new Reactor(), 'things', { tag: ({ tags }) => tags });
      const present = new Set<string>();
      const apply = ({ key, tags }: (typeof changes)[number]): void => {
        if (tags === undefined) table.delete(key);
        else table.set(key, { tags });
      };
      for (const one of changes.slice(0, before)) apply(one);
      valuesOf(table, 'tag').watch({
        enter: (value) => {
          assert.ok(!present.has(value));
          present.add(value);
        },
        leave: (value) => assert.ok(present.delete(value)),
      });
      for (const one of changes.slice(before)) {
        apply(one);
        const expected = new Set([...table.entries()].flatMap(([, { tags }]) => tags));
        assert.deepEqual([...present].toSorted(), [...expected].toSorted());
      }
    }),
  );
});
