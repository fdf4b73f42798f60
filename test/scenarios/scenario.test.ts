import assert from 'node:assert/strict';
import { test } from 'node:test';
import { POLICIES_SINCE } from '../../src/testing/controller-account.ts';
import { SCENARIOS } from './all.ts';
import { scenariosOn } from './scenario.ts';

const namesOn = (api: 'lab' | 'real', minor?: number): readonly string[] => scenariosOn(api, minor, SCENARIOS).map(({ name }) => name);

test('an older kube-apiserver runs every scenario but those that need a newer one', () => {
  const newest = namesOn('real', POLICIES_SINCE);
  const oldest = new Set(namesOn('real', POLICIES_SINCE - 1));
  const onlyNewest = newest.filter((name) => !oldest.has(name));
  assert.ok(onlyNewest.length > 0 && oldest.size > 100, `${onlyNewest.length} of ${newest.length}`);
  assert.deepEqual(
    onlyNewest,
    SCENARIOS.filter(({ apiServerSince }) => apiServerSince !== undefined).map(({ name }) => name),
  );
});

test('every scenario runs on an API server', () => {
  const run = new Set([...namesOn('lab'), ...namesOn('real', POLICIES_SINCE)]);
  assert.deepEqual(
    SCENARIOS.map(({ name }) => name).filter((name) => !run.has(name)),
    [],
  );
});
