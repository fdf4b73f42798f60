import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WriteQueue } from './write-queue.ts';

const urgent = { lane: 'object', urgent: true, share: 'shop' };
const other = { lane: 'object', urgent: false, share: 'shop' };

describe('WriteQueue', () => {
  /** Sends all writes that may be sent now. @returns them */
  const send = (queue: WriteQueue<string>, now: number): string[] => {
    const sent: string[] = [];
    for (let entry = queue.take(now); entry !== undefined; entry = queue.take(now)) {
      queue.started(entry.startsWith('urgent') ? urgent : other, now);
      sent.push(entry);
    }
    return sent;
  };

  it('sends urgent ones first, whenever they were added', () => {
    const queue = new WriteQueue<string>(64);
    queue.add(other, 'other 1');
    queue.add(urgent, 'urgent 1');
    queue.add(other, 'other 2');
    queue.add(urgent, 'urgent 2');
    assert.deepEqual(send(queue, 0), ['urgent 1', 'urgent 2', 'other 1', 'other 2']);
  });

  it('limits other writes while there are urgent ones, and a step longer', () => {
    const queue = new WriteQueue<string>(64);
    for (let n = 0; n < 100; n++) queue.add(other, `other ${n}`);
    queue.add(urgent, 'urgent');
    assert.equal(send(queue, 0).length, 9);
    assert.deepEqual(send(queue, 30_000), []);
    assert.equal(queue.heldUntil, undefined, 'no polling while an urgent one is in flight');
    queue.ended(urgent, 50);
    assert.deepEqual(send(queue, 100), []);
    assert.equal(queue.heldUntil, 250);
    queue.ended(other, 100);
    assert.equal(send(queue, 100).length, 1);
    assert.equal(send(queue, 250).length, 40, 'one share leaves room for another');
    assert.equal(queue.heldUntil, undefined);
  });

  it('never exceeds the concurrency, urgent or not', () => {
    const queue = new WriteQueue<string>(3);
    for (let n = 0; n < 5; n++) queue.add(urgent, `urgent ${n}`);
    queue.add(other, 'other');
    assert.equal(send(queue, 0).length, 3);
    queue.ended(urgent, 1);
    assert.deepEqual(send(queue, 1), ['urgent 3']);
  });

  it('forgets removed entries', () => {
    const queue = new WriteQueue<string>(3);
    queue.add(urgent, 'urgent');
    queue.add(other, 'other');
    queue.remove(urgent, 'urgent');
    queue.remove(other, 'other');
    assert.deepEqual(send(queue, 0), []);
  });

  it('lets shares take turns among urgent and among other writes, however many one of them adds', () => {
    const queue = new WriteQueue<string>(64);
    for (const turn of [urgent, other]) {
      const name = turn.urgent ? 'urgent' : 'other';
      for (let n = 0; n < 1_000; n++) queue.add({ ...turn, share: 'flood' }, `${name} flood ${n}`);
      for (let n = 0; n < 2; n++) queue.add({ ...turn, share: 'quiet' }, `${name} quiet ${n}`);
    }
    const turnOf = (entry: string): typeof urgent => ({
      ...(entry.startsWith('urgent') ? urgent : other),
      share: entry.split(' ')[1] ?? '',
    });
    const one = (now: number): string => {
      const entry = queue.take(now) ?? '';
      queue.started(turnOf(entry), now);
      queue.ended(turnOf(entry), now);
      return entry;
    };
    assert.deepEqual([one(0), one(0), one(0), one(0)], ['urgent flood 0', 'urgent quiet 0', 'urgent flood 1', 'urgent quiet 1']);
    for (let n = 0; n < 998; n++) one(0);
    assert.deepEqual([one(1_000), one(1_000)], ['other flood 0', 'other quiet 0']);
  });

  it('has room for a fifth share while the writes of four hang, and shares what becomes free', () => {
    const queue = new WriteQueue<string>(64);
    const inFlight: number[] = [];
    for (let share = 0; share < 4; share++) {
      const turn = { ...urgent, share: `hangs ${share}` };
      for (let n = 0; n < 100; n++) queue.add(turn, `${share} ${n}`);
      let sent = 0;
      for (let entry = queue.take(0); entry !== undefined; entry = queue.take(0), sent++)
        queue.started({ ...urgent, share: `hangs ${entry.split(' ')[0] ?? ''}` }, 0);
      inFlight.push(sent);
    }
    assert.deepEqual(inFlight, [48, 12, 3, 1]);
    const quiet = { ...urgent, share: 'quiet' };
    for (const entry of ['quiet 1', 'quiet 2']) queue.add(quiet, entry);
    assert.equal(queue.take(0), undefined);
    for (let n = 0; n < 4; n++) queue.ended({ ...urgent, share: 'hangs 0' }, 1);
    const next: string[] = [];
    for (let entry = queue.take(1); entry !== undefined; entry = queue.take(1)) {
      next.push(entry);
      queue.started({ ...urgent, share: entry.startsWith('quiet') ? 'quiet' : `hangs ${entry.split(' ')[0] ?? ''}` }, 1);
    }
    assert.deepEqual(next, ['2 3', '3 1', 'quiet 1', '3 2']);
  });
});
