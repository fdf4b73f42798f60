import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInShare } from './long-run.ts';

test('a share has about the right size, and membership of a name is constant', () => {
  const names = Array.from({ length: 3_000 }, (_, at) => `C${at}: a Subnet waits for its Vpc`);
  const share = names.filter((name) => isInShare(name, 3));
  assert.ok(share.length > 900 && share.length < 1_100, `${share.length}`);
  assert.deepEqual(
    names.toReversed().filter((name) => isInShare(name, 3)),
    share.toReversed(),
  );
  assert.ok(names.every((name) => isInShare(name, 1)));
});
