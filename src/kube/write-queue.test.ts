import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WriteQueue } from './write-queue.ts';

const urgent = { lane: 'object', urgent: true };
const other = { lane: 'object', urgent: false };

describe('WriteQueue', () => {
  /** Sends all that may go. @returns what was sent */
  const send = (queue: WriteQueue<string>, now: number): string[] => {
    const sent: string[] = [];
    for (let entry = queue.take(now); entry !== undefined; entry = queue.take(now)) {
      queue.started(entry.startsWith('urgent') ? urgent : other, now);
      sent.push(entry);
    }
    return sent;
  };

  it('sends urgent ones first, whenever they came', () => {
    const queue = new WriteQueue<string>(64);
    queue.add(other, 'other 1');
    queue.add(urgent, 'urgent 1');
    queue.add(other, 'other 2');
    queue.add(urgent, 'urgent 2');
    assert.deepEqual(send(queue, 0), ['urgent 1', 'urgent 2', 'other 1', 'other 2']);
  });

  it('keeps the server free of others while there are urgent ones, and a step longer', () => {
    const queue = new WriteQueue<string>(64);
    for (let n = 0; n < 100; n++) queue.add(other, `other ${n}`);
    queue.add(urgent, 'urgent');
    assert.equal(send(queue, 0).length, 9);
    assert.deepEqual(send(queue, 30_000), []);
    assert.equal(queue.heldUntil, undefined, 'nobody looks again and again while an urgent one is not answered');
    queue.ended(urgent, 50);
    assert.deepEqual(send(queue, 100), []);
    assert.equal(queue.heldUntil, 250);
    queue.ended(other, 100);
    assert.equal(send(queue, 100).length, 1);
    assert.equal(send(queue, 250).length, 56);
    assert.equal(queue.heldUntil, undefined);
  });

  it('never has more in flight than it may, urgent or not', () => {
    const queue = new WriteQueue<string>(3);
    for (let n = 0; n < 5; n++) queue.add(urgent, `urgent ${n}`);
    queue.add(other, 'other');
    assert.equal(send(queue, 0).length, 3);
    queue.ended(urgent, 1);
    assert.deepEqual(send(queue, 1), ['urgent 3']);
  });

  it('forgets what is taken back', () => {
    const queue = new WriteQueue<string>(3);
    queue.add(urgent, 'urgent');
    queue.add(other, 'other');
    queue.remove(urgent, 'urgent');
    queue.remove(other, 'other');
    assert.deepEqual(send(queue, 0), []);
  });
});
