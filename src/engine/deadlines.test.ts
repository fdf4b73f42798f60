import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadlines } from './deadlines.ts';
import { Computed, Reactor } from './reactor.ts';

function setUp(): {
  readonly reactor: Reactor;
  readonly deadlines: Deadlines;
  readonly waits: (deadline: number) => { readonly passed: Computed<boolean>; readonly runs: () => number };
} {
  const reactor = new Reactor();
  const deadlines = new Deadlines(reactor);
  const waits = (deadline: number): { passed: Computed<boolean>; runs: () => number } => {
    let runs = 0;
    const passed = new Computed(reactor, () => {
      runs++;
      return deadlines.passed(deadline);
    });
    passed.get();
    return { passed, runs: () => runs };
  };
  return { reactor, deadlines, waits };
}

test('time invalidates only computations that wait for it', () => {
  const { reactor, deadlines, waits } = setUp();
  const [early, late] = [waits(5_000), waits(9_000)];
  assert.equal(deadlines.next, 5_000);
  deadlines.advance(4_999);
  reactor.runDue();
  assert.deepEqual([early.passed.get(), late.passed.get(), early.runs(), late.runs()], [false, false, 1, 1]);
  deadlines.advance(5_000);
  reactor.runDue();
  assert.deepEqual([early.passed.get(), late.passed.get(), early.runs(), late.runs()], [true, false, 2, 1]);
  assert.equal(deadlines.next, 9_000);
});

test('a deadline has passed at the end of its second, and time never goes back', () => {
  const { deadlines } = setUp();
  deadlines.advance(1_500);
  assert.equal(deadlines.passed(1_200), false);
  deadlines.advance(2_000);
  deadlines.advance(1_000);
  assert.equal(deadlines.passed(1_200), true);
});

test('a deadline without readers is dropped', () => {
  const { deadlines, waits } = setUp();
  const [first, second] = [waits(5_000), waits(5_000)];
  first.passed.dispose();
  assert.equal(deadlines.next, 5_000);
  second.passed.dispose();
  assert.equal(deadlines.next, undefined);
});
