import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kilnAnnotation } from '../api/well-known.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';
import type { KubeErrorCode } from '../kube/errors.ts';
import { KubeError } from '../kube/errors.ts';
import { Reactor } from '../engine/reactor.ts';
import { objectId } from '../compile/output.ts';
import type { RejectedWrite } from '../world/rejected-writes.ts';
import { rejectionKey } from '../world/rejected-writes.ts';
import { Table } from '../engine/table.ts';
import { RejectedWrites } from './rejected-writes.ts';

const ID = objectId('ips', 'web.shop');
const KEY = rejectionKey('ips', 'web.shop', 'create');

class Bench {
  readonly table = new Table<RejectedWrite>(new Reactor(), 'rejected-writes');
  readonly timers: { readonly ms: number; readonly run: () => void }[] = [];
  now = 0;
  readonly due: string[] = [];
  readonly rejected = new RejectedWrites({
    table: this.table,
    monotonicNow: () => this.now,
    later: (ms, run) => this.timers.push({ ms, run }),
    due: (id) => this.due.push(id),
  });

  answer(code: KubeErrorCode | 'ok', uid = 'uid-1', text = 'no'): boolean {
    const metadata = { name: 'web.shop', annotations: { [kilnAnnotation.podUid]: uid } };
    const write: ObjectWrite = { resource: 'ips', namespace: '', name: 'web.shop', events: [], verb: 'create', object: { metadata } };
    return this.rejected.answered(ID, write, code === 'ok' ? undefined : new KubeError(code, { verb: 'create', resource: 'ips' }, text));
  }

  /** Ends the timers that run now. */
  sweep(): void {
    for (const { run } of this.timers.splice(0)) run();
  }

  /** Seconds until the next attempt. */
  get pause(): number {
    const pause = ((this.table.peek(KEY)?.until ?? NaN) - this.now) / 1_000;
    this.now += pause * 1_000;
    return pause;
  }
}

test('the backoff of a rejected write grows, up to half a minute; another pod of the name starts anew, and success clears the entry', () => {
  const bench = new Bench();
  for (const [least, most] of [
    [3.75, 5],
    [7.5, 10],
    [15, 20],
    [22.5, 30],
    [22.5, 30],
  ] as const) {
    bench.answer('KUBE_FORBIDDEN');
    const { pause } = bench;
    assert.ok(pause >= least && pause <= most, `${pause} s`);
  }
  bench.answer('KUBE_FORBIDDEN', 'uid-2');
  assert.equal(bench.table.peek(KEY)?.times, 1);
  bench.answer('ok', 'uid-2');
  assert.equal(bench.table.size, 0);
});

test('a missing answer is no rejection, nor is an existing or changed object', () => {
  const bench = new Bench();
  for (const code of ['KUBE_UNREACHABLE', 'KUBE_DISCONNECTED', 'KUBE_TIMEOUT', 'KUBE_UNAVAILABLE', 'KUBE_TOO_MANY_REQUESTS'] as const)
    bench.answer(code);
  for (const code of ['KUBE_UNAUTHORIZED', 'KUBE_ALREADY_EXISTS', 'KUBE_CONFLICT', 'KUBE_FENCED', 'KUBE_CLOSED'] as const)
    bench.answer(code);
  assert.equal(bench.table.size, 0);
  bench.answer('KUBE_WEBHOOK_FAILED');
  assert.equal(bench.table.size, 1);
});

test('a failure with unknown outcome counts as a rejection the second time', () => {
  const bench = new Bench();
  bench.answer('KUBE_INTERNAL');
  assert.equal(bench.table.size, 0);
  bench.answer('KUBE_INTERNAL');
  assert.equal(bench.table.size, 1);
  bench.answer('ok');
  bench.answer('KUBE_INTERNAL');
  assert.equal(bench.table.size, 0);
});

test('it is not quiet while a write is in backoff', () => {
  const bench = new Bench();
  assert.equal(bench.rejected.quiet, true);
  bench.answer('KUBE_FORBIDDEN');
  assert.equal(bench.rejected.quiet, false);
  bench.now = 10_000;
  assert.equal(bench.rejected.quiet, true);
});

test('a timer that fires a millisecond before `until` ends the backoff', () => {
  const bench = new Bench();
  bench.answer('KUBE_FORBIDDEN');
  bench.now = (bench.table.peek(KEY)?.until ?? NaN) - 1;
  bench.sweep();
  assert.deepEqual(bench.due, [ID]);
  assert.equal(bench.rejected.quiet, true);
});

test('a write that is not tried again is forgotten, and a long answer is cut', () => {
  const bench = new Bench();
  bench.answer('KUBE_INVALID', 'uid-1', 'x'.repeat(10_000));
  assert.ok((bench.table.peek(KEY)?.message.length ?? 0) <= 500);
  bench.now = 200_000;
  bench.sweep();
  assert.equal(bench.table.size, 1);
  bench.now = 400_000;
  bench.sweep();
  assert.equal(bench.table.size, 0);
  assert.equal(bench.timers.length, 0);
});

test('only the rejected part of an object is in backoff, and its end calls `due`', () => {
  const bench = new Bench();
  const patch = { resource: 'vips', namespace: '', name: 'v', events: [], verb: 'patch', style: 'merge', uid: 'uid-1' } as const;
  const object: ObjectWrite = { ...patch, subresource: undefined, patch: { spec: { v4ip: '10.0.0.2' } } };
  const status: ObjectWrite = { ...patch, subresource: 'status', patch: { status: { v4ip: '10.0.0.2' } } };
  const release: ObjectWrite = { ...patch, subresource: undefined, patch: { metadata: { finalizers: [] } } };
  const error = new KubeError('KUBE_FORBIDDEN', { verb: 'patch', resource: 'vips' }, 'no');
  assert.equal(bench.rejected.answered(objectId('vips', 'v'), object, error), true);
  const inBackoff = (): readonly boolean[] => [object, status, release].map((write) => bench.rejected.inBackoff(write));
  assert.deepEqual(inBackoff(), [true, false, false]);
  assert.equal(bench.rejected.inBackoff({ ...object, patch: { spec: { v4ip: '10.0.0.3' } } }), true, 'with any contents');
  assert.equal(bench.rejected.inBackoff({ ...object, uid: 'uid-2' }), false, 'another object of the name');
  bench.now = bench.table.peek(rejectionKey('vips', 'v', 'object'))?.until ?? NaN;
  assert.deepEqual(inBackoff(), [false, false, false]);
  bench.timers.shift()?.run();
  assert.deepEqual(bench.due, ['vips/v']);
  bench.rejected.answered(objectId('vips', 'v'), object, undefined);
  assert.equal(bench.table.size, 0);
});

test('very many unknown outcomes of one namespace displace none of another', () => {
  const bench = new Bench();
  const failed = (namespace: string, name: string): boolean => {
    const write: ObjectWrite = {
      resource: 'pods',
      namespace,
      name,
      events: [],
      verb: 'patch',
      style: 'merge',
      subresource: undefined,
      patch: {},
      uid: 'u',
    };
    return bench.rejected.answered(
      objectId('pods', `${namespace}/${name}`),
      write,
      new KubeError('KUBE_INTERNAL', { verb: 'patch', resource: 'pods' }, 'no'),
    );
  };
  assert.equal(failed('quiet', 'web'), false);
  for (let n = 0; n < 10_001; n++) failed('flood', `pod-${n}`);
  assert.equal(failed('quiet', 'web'), true, 'the second time it counts');
});
