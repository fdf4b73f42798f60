import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Environment } from './environment.ts';
import type { JsonObject } from './json.ts';
import { applyMergePatch } from './patch/merge-patch.ts';
import type { ResourceDefinition } from './resource.ts';
import { LabApi } from './server.ts';
import { ApiError } from './status.ts';
import type { StoreEvent } from './store.ts';
import { ObjectStore } from './store.ts';

/** An environment whose clock stands still and whose background steps run when the test calls them. */
function world(): { readonly api: LabApi; readonly settle: () => number; readonly kind: (plural: string) => ResourceDefinition } {
  const steps: (() => void)[] = [];
  let next = 0;
  const environment: Environment = {
    now: () => Date.UTC(2024, 0, 1),
    uid: () => `uid-${next++}`,
    suffix: () => 'abcde',
    after: () => () => undefined,
    schedule: (step) => void steps.push(step),
  };
  const api = new LabApi(environment, new ObjectStore(20));
  const settle = (): number => {
    let count = 0;
    for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
      step();
      count++;
    }
    return count;
  };
  settle();
  const kind = (plural: string): ResourceDefinition => {
    const definition = api.registry.all().find((candidate) => candidate.plural === plural);
    if (definition === undefined) throw new Error(plural);
    return definition;
  };
  return { api, settle, kind };
}

function map(name: string, metadata: JsonObject = {}): JsonObject {
  return { metadata: { name, ...metadata } };
}

test('the same operations give the same world, without HTTP or time', () => {
  const run = (): string => {
    const { api, settle, kind } = world();
    const maps = kind('configmaps');
    const owner = api.operations.create(maps, 'default', map('owner'));
    api.operations.create(
      maps,
      'default',
      map('owned', { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }] }),
    );
    api.operations.create(kind('namespaces'), '', map('gone'));
    api.operations.create(maps, 'gone', map('inside', { finalizers: ['example.com/hold'] }));
    api.operations.delete(maps, 'default', 'owner');
    api.operations.delete(kind('namespaces'), '', 'gone');
    settle();
    return JSON.stringify(api.registry.all().map((definition) => api.store.list(definition.table)));
  };
  const first = run();
  assert.equal(run(), first);
  assert.ok(!first.includes('"owned"'));
  assert.ok(first.includes('"inside"'));
});

test('a namespace ends when its last object loses its finalizers', () => {
  const { api, settle, kind } = world();
  api.operations.create(kind('namespaces'), '', map('gone'));
  api.operations.create(kind('configmaps'), 'gone', map('held', { finalizers: ['example.com/hold'] }));
  api.operations.delete(kind('namespaces'), '', 'gone');
  settle();
  assert.ok(api.store.get('namespaces', 'gone') !== undefined);
  api.operations.update(kind('configmaps'), 'gone', 'held', (current) => ({
    ...current,
    metadata: { ...current.metadata, finalizers: [] },
  }));
  settle();
  assert.equal(api.store.get('namespaces', 'gone'), undefined);
});

test('a watch resumes exactly, or reports that it cannot', () => {
  const { api, kind } = world();
  const maps = kind('configmaps');
  const seen: StoreEvent[] = [];
  const start = api.store.revision;
  for (let index = 0; index < 10; index++) api.operations.create(maps, 'default', map(`m${index}`));
  api.store.watch('configmaps', start + 3, (event) => void seen.push(event));
  assert.deepEqual(
    seen.map((event) => event.key),
    ['m3', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9'].map((name) => `default/${name}`),
  );
  for (let index = 10; index < 60; index++) api.operations.create(maps, 'default', map(`m${index}`));
  assert.equal(seen.length, 57);
  assert.equal(
    api.store.watch('configmaps', start, () => undefined),
    undefined,
  );
  assert.notEqual(
    api.store.watch('secrets', start, () => undefined),
    undefined,
  );
});

test('objects that a reader has never change', () => {
  const { api, kind } = world();
  const maps = kind('configmaps');
  const created = api.operations.create(maps, 'default', { ...map('m'), data: { a: '1' } });
  const text = JSON.stringify(created);
  for (const data of [{ a: '2' }, { b: '3' }])
    api.operations.update(maps, 'default', 'm', (current) => applyMergePatch(current, { metadata: { labels: data }, data }) as JsonObject);
  assert.equal(JSON.stringify(created), text);
  assert.throws(
    () => api.operations.update(maps, 'default', 'm', () => ({ ...created })),
    (error) => error instanceof ApiError && error.code === 409,
  );
});
