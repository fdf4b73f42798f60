import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FINALIZER, LEGACY_FINALIZERS } from '../api/well-known.ts';
import { Desired } from '../compile/desired.ts';
import type { PatchOutput } from '../compile/output.ts';
import { objectId } from '../compile/output.ts';
import type { AnyObject } from '../diff/object-diff.ts';
import type { KubeErrorCode } from '../kube/errors.ts';
import type { KubeObject } from '../kube/resource.ts';
import type { WriteIntent, WriteResult } from '../kube/write/write-intent.ts';
import { intentError } from '../kube/write/write-intent.ts';
import { DEFAULT_SETTINGS } from '../world/settings.ts';
import { World } from '../world/world.ts';
import { ObjectWriter } from './object-writer.ts';
import { RejectedWrites } from './rejected-writes.ts';
import { PrunedFields } from '../world/pruned-fields.ts';

const id = objectId('namespaces', 'shop');

/** An API server, a cache of one namespace, and a manual clock. */
class Bench {
  readonly desired = new Desired();
  readonly sent: { readonly intent: WriteIntent; readonly answer: (result: WriteResult) => void }[] = [];
  readonly timers: { readonly ms: number; readonly run: () => void }[] = [];
  readonly expected: string[] = [];
  readonly failed: string[] = [];
  readonly ahead: string[] = [];
  transactionSentAt: number | undefined;
  /** Owner text of what the collection leaves. */
  staying = '';
  /** Whether submitted writes wait before they are sent. */
  queues = false;
  now = 0;
  readonly world = new World(DEFAULT_SETTINGS);
  observed: AnyObject = { metadata: { name: 'shop', uid: 'uid-1', resourceVersion: '1' } };
  observe: (key: string) => AnyObject = () => this.observed;
  readonly writer = new ObjectWriter({
    desired: this.desired.objects,
    source: {
      get: (_resource, key) => this.observe(key),
      applyOwn: (_resource, object) => {
        this.observed = object as unknown as AnyObject;
      },
      applyOwnDelete: () => undefined,
      expectEvent: (resource) => this.expected.push(resource),
      isAhead: (resource, key) => this.ahead.push(`${resource}/${key}`),
    },
    writer: {
      submit: (intent) => new Promise((answer) => this.sent.push({ intent, answer })),
      waits: () => this.queues,
      cancel: ({ lane }) => {
        const at = this.sent.findIndex(({ intent }) => intent.lane === lane);
        const [taken] = this.sent.splice(at, 1);
        assert.ok(taken, 'a cancelled write was submitted');
        taken.answer({ ok: false, error: intentError(taken.intent, 'KUBE_SUPERSEDED', 'taken back') });
        return true;
      },
    },
    pruned: new PrunedFields(),
    collects: (_object, owner) => owner !== this.staying,
    mayWrite: () => true,
    transactionSentAt: () => this.transactionSentAt,
    wallTime: () => this.now,
    monotonicNow: () => this.now,
    rejected: new RejectedWrites({
      table: this.world.rejectedWrites,
      monotonicNow: () => this.now,
      later: (ms, run) => this.timers.push({ ms, run }),
      due: (one) => this.writer.reexamine(one),
    }),
    onWritten: () => undefined,
    onEvent: () => undefined,
    onFailure: (one, error) => this.failed.push(`${one} ${String(error)}`),
    later: (ms, run) => this.timers.push({ ms, run }),
    wake: () => undefined,
  });

  async answer(result: (intent: WriteIntent) => WriteResult): Promise<void> {
    const next = this.sent.shift();
    assert.ok(next, 'something was sent');
    next.answer(result(next.intent));
    await new Promise((resolve) => setImmediate(resolve));
  }

  fail(code: KubeErrorCode): Promise<void> {
    return this.answer((intent) => ({ ok: false, error: intentError(intent, code, 'no') }));
  }

  /** Ends the pause. @returns its length */
  wait(): number {
    const timer = this.timers.shift();
    assert.ok(timer, 'a backoff was started');
    timer.run();
    return timer.ms;
  }
}

const patch: PatchOutput = { kind: 'patch', resource: 'namespaces', key: 'shop', uid: 'uid-1', annotations: { a: '1' } };

