import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadlines } from '../../engine/deadlines.ts';
import { Computed, Reactor } from '../../engine/reactor.ts';
import { DeadlineTimer } from './deadline-timer.ts';
import { MonotonicClock } from './monotonic-clock.ts';

/** A clock that records each timer; its date may jump. */
class NotedClock {
  at = 1_000;
  date = 1_000_000;
  readonly set: number[] = [];
  #pending: { run: () => void; due: number } | undefined;
  now(): number {
    return this.at;
  }
  wallTime(): number {
    return this.date;
  }
  setTimeout(run: () => void, ms: number): object {
    this.set.push(ms);
    return (this.#pending = { run, due: this.at + ms });
  }
  clearTimeout(handle: unknown): void {
    if (handle === this.#pending) this.#pending = undefined;
  }
  pass(ms: number): void {
    this.at += ms;
    this.date += ms;
    const pending = this.#pending;
    if (pending === undefined || pending.due > this.at) return;
    this.#pending = undefined;
    pending.run();
  }
}

function timerFor(...moments: number[]): { clock: NotedClock; timer: DeadlineTimer; deadlines: Deadlines; woken: () => number } {
  const clock = new NotedClock();
  const reactor = new Reactor();
  const deadlines = new Deadlines(reactor);
  new Computed(reactor, () => moments.map((moment) => deadlines.passed(moment))).get();
  let wakes = 0;
  const timer = new DeadlineTimer(deadlines, new MonotonicClock(clock), clock, () => void wakes++);
  return { clock, timer, deadlines, woken: () => wakes };
}

test('a timer for the next deadline stays, however often `set` is called', () => {
  const { clock, timer, woken } = timerFor(1_010_000);
  for (let turn = 0; turn < 5; turn++) {
    timer.set();
    clock.pass(1_000);
  }
  assert.deepEqual(clock.set, [10_001]);
  clock.pass(5_001);
  assert.equal(woken(), 1);
});

test('after the timer fired early by the date, it is set again', () => {
  const { clock, timer, woken } = timerFor(1_100_000);
  timer.set();
  clock.pass(60_000);
  assert.equal(woken(), 1);
  timer.set();
  assert.deepEqual(clock.set, [60_000, 40_001]);
});

test('a date that was set forward takes effect in the next turn', () => {
  const { clock, timer } = timerFor(1_050_000);
  timer.set();
  clock.date += 30_000;
  timer.set();
  assert.deepEqual(clock.set, [50_001, 20_001]);
});

test('without a deadline the timer stops', () => {
  const { clock, timer, deadlines, woken } = timerFor(1_002_000);
  timer.set();
  deadlines.advance(1_002_000);
  timer.set();
  clock.pass(10_000);
  assert.equal(woken(), 0);
});
