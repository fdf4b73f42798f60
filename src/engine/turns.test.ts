import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../timing/testing/manual-clock.ts';
import { Computed, Reactor } from './reactor.ts';
import { Table } from './table.ts';
import type { Target } from './target.ts';
import { TURN_MS, Turns } from './turns.ts';

/** Targets that write down what they are asked. */
class Bench {
  readonly reactor = new Reactor();
  readonly clock = new ManualClock();
  readonly log: string[] = [];
  readonly deferred: (() => void)[] = [];
  readonly turns: Turns;

  constructor(targets: readonly Partial<Target>[], more: { readonly early?: () => boolean } = {}) {
    const all = targets.map((target, at) => this.#target(at, target));
    this.turns = new Turns({
      ...more,
      reactor: this.reactor,
      targets: all,
      clock: this.clock,
      defer: (turn) => this.deferred.push(turn),
      again: () => this.log.push('again'),
      ended: () => this.log.push('ended'),
    });
  }

  #target(at: number, given: Partial<Target>): Target {
    const made: Target = {
      name: `t${at}`,
      observed: true,
      busy: false,
      quiet: true,
      waitingFor: [],
      start: () => undefined,
      stop: () => Promise.resolve(),
      examineAll: () => undefined,
      plan: () => [],
      prepare: () => void this.log.push(`prepare ${at}`),
      flush: () => true,
    };
    const target = Object.assign(given, { ...made, ...given });
    const { flush } = target;
    target.flush = () => {
      this.log.push(`flush ${at}`);
      return flush();
    };
    return target;
  }

  /** Runs one scheduled turn. @returns what happened in it */
  turn(): readonly string[] {
    this.log.length = 0;
    this.deferred.shift()?.();
    return [...this.log];
  }
}

test('one turn is scheduled at a time; it prepares all targets, then flushes them in their order', () => {
  const bench = new Bench([{}, {}]);
  bench.turns.wake();
  bench.turns.wake();
  assert.equal(bench.deferred.length, 1);
  assert.deepEqual(bench.turn(), ['prepare 0', 'prepare 1', 'flush 0', 'flush 1', 'ended']);
  assert.equal(bench.turns.scheduled, false);
});

test('what a diff finds is seen by rules before the next target is flushed', () => {
  const found: string[] = [];
  const bench: Bench = new Bench([
    {
      flush: () => {
        if (found.length === 0) conflicts.set('a', 'conflict');
        return true;
      },
    },
    {},
  ]);
  const conflicts = new Table<string>(bench.reactor, 'conflicts');
  const rule = new Computed(bench.reactor, () => {
    const conflict = conflicts.get('a');
    if (conflict !== undefined) found.push(conflict);
    return conflict;
  });
  rule.get();
  bench.turns.wake();
  assert.deepEqual(bench.turn(), ['prepare 0', 'prepare 1', 'flush 0', 'again']);
  assert.deepEqual(found, []);
  assert.deepEqual(bench.turn(), ['prepare 0', 'prepare 1', 'flush 0', 'flush 1', 'ended']);
  assert.deepEqual(found, ['conflict']);
});

test('a target that has to be called again holds back the next ones', () => {
  let calls = 0;
  const bench = new Bench([{ flush: () => ++calls > 1 }, {}]);
  bench.turns.wake();
  assert.deepEqual(bench.turn(), ['prepare 0', 'prepare 1', 'flush 0', 'again']);
  assert.deepEqual(bench.turn(), ['prepare 0', 'prepare 1', 'flush 0', 'flush 1', 'ended']);
});

test('no target is flushed before all are observed, and no rule runs while a table is half filled', () => {
  const second = { observed: false, busy: false };
  let early = 0;
  const bench = new Bench([{}, second], { early: () => ++early > 1 });
  bench.turns.wake();
  assert.deepEqual([bench.turn(), bench.turns.scheduled], [[], true], 'early work goes on in another turn');
  assert.deepEqual([bench.turn(), bench.turns.scheduled], [[], false], 'it is done');
  Object.assign(second, { observed: true, busy: true });
  bench.turns.wake();
  assert.deepEqual([bench.turn(), bench.turns.scheduled], [[], false], 'the target schedules a turn when its table is filled');
  second.busy = false;
  bench.turns.wake();
  assert.deepEqual(bench.turn(), ['prepare 0', 'prepare 1', 'flush 0', 'flush 1', 'ended']);
});

test('rules that take longer than a turn go on in the next one, and nothing is flushed before', () => {
  const bench = new Bench([{}]);
  const table = new Table<number>(bench.reactor, 'numbers');
  const rules = Array.from({ length: 3 }, () => new Computed(bench.reactor, () => (bench.clock.advance(TURN_MS + 1), table.get('n'))));
  for (const rule of rules) rule.get();
  table.set('n', 1);
  bench.turns.wake();
  assert.deepEqual([bench.turn(), bench.turn()], [['again'], ['again']]);
  assert.deepEqual(bench.turn(), ['prepare 0', 'flush 0', 'ended']);
});

test('after its stop it schedules nothing', () => {
  const bench = new Bench([{}]);
  bench.turns.wake();
  bench.turns.stop();
  assert.deepEqual(bench.turn(), []);
  bench.turns.wake();
  assert.equal(bench.deferred.length, 0);
});
