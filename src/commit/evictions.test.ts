import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Desired } from '../compile/desired.ts';
import type { EvictOutput } from '../compile/output.ts';
import { objectId } from '../compile/output.ts';
import type { AnyObject } from '../diff/object-diff.ts';
import type { WriteIntent, WriteResult } from '../kube/write/write-intent.ts';
import { intentError } from '../kube/write/write-intent.ts';
import { ObjectWriter } from './object-writer.ts';
import { PrunedFields } from '../world/pruned-fields.ts';

const evict = (name: string): EvictOutput => ({ kind: 'evict', resource: 'pods', key: `shop/${name}`, uid: `uid-${name}` });

/** A writer for pods to evict, an API server with the test's answers, and a manual clock. */
class Bench {
  readonly pods = new Map<string, AnyObject>();
  readonly sent: { readonly intent: WriteIntent; readonly answer: (result: WriteResult) => void }[] = [];
  readonly timers: (() => void)[] = [];
  leads = true;
  now = 0;
  readonly #desired = new Desired();
  readonly #writer = new ObjectWriter({
    desired: this.#desired.objects,
    source: {
      get: (_resource, key) => this.pods.get(key),
      applyOwn: () => undefined,
      applyOwnDelete: () => undefined,
      expectEvent: () => undefined,
      isAhead: () => undefined,
    },
    writer: {
      submit: (intent) => new Promise((answer) => this.sent.push({ intent, answer })),
      waits: () => false,
      cancel: () => false,
    },
    pruned: new PrunedFields(),
    mayWrite: () => this.leads,
    wallTime: () => this.now,
    monotonicNow: () => this.now,
    onWritten: () => undefined,
    onEvent: () => undefined,
    onFailure: (_, error) => {
      throw error;
    },
    later: (_ms, run) => this.timers.push(run),
    wake: () => undefined,
  });

  constructor(names: readonly string[]) {
    for (const name of names)
      this.pods.set(`shop/${name}`, { metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '1' } });
    this.#desired.replace([], names.map(evict));
  }

  /** Names of the pods whose eviction is under way after a turn. */
  turn(): readonly string[] {
    this.#writer.flush();
    return this.sent.map(({ intent }) => intent.name);
  }

  async answer(name: string, rejected = false): Promise<void> {
    const at = this.sent.findIndex(({ intent }) => intent.name === name);
    const [one] = this.sent.splice(at, 1);
    assert.ok(one);
    assert.deepEqual([one.intent.operation, one.intent.uid], [{ kind: 'evict' }, `uid-${name}`]);
    one.answer(
      rejected ? { ok: false, error: intentError(one.intent, 'KUBE_DISRUPTION_BUDGET', 'not now') } : { ok: true, object: undefined },
    );
    await new Promise((resolve) => setImmediate(resolve));
  }

  get quiet(): boolean {
    return this.#writer.quiet;
  }

  gone(name: string): void {
    this.pods.delete(`shop/${name}`);
    this.#writer.mark(objectId('pods', `shop/${name}`));
  }
}

test('five evictions at a time, one request for each pod, and the next follow as pods end', async () => {
  const bench = new Bench(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  assert.deepEqual(bench.turn(), ['a', 'b', 'c', 'd', 'e']);
  await bench.answer('a');
  assert.deepEqual(bench.turn(), ['b', 'c', 'd', 'e'], 'its pod is still there');
  bench.gone('a');
  assert.deepEqual(bench.turn(), ['b', 'c', 'd', 'e', 'f']);
});

test('a pod kept by its budget makes room for another, and is tried again later', async () => {
  const bench = new Bench(['a', 'b', 'c', 'd', 'e', 'f']);
  bench.turn();
  await bench.answer('a', true);
  assert.deepEqual(bench.turn(), ['b', 'c', 'd', 'e', 'f']);
  for (const name of ['b', 'c', 'd', 'e', 'f']) {
    await bench.answer(name);
    bench.gone(name);
  }
  assert.deepEqual(bench.turn(), []);
  for (const run of bench.timers.splice(0)) run();
  assert.deepEqual(bench.turn(), ['a']);
});

test('the writer is quiet although a budget keeps a pod', async () => {
  const bench = new Bench(['a']);
  bench.turn();
  assert.equal(bench.quiet, false);
  await bench.answer('a', true);
  bench.turn();
  assert.equal(bench.quiet, true);
  for (const run of bench.timers.splice(0)) run();
  assert.deepEqual(bench.turn(), ['a'], 'it is asked again all the same');
});

test('the eviction of a pod that does not end is repeated after its time; a process that does not lead evicts none', async () => {
  const bench = new Bench(['a']);
  bench.leads = false;
  assert.deepEqual(bench.turn(), []);
  bench.leads = true;
  assert.deepEqual(bench.turn(), ['a']);
  await bench.answer('a');
  bench.now = 59_000;
  assert.deepEqual(bench.turn(), []);
  bench.now = 61_000;
  for (const run of bench.timers.splice(0)) run();
  assert.deepEqual(bench.turn(), ['a']);
});
