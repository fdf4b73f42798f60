import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { KubeWriter, type WriterOptions } from './kube-writer.ts';
import { type KubeObject, PODS, type Resource } from '../resource.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { ScriptedApi } from '../testing/scripted-api.ts';
import { until } from '../../testing/until.ts';
import type { WriteIntent, WriteOperation, WriteResult } from './write-intent.ts';

const VPCS: Resource = { group: 'kubeovn.io', version: 'v1', plural: 'vpcs', kind: 'Vpc', namespaced: false };

describe('KubeWriter', () => {
  let api: ScriptedApi;
  let clock: ManualClock;
  let writer: KubeWriter;

  const open = (options: Partial<WriterOptions> = {}): void => {
    writer = new KubeWriter({ client: api.client(), clock, random: () => 0.5, ...options });
  };
  const patch = (name: string, value: unknown, more: Partial<WriteIntent> = {}): WriteIntent => ({
    resource: PODS,
    namespace: 'ns',
    name,
    lane: 'object',
    operation: { kind: 'merge-patch', patch: { value } },
    ...more,
  });
  const submit = (operation: WriteOperation, more: Partial<WriteIntent> = {}): Promise<WriteResult> =>
    writer.submit({ resource: VPCS, name: 'v', lane: 'object', operation, ...more });
  const code = (result: WriteResult): string => (result.ok ? 'ok' : result.error.code);

  beforeEach(async () => {
    api = await ScriptedApi.start();
    clock = new ManualClock();
    open();
  });
  afterEach(async () => {
    await writer.close();
    await api.close();
  });

  it('sends one request at a time for an object and only the newest intent of a lane', async () => {
    const results = [writer.submit(patch('a', 1))];
    const first = await api.next();
    results.push(writer.submit(patch('a', 2)), writer.submit(patch('a', 3)), writer.submit(patch('a', 'x', { lane: 'status' })));
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(api.untaken, 0);
    first.object();
    const second = await api.next();
    assert.deepEqual(second.body, { value: 3 });
    assert.equal(second.headers['content-type'], 'application/merge-patch+json');
    second.object();
    (await api.next()).object();
    assert.deepEqual((await Promise.all(results)).map(code), ['ok', 'KUBE_SUPERSEDED', 'ok', 'ok']);
    assert.equal(writer.counters.coalesced, 1);
    assert.equal(writer.counters.sent, 3);
  });

  it('limits the writes in flight and lets lanes take turns', async () => {
    open({ concurrency: 2 });
    for (let i = 0; i < 6; i++) void writer.submit(patch(`bulk-${i}`, i, { lane: 'bulk' }));
    void writer.submit(patch('urgent', 0, { lane: 'urgent' }));
    const first = await api.next();
    const second = await api.next();
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(api.untaken, 0);
    assert.equal(writer.inFlight, 2);
    first.object();
    const third = await api.next();
    second.object();
    const fourth = await api.next();
    assert.ok([third.path, fourth.path].includes('/api/v1/namespaces/ns/pods/urgent'), 'the burst delayed it');
    api.handler = (exchange) => exchange.object();
    third.object();
    fourth.object();
    await writer.idle();
    assert.equal(writer.counters.succeeded, 7);
  });

  it('writes one object at most 60 times in any minute over all lanes, and others without delay', async () => {
    const at: number[] = [];
    api.handler = (exchange) => {
      at.push(clock.now());
      exchange.object();
    };
    // Each write is submitted again as soon as it is done, as for an object that another program changes back.
    const fight = async (lane: string): Promise<void> => {
      for (let i = 0; ; i++) if (!(await writer.submit(patch('a', i, { lane }))).ok) return;
    };
    const fights = [fight('object'), fight('status')];
    for (let passed = 0; passed < 240; passed++) {
      await until('the writer waits', () => writer.inFlight === 0 && clock.timers > 0);
      if (passed === 100) {
        const held = at.length;
        assert.ok((await writer.submit(patch('b', 1))).ok, 'another object is written at once');
        assert.equal(at.splice(held).length, 1);
      }
      clock.advance(1_000);
    }
    for (const begin of at) assert.ok(at.filter((one) => one >= begin && one < begin + 60_000).length <= 60, `a minute from ${begin}`);
    assert.ok(at.length >= 30 + 115, `only ${at.length} in four minutes`);
    assert.ok(writer.counters.held > 0);
    await writer.close();
    await Promise.all(fights);
  });

  it('guards by uid and resourceVersion', async () => {
    const more = { uid: 'u1', resourceVersion: '7' };
    const results = [
      submit({ kind: 'merge-patch', patch: { metadata: { labels: { a: 'b' } } }, subresource: 'status' }, more),
      submit({ kind: 'json-patch', patch: [{ op: 'remove', path: '/spec/x' }] }, { ...more, name: 'w' }),
      submit({ kind: 'delete', propagation: 'Foreground' }, { ...more, name: 'x' }),
      submit({ kind: 'update', object: { metadata: { name: 'y' } } }, { ...more, name: 'y' }),
    ];
    const bodies: Record<string, unknown> = {};
    for (let i = 0; i < 4; i++) {
      const exchange = await api.next();
      bodies[`${exchange.method} ${exchange.path}`] = exchange.body;
      exchange.object('8', 'u1');
    }
    assert.deepEqual((await Promise.all(results)).map(code), ['ok', 'ok', 'ok', 'ok']);
    const root = '/apis/kubeovn.io/v1/vpcs';
    assert.deepEqual(bodies, {
      [`PATCH ${root}/v/status`]: { metadata: { labels: { a: 'b' }, uid: 'u1', resourceVersion: '7' } },
      [`PATCH ${root}/w`]: [
        { op: 'test', path: '/metadata/uid', value: 'u1' },
        { op: 'replace', path: '/metadata/resourceVersion', value: '7' },
        { op: 'remove', path: '/spec/x' },
      ],
      [`DELETE ${root}/x`]: {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        preconditions: { uid: 'u1', resourceVersion: '7' },
        propagationPolicy: 'Foreground',
      },
      [`PUT ${root}/y`]: {
        apiVersion: 'kubeovn.io/v1',
        kind: 'Vpc',
        metadata: { name: 'y', uid: 'u1', resourceVersion: '7' },
      },
    });
  });

  it('treats an answer about another object as a failed precondition', async () => {
    const result = submit({ kind: 'merge-patch', patch: {} }, { uid: 'old' });
    (await api.next()).json({ metadata: { name: 'v', uid: 'new', resourceVersion: '8' } });
    assert.equal(code(await result), 'KUBE_PRECONDITION');
  });

  for (const [status, reason, expected] of [
    [409, 'Conflict', 'KUBE_CONFLICT'],
    [409, 'AlreadyExists', 'KUBE_ALREADY_EXISTS'],
    [404, 'NotFound', 'KUBE_NOT_FOUND'],
    [403, 'Forbidden', 'KUBE_FORBIDDEN'],
    [422, 'Invalid', 'KUBE_INVALID'],
  ] as const) {
    it(`hands ${reason} to the submitter without a second try`, async () => {
      const result = submit({ kind: 'create', object: { metadata: { name: 'v' } } });
      (await api.next()).status(status, reason, 'no');
      assert.equal(code(await result), expected);
      assert.equal(api.untaken, 0);
      assert.deepEqual(writer.counters.failed, { [expected]: 1 });
    });
  }

  it('pauses all writes for the time in Retry-After', async () => {
    open({ concurrency: 1 });
    const first = writer.submit(patch('a', 1));
    const second = writer.submit(patch('b', 1));
    (await api.next()).status(429, 'TooManyRequests', 'slow', {}, { 'retry-after': '3' });
    await until('the retry to be planned', () => writer.counters.retried === 1);
    clock.advance(2_900);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(api.untaken, 0);
    clock.advance(200);
    (await api.next()).object();
    (await api.next()).object();
    assert.deepEqual((await Promise.all([first, second])).map(code), ['ok', 'ok']);
  });

  it('retries failures that may pass, with a growing delay, and returns the last error', async () => {
    const delays: number[] = [];
    open({ attempts: 3, onRetry: (_intent, _error, retryInMs) => delays.push(retryInMs) });
    const result = writer.submit(patch('a', 1));
    for (let i = 0; i < 3; i++) {
      (await api.next()).status(503, 'ServiceUnavailable', 'etcd is away');
      await until('the answer', () => writer.counters.retried === Math.min(i + 1, 2));
      clock.advance(10_000);
    }
    assert.equal(code(await result), 'KUBE_UNAVAILABLE');
    assert.deepEqual(delays, [150, 300]);
  });

  it('sends the newest intent after an older one failed, not before the retry of the older one', async () => {
    const first = writer.submit(patch('a', 1));
    (await api.next()).status(503, 'ServiceUnavailable', 'x');
    await until('the retry to be planned', () => writer.counters.retried === 1);
    const second = writer.submit(patch('a', 2));
    assert.equal(code(await first), 'KUBE_SUPERSEDED');
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(api.untaken, 0);
    clock.advance(1_000);
    const exchange = await api.next();
    assert.deepEqual(exchange.body, { value: 2 });
    exchange.object();
    assert.equal(code(await second), 'ok');
  });

  it('treats a create with a lost reply as done when the object is as desired', async () => {
    const object = { metadata: { name: 'v', labels: { a: 'b' } }, spec: { list: [1] } };
    const result = submit({ kind: 'create', object });
    (await api.next()).reset();
    await until('the retry to be planned', () => writer.counters.retried === 1);
    clock.advance(1_000);
    (await api.next()).status(409, 'AlreadyExists', 'exists');
    const live = {
      apiVersion: 'kubeovn.io/v1',
      kind: 'Vpc',
      metadata: { ...object.metadata, uid: 'u', resourceVersion: '9' },
      spec: { list: [1], defaulted: true },
    };
    const look = await api.next();
    assert.equal(look.method, 'GET');
    look.json(live);
    assert.deepEqual(await result, { ok: true, object: live });
  });

  it('does not take an object of another program for its own lost create', async () => {
    const result = submit({ kind: 'create', object: { metadata: { name: 'v' }, spec: { x: 1 } } as KubeObject });
    (await api.next()).reset();
    await until('the retry to be planned', () => writer.counters.retried === 1);
    clock.advance(1_000);
    (await api.next()).status(409, 'AlreadyExists', 'exists');
    (await api.next()).json({ apiVersion: 'kubeovn.io/v1', kind: 'Vpc', metadata: { name: 'v' }, spec: { x: 2 } });
    assert.equal(code(await result), 'KUBE_ALREADY_EXISTS');
  });

  it('treats a patch of one version with a lost reply as done when the object has its values', async () => {
    for (const [status, ok] of [
      [{ ready: true, kept: 1 }, true],
      [{ ready: true, kept: 1, gone: 'still there' }, false],
    ] as const) {
      const operation = { kind: 'merge-patch', patch: { status: { ready: true, gone: null } }, subresource: 'status' } as const;
      const result = submit(operation, { uid: 'u', resourceVersion: '8' });
      const retried = writer.counters.retried + 1;
      (await api.next()).reset();
      await until('the retry to be planned', () => writer.counters.retried === retried);
      clock.advance(1_000);
      (await api.next()).status(409, 'Conflict', 'the object has been modified');
      (await api.next()).json({
        apiVersion: 'kubeovn.io/v1',
        kind: 'Vpc',
        metadata: { name: 'v', uid: 'u', resourceVersion: '9' },
        status,
      });
      assert.equal((await result).ok, ok);
    }
  });

  it('treats a delete with a lost reply as done when the object is gone', async () => {
    const result = submit({ kind: 'delete' }, { uid: 'u' });
    (await api.next()).reset();
    await until('the retry to be planned', () => writer.counters.retried === 1);
    clock.advance(1_000);
    (await api.next()).status(404, 'NotFound', 'gone');
    assert.deepEqual(await result, { ok: true, object: undefined });
  });

  it('checks the gate right before each send, retries included', async () => {
    let leader = true;
    open({ gate: () => leader });
    const result = writer.submit(patch('a', 1));
    (await api.next()).status(503, 'ServiceUnavailable', 'x');
    await until('the retry to be planned', () => writer.counters.retried === 1);
    leader = false;
    clock.advance(10_000);
    assert.equal(code(await result), 'KUBE_FENCED');
    assert.equal(code(await writer.submit(patch('b', 1))), 'KUBE_FENCED');
    assert.equal(api.untaken, 0);
    await writer.idle();
  });

  it('keeps no entry of finished keys', async () => {
    api.handler = (exchange) => exchange.object();
    for (let i = 0; i < 50; i++) void writer.submit(patch(`p${i}`, 1));
    await writer.idle();
    assert.equal(clock.timers, 0);
  });

  it('cancels an intent that was not sent', async () => {
    open({ concurrency: 1 });
    void writer.submit(patch('a', 1));
    const blocked = writer.submit(patch('b', 1));
    const first = await api.next();
    assert.equal(writer.cancel({ resource: PODS, namespace: 'ns', name: 'b', lane: 'object' }), true);
    assert.equal(writer.cancel({ resource: PODS, namespace: 'ns', name: 'b', lane: 'object' }), false);
    assert.equal(code(await blocked), 'KUBE_SUPERSEDED');
    first.object();
    await writer.idle();
    assert.equal(writer.counters.sent, 1);
  });

  it('does not retry an eviction that a budget forbids, and finds the API version of an old server', async () => {
    const result = writer.submit({ resource: PODS, namespace: 'ns', name: 'a', lane: 'evict', uid: 'u', operation: { kind: 'evict' } });
    const modern = await api.next();
    assert.equal((modern.body as KubeObject).apiVersion, 'policy/v1');
    modern.status(400, 'BadRequest', 'no kind "Eviction" is registered for version "policy/v1"');
    const old = await api.next();
    assert.equal(old.path, '/api/v1/namespaces/ns/pods/a/eviction');
    assert.equal((old.body as KubeObject).apiVersion, 'policy/v1beta1');
    old.status(429, 'TooManyRequests', 'budget', { causes: [{ reason: 'DisruptionBudget', message: 'needs 1' }] });
    assert.equal(code(await result), 'KUBE_DISRUPTION_BUDGET');
  });

  it('resolves everything when it is closed', async () => {
    open({ concurrency: 1 });
    const results = [writer.submit(patch('a', 1)), writer.submit(patch('b', 1))];
    await api.next();
    await writer.close();
    assert.deepEqual((await Promise.all(results)).map(code), ['KUBE_CLOSED', 'KUBE_CLOSED']);
    assert.equal(code(await writer.submit(patch('c', 1))), 'KUBE_CLOSED');
  });
});
