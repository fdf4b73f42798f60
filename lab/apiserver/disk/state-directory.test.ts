import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import type { KubeObject } from '../object.ts';
import type { ObjectStore, StoreEvent } from '../store.ts';
import { BrokenStateError, StateDirectory } from './state-directory.ts';

function item(name: string, value: number): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name, uid: name, resourceVersion: '', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { value, big: JSON.rawJSON('9007199254740993') },
  };
}

function directory(): { readonly path: string; readonly logs: () => string[]; readonly [Symbol.dispose]: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'kiln-state-'));
  const logs = (): string[] =>
    readdirSync(path)
      .filter((name) => name.startsWith('log-'))
      .map((name) => join(path, name));
  return { path, logs, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

function content(store: ObjectStore): unknown {
  return JSON.parse(JSON.stringify({ revision: store.revision, objects: store.all().toSorted((a, b) => (a.key < b.key ? -1 : 1)) }));
}

test('after a restart all writes exist with their revisions, and a watch resumes', async () => {
  using place = directory();
  const first = new StateDirectory(place.path);
  const store = first.open();
  for (let value = 0; value < 5; value++) store.put('things', `t${value % 3}`, item(`t${value % 3}`, value));
  const middle = store.revision;
  store.remove('things', 't1');
  store.put('others', 'ns/o', item('o', 1));
  const left = content(store);
  await first.close();
  assert.throws(() => store.put('things', 'late', item('late', 1)), /was stopped/);
  const second = new StateDirectory(place.path);
  const again = second.open();
  assert.deepEqual(content(again), left);
  assert.ok(JSON.stringify(again.all()).includes('9007199254740993'));
  const seen: StoreEvent[] = [];
  again.watch('things', middle, (event) => void seen.push(event));
  assert.deepEqual(
    seen.map(({ type, key, revision, previous }) => [type, key, revision, previous?.metadata.name]),
    [['DELETED', 't1', middle + 1, 't1']],
  );
  await second.close();
});

test('a snapshot takes the place of the log; a watch from before it must list again', async () => {
  using place = directory();
  const state = new StateDirectory(place.path, { compactAfter: 2_000 });
  const store = state.open();
  const begin = store.revision;
  for (let value = 0; value < 200; value++) {
    store.put('things', `t${value % 7}`, item(`t${value % 7}`, value));
    if (value % 20 === 0) await new Promise((resolve) => void setImmediate(resolve));
  }
  const left = content(store);
  await state.close();
  assert.equal(readdirSync(place.path).filter((name) => name.startsWith('snapshot-')).length, 1);
  assert.ok(place.logs().length <= 2);
  const reopened = new StateDirectory(place.path);
  const again = reopened.open();
  assert.deepEqual(content(again), left);
  assert.equal(
    again.watch('things', begin, () => undefined),
    undefined,
  );
  assert.notEqual(
    again.watch('things', again.revision, () => undefined),
    undefined,
  );
  await reopened.close();
});

test('a log may end anywhere: every whole write before the end exists, and writing continues', async () => {
  using place = directory();
  const state = new StateDirectory(place.path);
  const store = state.open();
  const states = [content(store)];
  for (let value = 0; value < 12; value++) {
    if (value % 4 === 3) store.remove('things', `t${value % 3}`);
    else store.put('things', `t${value % 3}`, item(`t${value % 3}`, value));
    states.push(content(store));
  }
  await state.close();
  const [log = ''] = place.logs();
  const whole = readFileSync(log);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: whole.length }), async (length) => {
      writeFileSync(log, whole.subarray(0, length));
      const reopened = new StateDirectory(place.path);
      const again = reopened.open();
      const lines = whole.subarray(0, length).filter((byte) => byte === 10).length;
      // Deleting a missing object writes nothing, so the revision counts both lines and states.
      assert.deepEqual(
        content(again),
        states.find((entry) => (entry as { revision: number }).revision === 1 + lines),
      );
      again.put('things', 'next', item('next', 1));
      const continued = content(again);
      await reopened.close();
      const third = new StateDirectory(place.path);
      assert.deepEqual(content(third.open()), continued);
      await third.close();
    }),
    { numRuns: 60 },
  );
});

test('a file that was altered stops the start with its name', async () => {
  using place = directory();
  const state = new StateDirectory(place.path);
  const store = state.open();
  for (let value = 0; value < 4; value++) store.put('things', `t${value}`, item(`t${value}`, value));
  await state.close();
  const [log = ''] = place.logs();
  const bytes = readFileSync(log);
  bytes[60] = (bytes[60] ?? 0) ^ 1;
  writeFileSync(log, bytes);
  assert.throws(
    () => new StateDirectory(place.path).open(),
    (error) => error instanceof BrokenStateError && error.message.includes(log),
  );
});

test('a snapshot that was not finished is not read', async () => {
  using place = directory();
  const state = new StateDirectory(place.path);
  const store = state.open();
  store.put('things', 't', item('t', 1));
  const left = content(store);
  await state.close();
  appendFileSync(join(place.path, 'snapshot-0000000000000009.new'), 'half');
  const reopened = new StateDirectory(place.path);
  assert.deepEqual(content(reopened.open()), left);
  await reopened.close();
});
