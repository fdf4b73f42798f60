import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../timing/clock.ts';
import type { Replica, RowChange } from '../../ovsdb/index.ts';
import { RowIntake } from './row-intake.ts';

const REPLICA = {} as Replica;

function rows(count: number): readonly RowChange[] {
  return Array.from({ length: count }, () => ({}) as RowChange);
}

/** Takes rows one by one, a millisecond each, and records them. */
function intakeOf() {
  const taken: string[] = [];
  const deferred: (() => void)[] = [];
  let now = 0;
  const intake = new RowIntake({
    rows: {
      apply: (_, batch) => void taken.push(`${batch.length} at once`),
      *applying(_, batch) {
        for (let at = 0; at < batch.length; at += 1_000) {
          now += 1;
          yield;
        }
        taken.push(`${batch.length} in steps`);
      },
    },
    clock: { ...systemClock, now: () => now },
    stepMs: 2,
    defer: (step) => void deferred.push(step),
    done: () => void taken.push('done'),
  });
  return { intake, taken, step: () => deferred.shift()?.(), waiting: () => deferred.length };
}

test('few rows are in the World at once', () => {
  const { intake, taken } = intakeOf();
  assert.equal(intake.filling, false);
  intake.take(REPLICA, rows(10));
  assert.deepEqual(taken, ['10 at once', 'done']);
  assert.equal(intake.busy, false);
});

test('very many rows enter in steps, other work runs between them, and later batches wait', () => {
  const { intake, taken, step, waiting } = intakeOf();
  intake.take(REPLICA, rows(9_000));
  assert.deepEqual([intake.busy, intake.filling, taken], [true, true, []]);
  intake.take(REPLICA, rows(3));
  step();
  assert.deepEqual(taken, []);
  let steps = 1;
  for (; waiting() > 0; steps++) step();
  assert.ok(steps >= 3, `${steps} steps`);
  assert.deepEqual(taken, ['9000 in steps', '3 in steps', 'done']);
  assert.deepEqual([intake.busy, intake.filling], [false, false]);
  intake.take(REPLICA, rows(9_000));
  assert.deepEqual([intake.busy, intake.filling], [true, false], 'only the first contents make the World incomplete');
});