test('keys left of an object that is gone stay while the collection says so; those of a change, and new values, go at once', () => {
  const bench = new Bench();
  const keys = { asked: 'old', left: 'x', changed: 'y' };
  bench.observed = { metadata: { ...bench.observed.metadata, annotations: keys, labels: { 'left-label': 'true' } } };
  bench.desired.replace(
    [],
    [
      {
        ...patch,
        annotations: { asked: 'new', left: null, changed: null },
        labels: { 'left-label': null },
        leftOf: { left: 'subnet//gone', 'left-label': 'subnet//other' },
      },
    ],
  );
  bench.staying = 'subnet//gone';
  bench.writer.flush();
  const operation = bench.sent[0]?.intent.operation;
  assert.ok(operation?.kind === 'merge-patch');
  assert.deepEqual(operation.patch['metadata'], { annotations: { asked: 'new', changed: null }, labels: { 'left-label': null } });
  bench.sent.length = 0;
  const all = new Bench();
  all.observed = bench.observed;
  all.desired.replace([], [{ ...patch, annotations: { left: null }, leftOf: { left: 'subnet//gone' } }]);
  all.staying = 'subnet//gone';
  all.writer.flush();
  assert.equal(all.sent.length, 0);
  all.staying = '';
  all.writer.examineAll();
  all.writer.flush();
  assert.equal(all.sent.length, 1, 'the collection lets it go');
});

test('a 404 for an object in the cache is reported to its cache', async () => {
  const bench = new Bench();
  bench.desired.replace([], [patch]);
  bench.writer.flush();
  await bench.fail('KUBE_CONFLICT');
  bench.wait();
  bench.writer.flush();
  assert.deepEqual(bench.expected, []);
  assert.deepEqual(bench.ahead, ['namespaces/shop']);
  await bench.fail('KUBE_NOT_FOUND');
  assert.deepEqual(bench.expected, ['namespaces']);
  assert.deepEqual(bench.ahead, ['namespaces/shop', 'namespaces/shop'], 'without its event the kind is listed again');
  bench.wait();
  bench.writer.flush();
  bench.observed = { metadata: { name: 'shop', uid: 'uid-2', resourceVersion: '9' } };
  await bench.fail('KUBE_NOT_FOUND');
  assert.deepEqual(bench.expected, ['namespaces'], 'another object has the name: the first one is known to be gone');
});

test('a conflict is retried ever more rarely while the cache does not change; a change of the object retries at once, a change of its outputs does not', async () => {
  const bench = new Bench();
  bench.desired.replace([], [patch]);
  const delays: number[] = [];
  for (let round = 0; round < 9; round++) {
    bench.writer.flush();
    await bench.fail('KUBE_CONFLICT');
    bench.writer.flush();
    assert.equal(bench.sent.length, 0, 'nothing is sent during its backoff');
    assert.equal(bench.writer.quiet, false);
    delays.push(bench.wait());
  }
  assert.deepEqual(delays, [200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000]);
  bench.writer.flush();
  await bench.fail('KUBE_CONFLICT');
  bench.writer.mark(id);
  bench.writer.flush();
  assert.equal(bench.sent.length, 0, 'the observed version is as old as before');
  bench.observed = { metadata: { name: 'shop', uid: 'uid-1', resourceVersion: '2' } };
  bench.writer.mark(id);
  bench.writer.flush();
  await bench.answer(() => ({
    ok: true,
    object: { metadata: { name: 'shop', uid: 'uid-1', resourceVersion: '3', annotations: { a: '1' } } },
  }));
  bench.writer.flush();
  assert.equal(bench.sent.length, 0);
  assert.equal(bench.writer.quiet, true);
});

test('after a conflict with a version that arrived while the write was under way, the retry is immediate', async () => {
  const bench = new Bench();
  bench.desired.replace([], [patch]);
  bench.writer.flush();
  bench.observed = { metadata: { name: 'shop', uid: 'uid-1', resourceVersion: '2' } };
  bench.writer.mark(id);
  bench.writer.flush();
  assert.equal(bench.sent.length, 1, 'one at a time');
  await bench.fail('KUBE_CONFLICT');
  bench.writer.flush();
  assert.equal(bench.sent.length, 1);
  await bench.fail('KUBE_CONFLICT');
  bench.writer.flush();
  assert.equal(bench.sent.length, 0, 'nothing changed since: it is in backoff');
  assert.equal(bench.wait(), 200);
});

