import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kilnAnnotation } from '../api/well-known.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';
import type { KubeErrorCode } from '../kube/errors.ts';
import { KubeError } from '../kube/errors.ts';
import { Reactor } from '../world/reactor.ts';
import type { RefusedIp } from '../world/reservations.ts';
import { Table } from '../world/table.ts';
import { RefusedIps } from './refused-ips.ts';

class Bench {
  readonly table = new Table<RefusedIp>(new Reactor(), 'refused-ips');
  readonly timers: (() => void)[] = [];
  now = 0;
  readonly refused = new RefusedIps({ table: this.table, wallTime: () => this.now, later: (_ms, run) => this.timers.push(run) });

  answer(code: KubeErrorCode | 'ok', uid = 'uid-1', text = 'no'): void {
    const metadata = { name: 'web.shop', annotations: { [kilnAnnotation.podUid]: uid } };
    const write: ObjectWrite = { resource: 'ips', namespace: '', name: 'web.shop', events: [], verb: 'create', object: { metadata } };
    this.refused.answered(write, code === 'ok' ? undefined : new KubeError(code, { verb: 'create', resource: 'ips' }, text));
  }

  /** Seconds until it is tried again. */
  get pause(): number {
    const pause = ((this.table.peek('web.shop')?.until ?? NaN) - this.now) / 1_000;
    this.now += pause * 1_000;
    return pause;
  }
}

test('a refusal rests ever longer, up to about a minute; another pod of the name begins anew, and what is made is forgotten', () => {
  const bench = new Bench();
  for (const [least, most] of [
    [5, 6.25],
    [10, 12.5],
    [20, 25],
    [40, 50],
    [60, 75],
    [60, 75],
  ] as const) {
    bench.answer('KUBE_FORBIDDEN');
    const { pause } = bench;
    assert.ok(pause >= least && pause <= most, `${pause} s`);
  }
  bench.answer('KUBE_FORBIDDEN', 'uid-2');
  assert.equal(bench.table.peek('web.shop')?.times, 1);
  bench.answer('ok', 'uid-2');
  assert.equal(bench.table.size, 0);
});

test('what the server could not answer is no refusal, nor is an object that is there or has changed', () => {
  const bench = new Bench();
  for (const code of ['KUBE_UNREACHABLE', 'KUBE_DISCONNECTED', 'KUBE_TIMEOUT', 'KUBE_UNAVAILABLE', 'KUBE_TOO_MANY_REQUESTS'] as const)
    bench.answer(code);
  for (const code of ['KUBE_UNAUTHORIZED', 'KUBE_ALREADY_EXISTS', 'KUBE_CONFLICT', 'KUBE_FENCED', 'KUBE_CLOSED'] as const)
    bench.answer(code);
  assert.equal(bench.table.size, 0);
  bench.answer('KUBE_WEBHOOK_FAILED');
  assert.equal(bench.table.size, 1);
});

test('a failure of which nobody knows whether it made the object counts when it comes again', () => {
  const bench = new Bench();
  bench.answer('KUBE_INTERNAL');
  assert.equal(bench.table.size, 0);
  bench.answer('KUBE_INTERNAL');
  assert.equal(bench.table.size, 1);
  bench.answer('ok');
  bench.answer('KUBE_INTERNAL');
  assert.equal(bench.table.size, 0);
});

test('it is not quiet while one rests', () => {
  const bench = new Bench();
  assert.equal(bench.refused.quiet, true);
  bench.answer('KUBE_FORBIDDEN');
  assert.equal(bench.refused.quiet, false);
  bench.now = 10_000;
  assert.equal(bench.refused.quiet, true);
});

test('who does not try again is forgotten, and a long answer is cut', () => {
  const bench = new Bench();
  bench.answer('KUBE_INVALID', 'uid-1', 'x'.repeat(10_000));
  assert.ok((bench.table.peek('web.shop')?.message.length ?? 0) <= 500);
  bench.now = 200_000;
  bench.timers.shift()?.();
  assert.equal(bench.table.size, 1);
  bench.now = 400_000;
  bench.timers.shift()?.();
  assert.equal(bench.table.size, 0);
  assert.equal(bench.timers.length, 0);
});
