import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LateChanges } from './late-changes.ts';

test('while rules are behind, the newest change of each object waits, and all enter together when no rule is due', () => {
  const late = new LateChanges();
  const seen: string[] = [];
  const edit = (key: string, what: string): boolean => late.take('pods', key, () => seen.push(`${key} ${what}`));
  assert.equal(edit('shop/a', 'goes through'), false);
  late.hold();
  for (let n = 0; n < 1_000; n++) assert.equal(edit(`flood/${n % 3}`, `edit ${n}`), true);
  edit('shop/b', 'made');
  late.take('vpcs', 'red', () => seen.push('red'));
  assert.deepEqual([late.size, seen, late.has('pods', 'flood/0'), late.has('pods', 'shop/a')], [5, [], true, false]);
  assert.deepEqual(
    [...late.release()],
    [
      ['pods', ['flood/0', 'flood/1', 'flood/2', 'shop/b']],
      ['vpcs', ['red']],
    ],
  );
  assert.deepEqual(seen, ['flood/0 edit 999', 'flood/1 edit 997', 'flood/2 edit 998', 'shop/b made', 'red']);
  assert.equal(edit('shop/c', 'goes through'), false);
  assert.equal(late.size, 0);
});
