import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { InactivityProbe } from './inactivity-probe.ts';
import { ManualClock } from '../timing/testing/manual-clock.ts';

let clock: ManualClock;
let events: string[];
let probe: InactivityProbe;
let unansweredSince: number | undefined;

beforeEach(() => {
  clock = new ManualClock(0);
  events = [];
  unansweredSince = undefined;
  probe = new InactivityProbe(
    clock,
    1_000,
    () => events.push(`echo at ${clock.now()}`),
    (ms, kind) => events.push(`${kind === 'silent' ? 'dead' : kind} after ${ms}`),
    () => unansweredSince,
  );
});

test('a silent peer gets one echo, and is given up after as long again', () => {
  clock.advance(1_999);
  assert.deepEqual(events, ['echo at 1000']);
  clock.advance(100);
  assert.deepEqual(events, ['echo at 1000', 'dead after 2020']);
});

test('any bytes end the silence', () => {
  clock.advance(1_500);
  probe.received();
  clock.advance(999);
  assert.deepEqual(events, ['echo at 1000']);
  clock.advance(900);
  assert.deepEqual(events, ['echo at 1000', 'echo at 2500']);
});

test('a peer that sends gets no echo', () => {
  for (let at = 0; at < 20; at++) {
    clock.advance(900);
    probe.received();
  }
  assert.deepEqual(events, []);
});

test('input that is pending because the process was busy keeps the peer alive', () => {
  clock.advance(2_000);
  probe.received();
  clock.advance(500);
  assert.deepEqual(events, ['echo at 1000']);
});

/** A peer that sends something ten times a second. */
function talk(ms: number): void {
  for (let at = 0; at < ms; at += 100) {
    clock.advance(100);
    probe.received();
  }
}

test('a peer that sends and answers nothing gets an echo when a request is open for an interval, and is given up six later', () => {
  unansweredSince = 0;
  talk(9_100);
  const [asked, given, ...rest] = events;
  assert.match(asked ?? '', /^echo at 1\d\d\d$/);
  assert.match(given ?? '', /^no-replies after [78]\d\d\d$/);
  assert.deepEqual(rest, []);
});

test('a peer that answers anything gets another echo, and is kept', () => {
  unansweredSince = 0;
  for (let times = 0; times < 10; times++) {
    talk(5_000);
    unansweredSince = clock.now();
  }
  assert.equal(events.length, 10);
  assert.ok(events.every((event) => event.startsWith('echo')));
});

test('a reply that is pending because the process was busy keeps the peer alive', () => {
  unansweredSince = 0;
  talk(9_100);
  const deafAt = Number(/\d+$/.exec(events.at(-1) ?? '')?.[0]);
  clock = new ManualClock(0);
  const said: string[] = [];
  probe = new InactivityProbe(
    clock,
    1_000,
    () => said.push('echo'),
    () => said.push('dead'),
    () => (clock.now() < deafAt - 10 ? 0 : deafAt - 10),
  );
  talk(deafAt + 500);
  assert.deepEqual(said, ['echo']);
});

test('a longer interval applies at once', () => {
  clock.advance(900);
  probe.setInterval(60_000);
  clock.advance(59_000);
  assert.deepEqual(events, []);
  probe.setInterval(1_000);
  clock.advance(1_000);
  assert.deepEqual(events, ['echo at 60900']);
});

test('a stopped probe has no timer', () => {
  probe.stop();
  probe.setInterval(10);
  assert.equal(clock.timers, 0);
});
