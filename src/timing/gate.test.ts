import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from './testing/manual-clock.ts';
import { allOf, GateKeeper } from './gate.ts';

function counter(): { readonly wake: () => void; readonly count: () => number } {
  let count = 0;
  return { wake: () => void count++, count: () => count };
}

test('who met a closed gate is woken once when it opens, and who passed is not', () => {
  const keeper = new GateKeeper('a');
  const [held, passed] = [counter(), counter()];
  assert.equal(keeper.gate.passes(held.wake), false);
  assert.equal(keeper.gate.passes(held.wake), false);
  keeper.open();
  assert.equal(keeper.gate.passes(passed.wake), true);
  keeper.open();
  keeper.close();
  keeper.open();
  assert.deepEqual([held.count(), passed.count()], [1, 0]);
});

test('a gate that time closed wakes who met it closed, and not by an opening that is over already', () => {
  const clock = new ManualClock();
  const keeper = new GateKeeper('lease', clock);
  const held = counter();
  keeper.open(clock.now() + 10);
  clock.advance(10);
  assert.equal(keeper.gate.passes(held.wake), false);
  keeper.open(clock.now());
  assert.equal(held.count(), 0);
  keeper.open(clock.now() + 10);
  assert.equal(held.count(), 1);
});

test('of several gates, the one that is closed wakes; after it the next', () => {
  const [first, second] = [new GateKeeper('first'), new GateKeeper('second')];
  const both = allOf('both', [first.gate, second.gate]);
  const held = counter();
  assert.equal(both.passes(held.wake), false);
  first.open();
  assert.equal(held.count(), 1);
  assert.equal(both.passes(held.wake), false);
  second.open();
  assert.equal(held.count(), 2);
  assert.equal(both.passes(held.wake), true);
});

test('who asks again while it is woken waits for the next opening', () => {
  const keeper = new GateKeeper('a');
  let woken = 0;
  const wake = (): void => {
    woken++;
    keeper.close();
    keeper.gate.passes(wake);
  };
  keeper.gate.passes(wake);
  keeper.open();
  assert.equal(woken, 1);
  keeper.open();
  assert.equal(woken, 2);
});
