import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../timing/clock.ts';
import { SILENT } from '../../runtime/log.ts';
import { ServerDatedClock } from './clock-skew.ts';

const manual = (wallTime: () => number, now: () => number = () => 0): Clock => ({
  wallTime,
  now,
  setTimeout: () => undefined,
  clearTimeout: () => undefined,
});

test('the date is from this host while it agrees with the API server, otherwise from the server, beginning with the jump', () => {
  let [wall, monotonic] = [1_000_000_500, 5_000];
  const clock = new ServerDatedClock(
    SILENT,
    manual(
      () => wall,
      () => monotonic,
    ),
  );
  assert.equal(clock.wallTime(), 1_000_000_500, 'no answer yet');
  clock.answered(1_000_000_000);
  assert.equal(clock.wallTime(), 1_000_000_500);
  for (const jump of [3_600_000, -3_600_000]) {
    wall += jump;
    assert.equal(clock.wallTime(), 1_000_000_000 + monotonic - 5_000, 'no answer since');
    wall += 2_000;
    monotonic += 2_000;
    assert.equal(clock.wallTime(), 1_000_000_000 + monotonic - 5_000);
    wall -= jump;
    assert.equal(clock.wallTime(), wall);
  }
});

test('a clock difference over several answers is logged once, and its end once; one late answer is no difference', () => {
  const lines: unknown[] = [];
  let [wall, server] = [1_000_000_000, 1_000_000_000];
  const log = {
    ...SILENT,
    warn: (message: string, fields?: Readonly<Record<string, unknown>>) => lines.push([message, fields?.['error']]),
    info: (message: string) => lines.push(message),
  };
  const skew = new ServerDatedClock(
    log,
    manual(() => wall),
  );
  const answer = (times: number): void => {
    for (let at = 0; at < times; at++) skew.answered(server);
  };
  wall += 9_000;
  answer(10);
  wall += 60_000;
  answer(2);
  wall -= 69_000;
  answer(10);
  assert.deepEqual(lines, []);
  wall += 3_600_000;
  answer(20);
  const rest = 's ahead: what ends at a date, ends by that of the API server; the certificate of the API server is held to this one';
  assert.deepEqual(lines.splice(0), [['the clocks of this host and of the API server differ', `this one is 3600 ${rest}`]]);
  wall -= 3_600_000;
  answer(5);
  assert.deepEqual(lines.splice(0), ['the clocks of this host and of the API server agree again']);
  server += 3_600_000;
  answer(5);
  assert.match(JSON.stringify(lines), /this one is 3600 s behind/);
});
