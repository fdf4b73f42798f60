import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FairQueue } from './fair-queue.ts';

describe('FairQueue', () => {
  const all = (queue: FairQueue<string>): string[] => {
    const taken: string[] = [];
    for (let entry = queue.take(); entry !== undefined; entry = queue.take()) taken.push(entry);
    return taken;
  };

  it('gives each share a turn, however many entries one of them adds', () => {
    const queue = new FairQueue<string>();
    for (let n = 1; n <= 4; n++) queue.add('flood', `flood ${n}`);
    queue.add('quiet', 'quiet 1');
    queue.add('other', 'other 1');
    queue.add('quiet', 'quiet 2');
    assert.deepEqual(all(queue), ['flood 1', 'quiet 1', 'other 1', 'flood 2', 'quiet 2', 'flood 3', 'flood 4']);
    assert.equal(queue.size, 0);
  });

  it('drops superseded entries of a share above its limit first, then the oldest', () => {
    const queue = new FairQueue<string>({ perShare: 3, total: 100 });
    for (const entry of ['a1', 'b1', 'c1']) assert.equal(queue.add('flood', entry), undefined);
    assert.equal(
      queue.add('flood', 'b2', (other) => other.startsWith('b')),
      'b1',
    );
    assert.equal(queue.add('flood', 'd1'), 'a1');
    assert.equal(queue.add('quiet', 'q1'), undefined);
    assert.deepEqual(all(queue), ['c1', 'q1', 'b2', 'd1']);
  });

  it('drops an entry of the longest share above the total limit', () => {
    const queue = new FairQueue<string>({ perShare: 10, total: 5 });
    for (let n = 1; n <= 5; n++) queue.add('flood', `flood ${n}`);
    assert.equal(queue.add('quiet', 'quiet 1'), 'flood 1');
    assert.equal(queue.add('quiet', 'quiet 2'), 'flood 2');
    assert.equal(queue.add('quiet', 'quiet 3'), 'flood 3');
    assert.equal(queue.size, 5);
  });

  it('skips a share that may not take a turn, and forgets removed entries', () => {
    const queue = new FairQueue<string>();
    queue.add('hangs', 'h1');
    queue.add('quiet', 'q1');
    queue.add('quiet', 'q2');
    assert.equal(queue.remove('quiet', 'q1'), true);
    assert.equal(queue.remove('quiet', 'q1'), false);
    assert.equal(
      queue.take((share) => share !== 'hangs'),
      'q2',
    );
    assert.equal(
      queue.take((share) => share !== 'hangs'),
      undefined,
    );
    assert.equal(queue.take(), 'h1');
  });

  it('holds an entry once', () => {
    const queue = new FairQueue<string>({ perShare: 1, total: 1 });
    queue.add('a', 'one');
    assert.equal(queue.add('a', 'one'), undefined);
    assert.equal(queue.size, 1);
  });
});
