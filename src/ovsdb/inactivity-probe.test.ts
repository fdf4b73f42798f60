import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { InactivityProbe } from './inactivity-probe.ts';
import { ManualClock } from './testing/manual-clock.ts';

let clock: ManualClock;
let events: string[];
let probe: InactivityProbe;

beforeEach(() => {
  clock = new ManualClock();
  events = [];
  probe = new InactivityProbe(
    clock,
    1_000,
    () => events.push(`echo at ${clock.now()}`),
    (silentMs) => events.push(`dead after ${silentMs}`),
  );
});

test('a silent peer is asked once, and given up after as long again', () => {
  clock.advance(1_999);
  assert.deepEqual(events, ['echo at 1000']);
  clock.advance(100);
  assert.deepEqual(events, ['echo at 1000', 'dead after 2020']);
});

test('any bytes are an answer', () => {
  clock.advance(1_500);
  probe.heard();
  clock.advance(999);
  assert.deepEqual(events, ['echo at 1000']);
  clock.advance(900);
  assert.deepEqual(events, ['echo at 1000', 'echo at 2500']);
});

test('a peer that talks is not asked', () => {
  for (let at = 0; at < 20; at++) {
    clock.advance(900);
    probe.heard();
  }
  assert.deepEqual(events, []);
});

test('input that waits behind the timers, because the process was busy, saves the peer', () => {
  clock.advance(2_000);
  probe.heard();
  clock.advance(500);
  assert.deepEqual(events, ['echo at 1000']);
});

test('a longer interval holds from now on', () => {
  clock.advance(900);
  probe.setInterval(60_000);
  clock.advance(59_000);
  assert.deepEqual(events, []);
  probe.setInterval(1_000);
  clock.advance(1_000);
  assert.deepEqual(events, ['echo at 60900']);
});

test('nothing is left of a stopped one', () => {
  probe.stop();
  probe.setInterval(10);
  assert.equal(clock.pending, 0);
});