test('a write guarded by a version waits for the answer of an earlier write, and is then guarded by the new version', async () => {
  const bench = new Bench();
  bench.desired.replace([], [{ kind: 'patch', resource: 'vpcs', key: 'shop', uid: 'uid-1', finalizer: true, status: { standby: true } }]);
  bench.writer.flush();
  assert.deepEqual(
    bench.sent.map(({ intent: { lane, resourceVersion } }) => [lane, resourceVersion]),
    [['object', '1']],
  );
  await bench.answer(() => ({
    ok: true,
    object: { metadata: { name: 'shop', uid: 'uid-1', resourceVersion: '2', finalizers: [FINALIZER] } },
  }));
  bench.writer.flush();
  assert.deepEqual(
    bench.sent.map(({ intent: { lane, resourceVersion } }) => [lane, resourceVersion]),
    [['status', '2']],
  );
});

/** The outputs of a Subnet: a status with counts, and the removal of its finalizer. */
const counted = (v4availableIPs: number, finalizer = true): PatchOutput => ({
  kind: 'patch',
  resource: 'subnets',
  key: 'front',
  uid: 'uid-1',
  finalizer,
  status: { v4availableIPs },
});

/** A server that accepts every write, and counts the changes of the object. */
class Taking {
  readonly #bench: Bench;
  #version = 1;
  #outputs: readonly PatchOutput[] = [];

  constructor(bench: Bench) {
    this.#bench = bench;
    this.#bench.observed = { metadata: { name: 'front', uid: 'uid-1', resourceVersion: '1', finalizers: [FINALIZER] } };
  }

  want(...outputs: readonly PatchOutput[]): void {
    this.#bench.desired.replace(this.#outputs, outputs);
    this.#outputs = outputs;
  }

  /** @returns lane and version of the writes of this turn, and of the turns that they caused */
  async turns(): Promise<readonly string[]> {
    const { writer, sent } = this.#bench;
    const lanes: string[] = [];
    for (writer.flush(); sent.length > 0; writer.flush())
      await this.#bench.answer((intent) => {
        lanes.push(`${intent.lane} ${intent.resourceVersion ?? ''}`);
        const { operation } = intent;
        const patch = operation.kind === 'merge-patch' ? operation.patch : {};
        const { metadata = {}, ...rest } = patch as { readonly metadata?: object };
        const object = { ...this.#bench.observed, ...rest, metadata: { ...this.#bench.observed.metadata, ...metadata, ...this.#next() } };
        return { ok: true, object: object as unknown as KubeObject };
      });
    return lanes;
  }

  /** Another program writes the object. */
  touch(metadata: object = {}): void {
    this.#bench.observed = { ...this.#bench.observed, metadata: { ...this.#bench.observed.metadata, ...metadata, ...this.#next() } };
    this.#bench.writer.mark(objectId('subnets', 'front'));
  }

  #next(): { readonly resourceVersion: string } {
    return { resourceVersion: String(++this.#version) };
  }
}

test('the first status of a Subnet is written at once; the next one after a second, with the newest counts and version', async () => {
  const bench = new Bench();
  const server = new Taking(bench);
  server.want(counted(9));
  assert.deepEqual(await server.turns(), ['status 1']);
  server.want(counted(8));
  assert.deepEqual(await server.turns(), []);
  assert.deepEqual([[...bench.writer.delayed], bench.writer.quiet], [[['paced', 1]], false]);
  server.touch();
  server.want(counted(7));
  assert.deepEqual(await server.turns(), []);
  assert.equal(bench.wait(), 1_000);
  assert.deepEqual(await server.turns(), ['status 3']);
  assert.deepEqual(bench.observed['status'], { v4availableIPs: 7 });
  assert.equal(bench.writer.quiet, true);
  assert.equal(bench.timers.length, 1, 'one for each status');
});

test('a waiting status delays no other write of the Subnet, and is dropped when it is no longer due', async () => {
  const bench = new Bench();
  const server = new Taking(bench);
  server.want(counted(9));
  await server.turns();
  server.want(counted(8));
  assert.deepEqual(await server.turns(), []);
  server.touch({ deletionTimestamp: '2026-01-01T00:00:00Z' });
  server.want(counted(8, false));
  assert.deepEqual(await server.turns(), ['object 3'], 'its finalizer is removed');
  server.want();
  assert.deepEqual(await server.turns(), []);
  assert.equal(bench.writer.quiet, true);
  bench.wait();
  assert.deepEqual(await server.turns(), []);
});

