import assert from 'node:assert/strict';
import { test } from 'node:test';
import { POLICIES_SINCE } from '../../src/testing/controller-account.ts';
import { SCENARIOS } from './all.ts';
import { scenariosOn } from './scenario.ts';

const namesOn = (api: 'lab' | 'real', minor?: number): readonly string[] => scenariosOn(api, minor, SCENARIOS).map(({ name }) => name);

test('an older kube-apiserver runs every scenario but those that need a newer one', () => {
  const sinces = new Set(SCENARIOS.flatMap(({ apiServerSince = [] }) => apiServerSince));
  assert.ok(sinces.has(POLICIES_SINCE));
  for (const since of sinces) {
    const newer = namesOn('real', since);
    const older = new Set(namesOn('real', since - 1));
    assert.ok(older.size > 100, `${older.size} of ${newer.length}`);
    assert.deepEqual(
      newer.filter((name) => !older.has(name)),
      SCENARIOS.filter(({ apiServerSince }) => apiServerSince === since).map(({ name }) => name),
    );
  }
});

test('every scenario runs on an API server', () => {
  const run = new Set([...namesOn('lab'), ...namesOn('real', POLICIES_SINCE)]);
  assert.deepEqual(
    SCENARIOS.map(({ name }) => name).filter((name) => !run.has(name)),
    [],
  );
});
