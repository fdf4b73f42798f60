import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TransactionLanes } from './transaction-lanes.ts';

test('a share with a failed row gets transactions of its own, in turn with the common lane, until five minutes without a failure', () => {
  const lanes = new TransactionLanes(2_000);
  assert.deepEqual(lanes.turns(0), ['']);
  assert.equal(lanes.isOne, true);
  lanes.failed('flood', 0);
  lanes.failed('other', 0);
  assert.deepEqual(
    [lanes.has('', 'flood'), lanes.has('flood', 'flood'), lanes.has('flood', 'quiet'), lanes.has('', 'quiet')],
    [false, true, false, true],
  );
  const order: string[] = [];
  for (let n = 0; n < 6; n++) {
    const [lane = '-'] = lanes.turns(1);
    order.push(lane);
    lanes.sent(lane);
  }
  assert.deepEqual(order, ['', 'flood', '', 'other', '', 'flood']);
  assert.deepEqual(lanes.turns(300_000).length, 3);
  assert.deepEqual(lanes.turns(300_001), ['']);
  assert.equal(lanes.isOne, true);
});

test('each lane has its own number of rows in a transaction', () => {
  const lanes = new TransactionLanes(2_000);
  lanes.failed('flood', 0);
  lanes.halve('flood', 1_000);
  assert.deepEqual([lanes.rows('flood'), lanes.rows('')], [500, 2_000]);
  for (let n = 0; n < 20; n++) lanes.halve('flood', 1_000);
  assert.equal(lanes.rows('flood'), 1);
  lanes.committed('flood');
  assert.equal(lanes.rows('flood'), 2);
  lanes.halve('', 100);
  assert.deepEqual([lanes.rows('flood'), lanes.rows('')], [2, 50]);
});

test('a share with very many failures is in backoff, and no other one does', () => {
  const lanes = new TransactionLanes(2_000);
  lanes.failed('other', 0);
  for (let n = 0; n < 80; n++) lanes.failed('flood', 0);
  assert.deepEqual(lanes.turns(0), ['', 'other', 'flood']);
  assert.equal(lanes.nextBackoffEnd(0), undefined);
  lanes.failed('flood', 0);
  assert.deepEqual(lanes.turns(0), ['', 'other']);
  const until = lanes.nextBackoffEnd(0) ?? 0;
  assert.ok(until > 0 && until <= 251, `${until}`);
  assert.deepEqual(lanes.turns(until), ['', 'other', 'flood']);
});