test('after a status that met a newer version of its Subnet, the next one does not wait a second', async () => {
  const bench = new Bench();
  const server = new Taking(bench);
  server.want(counted(9));
  bench.writer.flush();
  server.touch();
  await bench.fail('KUBE_CONFLICT');
  assert.deepEqual(await server.turns(), ['status 2']);
  server.want(counted(8));
  assert.deepEqual(await server.turns(), []);
  bench.wait();
  assert.deepEqual(await server.turns(), [], 'the second of the failed one');
  bench.wait();
  assert.deepEqual(await server.turns(), ['status 3']);
});

test('outputs that change while a write is under way are written after its reply', async () => {
  const bench = new Bench();
  const previous = bench.desired.replace([], [patch]);
  bench.writer.flush();
  bench.desired.replace(previous, [{ ...patch, annotations: { a: '2' } }]);
  bench.writer.flush();
  assert.equal(bench.sent.length, 1);
  await bench.answer(() => ({
    ok: true,
    object: { metadata: { name: 'shop', uid: 'uid-1', resourceVersion: '2', annotations: { a: '1' } } },
  }));
  bench.writer.flush();
  const operation = bench.sent[0]?.intent.operation;
  assert.deepEqual(operation?.kind === 'merge-patch' ? operation.patch : undefined, { metadata: { annotations: { a: '2' } } });
});

test('a write that the server accepts without effect is repeated ever more rarely', async () => {
  const bench = new Bench();
  bench.desired.replace([], [patch]);
  const delays: number[] = [];
  for (let round = 0; round < 6; round++) {
    bench.writer.flush();
    await bench.answer(() => ({ ok: true, object: bench.observed as unknown as KubeObject }));
    bench.writer.flush();
    if (bench.sent.length > 0) continue;
    delays.push(bench.wait());
  }
  assert.deepEqual(delays, [200, 400, 800, 1_600, 3_200]);
  bench.writer.mark(id);
  bench.writer.flush();
  await bench.answer(() => ({
    ok: true,
    object: { metadata: { name: 'shop', uid: 'uid-1', resourceVersion: '2', annotations: { a: '1' } } },
  }));
  bench.writer.flush();
  assert.equal(bench.writer.quiet, true);
});

