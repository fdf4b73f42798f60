import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batches } from './pure-files.ts';

const files = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `src/compile/part/rule-${at}.test.ts`);

test('each file is in one batch; files of the pure core share one, all others are alone', () => {
  const all = ['src/controller/turn.test.ts', 'scripts/build/build.test.ts', ...files(31), 'src/net/net.test.ts', 'src/net/cidr.test.ts'];
  const found = batches(all, () => false);
  assert.deepEqual(found.flatMap((batch) => batch.files).toSorted(), all.toSorted());
  assert.deepEqual(
    found.map((batch) => [batch.name, batch.files.length]),
    [
      ['src/controller/turn.test.ts', 1],
      ['scripts/build/build.test.ts', 1],
      ['src/compile (1 of 3)', 11],
      ['src/compile (2 of 3)', 10],
      ['src/compile (3 of 3)', 10],
      ['src/net', 2],
    ],
  );
});

test('a file that is set aside is alone', () => {
  const [slow] = files(1);
  assert.deepEqual(
    batches(files(2), (file) => file === slow),
    [
      { name: slow, files: [slow] },
      { name: 'src/compile', files: ['src/compile/part/rule-1.test.ts'] },
    ],
  );
});