for (const finalizer of [FINALIZER, ...LEGACY_FINALIZERS])
  test(`${finalizer} is removed after the end of the transaction under way, and not if that made a row of the object`, () => {
    const bench = new Bench();
    const left: PatchOutput = { kind: 'patch', resource: 'namespaces', key: 'shop', uid: 'uid-1', finalizer: false };
    const terminating = {
      metadata: { ...bench.observed.metadata, finalizers: [finalizer], deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    bench.observed = terminating;
    bench.desired.replace([], [left]);
    bench.transactionSentAt = 5;
    for (let look = 0; look < 3; look++) bench.writer.flush();
    assert.equal(bench.sent.length, 0);
    assert.equal(bench.writer.quiet, false);
    // The row is observed, and the rules keep the finalizer.
    const held: PatchOutput = { ...left, finalizer: true };
    bench.desired.replace([left], [held]);
    bench.transactionSentAt = undefined;
    bench.writer.flush();
    assert.equal(bench.sent.length, 0);
    assert.equal(bench.writer.quiet, true);

    bench.transactionSentAt = 6;
    bench.desired.replace([held], [left]);
    bench.writer.flush();
    assert.equal(bench.sent.length, 0);
    // Later transactions create no row, since no rule emits one.
    bench.transactionSentAt = 7;
    bench.writer.flush();
    assert.equal(bench.sent.length, 1);
  });

test('an object is being released from the submission of the write until its answer or cancellation', async () => {
  const bench = new Bench();
  const left: PatchOutput = { kind: 'patch', resource: 'namespaces', key: 'shop', uid: 'uid-1', finalizer: false };
  bench.observed = { metadata: { ...bench.observed.metadata, finalizers: [FINALIZER], deletionTimestamp: '2026-01-01T00:00:00Z' } };
  const kept: PatchOutput = { ...left, annotations: { a: '1' }, finalizer: true };
  bench.desired.replace([], [kept]);
  bench.writer.flush();
  assert.equal(bench.writer.releasesObject(id), false, 'a write without finalizers');
  await bench.fail('KUBE_CONFLICT');
  bench.wait();

  bench.desired.replace([kept], [left]);
  bench.writer.mark(id);
  bench.writer.flush();
  assert.equal(bench.writer.releasesObject(id), true);
  await bench.fail('KUBE_PRECONDITION');
  assert.equal(bench.writer.releasesObject(id), false);

  bench.queues = true;
  bench.wait();
  bench.writer.flush();
  assert.equal(bench.writer.releasesObject(id), true);
  bench.desired.replace([left], [kept]);
  bench.writer.flush();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(bench.writer.releasesObject(id), false);
});

test('the deletion of an object without a finalizer of Kiln waits for the transaction under way, and counts as a release', () => {
  const bench = new Bench();
  bench.desired.replace([], [{ kind: 'delete', resource: 'namespaces', key: 'shop', uid: 'uid-1' }]);
  bench.transactionSentAt = 5;
  bench.writer.flush();
  assert.equal(bench.sent.length, 0);
  bench.transactionSentAt = undefined;
  bench.writer.flush();
  assert.equal(bench.sent.length, 1);
  assert.equal(bench.writer.releasesObject(id), true);
});

test('a queued write that is no longer due is cancelled: its object may be in use again', async () => {
  const bench = new Bench();
  const left: PatchOutput = { kind: 'patch', resource: 'namespaces', key: 'shop', uid: 'uid-1', finalizer: false };
  const metadata = { ...bench.observed.metadata, finalizers: [FINALIZER], deletionTimestamp: '2026-01-01T00:00:00Z' };
  bench.observed = { metadata };
  bench.desired.replace([], [left]);
  bench.writer.flush();
  const held: PatchOutput = { ...left, finalizer: true };
  bench.desired.replace([left], [held]);
  bench.writer.flush();
  assert.equal(bench.sent.length, 1, 'the server has it already');
  bench.queues = true;
  bench.observed = { metadata: { ...metadata, resourceVersion: '2' } };
  bench.writer.mark(id);
  bench.writer.flush();
  assert.equal(bench.sent.length, 0);
  await new Promise((resolve) => setImmediate(resolve));
  bench.writer.flush();
  assert.deepEqual([bench.sent.length, bench.writer.quiet], [0, true]);

  bench.desired.replace([held], [left]);
  bench.writer.flush();
  bench.observed = { metadata: { ...metadata, resourceVersion: '3' } };
  bench.writer.mark(id);
  bench.writer.flush();
  assert.equal(bench.sent.length, 1, 'a write that is still due stays queued');
});

test('a rejected write is retried ever more rarely, whatever happens to the object; its other writes continue', async () => {
  const bench = new Bench();
  bench.desired.replace([], [patch]);
  const delays: number[] = [];
  for (let round = 0; round < 5; round++) {
    bench.writer.flush();
    await bench.fail('KUBE_FORBIDDEN');
    bench.observed = { metadata: { ...bench.observed.metadata, resourceVersion: String(round + 2) } };
    bench.writer.mark(id);
    bench.writer.flush();
    assert.equal(bench.sent.length, 0, 'another program changed the object');
    assert.deepEqual([...bench.writer.delayed], [['refused', 1]]);
    assert.equal(bench.writer.quiet, false);
    const until = bench.world.rejectedWrites.peek('object namespaces/shop')?.until ?? NaN;
    delays.push(until - bench.now);
    bench.now = until;
    for (const { run } of bench.timers.splice(0)) run();
  }
  for (const [at, most] of [5_000, 10_000, 20_000, 30_000, 30_000].entries())
    assert.ok((delays[at] ?? 0) <= most && (delays[at] ?? 0) >= most * 0.75, delays.join());

  bench.observed = {
    metadata: { ...bench.observed.metadata, finalizers: [FINALIZER], deletionTimestamp: '2026-01-01T00:00:00Z' },
  };
  bench.writer.flush();
  await bench.fail('KUBE_FORBIDDEN');
  bench.desired.replace([patch], [{ kind: 'patch', resource: 'namespaces', key: 'shop', uid: 'uid-1', finalizer: false }]);
  bench.writer.flush();
  assert.equal(bench.sent.length, 1, 'its finalizer is removed');
});

test('of very many objects that are all examined again, each is compared once', () => {
  const bench = new Bench();
  const compared = new Map<string, number>();
  const writer = new ObjectWriter({
    desired: bench.desired.objects,
    source: {
      get: (_resource, key) => {
        compared.set(key, (compared.get(key) ?? 0) + 1);
        return { metadata: { name: key, uid: `uid-${key}`, resourceVersion: '1', annotations: { a: '1' } } };
      },
      applyOwn: () => undefined,
      applyOwnDelete: () => undefined,
      expectEvent: () => undefined,
      isAhead: () => undefined,
    },
    writer: { submit: () => assert.fail('nothing is to be written'), waits: () => false, cancel: () => false },
    pruned: new PrunedFields(),
    mayWrite: () => true,
    wallTime: () => 0,
    monotonicNow: () => 0,
    onWritten: () => undefined,
    onEvent: () => undefined,
    onFailure: (_, error) => {
      throw error;
    },
    later: () => undefined,
    wake: () => undefined,
  });
  const keys = Array.from({ length: 12_000 }, (_, n) => `n${n}`);
  for (const key of keys) bench.desired.replace([], [{ ...patch, key, uid: `uid-${key}` }]);
  writer.examineAll();
  for (let turns = 0; !writer.quiet; turns++) {
    assert.ok(turns < 100, 'it ends');
    writer.flush();
  }
  assert.equal(compared.size, keys.length);
  assert.equal(Math.max(...compared.values()), 1);
});

test('an object whose diff throws delays no other write, and is compared again later', async () => {
  const bench = new Bench();
  const sound = bench.observed;
  bench.desired.replace(
    [],
    [
      { ...patch, key: 'other', uid: 'uid-1', annotations: { a: '1' } },
      { ...patch, annotations: { a: '1' } },
    ],
  );
  let poisoned = true;
  const poison = (key: string): AnyObject => {
    if (poisoned && key === 'shop') throw new TypeError('an unexpected value');
    return sound;
  };
  bench.observe = poison;
  bench.writer.flush();
  assert.deepEqual(bench.failed, [`${id} TypeError: an unexpected value`]);
  assert.deepEqual(
    bench.sent.map(({ intent }) => intent.name),
    ['other'],
  );
  assert.equal(bench.writer.quiet, false);
  poisoned = false;
  for (const { ms, run } of bench.timers.splice(0)) if (ms === 30_000) run();
  bench.writer.flush();
  assert.deepEqual(
    bench.sent.map(({ intent }) => intent.name),
    ['other', 'shop'],
  );
});

test('a write counts for the namespace of its object: for IP objects and Vips the one in the spec', () => {
  const bench = new Bench();
  const metadata = { uid: 'uid-1', resourceVersion: '1' };
  const objects: Readonly<Record<string, AnyObject>> = {
    'shop/web': { metadata: { ...metadata, name: 'web', namespace: 'shop' } },
    'web.shop': { metadata: { ...metadata, name: 'web.shop' }, spec: { namespace: 'shop' } },
    'node-n1': { metadata: { ...metadata, name: 'node-n1' }, spec: {} },
    vip: { metadata: { ...metadata, name: 'vip' }, spec: { namespace: 'store' } },
    red: { metadata: { ...metadata, name: 'red' }, spec: { namespace: 'no field of a Vpc' } },
  };
  bench.observe = (key) => objects[key] as AnyObject;
  const edited = (resource: PatchOutput['resource'], key: string): PatchOutput => ({ ...patch, resource, key });
  bench.desired.replace(
    [],
    [
      edited('pods', 'shop/web'),
      edited('ips', 'web.shop'),
      edited('ips', 'node-n1'),
      edited('vips', 'vip'),
      edited('vpcs', 'red'),
      { kind: 'create', resource: 'ips', key: 'new.store', object: { spec: { namespace: 'store' } } },
    ],
  );
  bench.writer.flush();
  assert.deepEqual(Object.fromEntries(bench.sent.map(({ intent: { name, share } }) => [name, share])), {
    web: 'shop',
    'web.shop': 'shop',
    'node-n1': '',
    vip: 'store',
    red: '',
    'new.store': 'store',
  });
});
