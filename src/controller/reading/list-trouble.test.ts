import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../timing/clock.ts';
import { KINDS, ScriptedApi } from '../../kube/testing/scripted-api.ts';
import { until } from '../../testing/until.ts';
import { DEFAULT_SETTINGS } from '../../world/settings.ts';
import { RESOURCES } from '../../world/resources.ts';
import { World } from '../../world/world.ts';
import { Caches } from './caches.ts';

for (const { plural, kind } of Object.values(RESOURCES)) KINDS.set(plural, kind);

test('the error of a failing list is known until the kind is listed', async () => {
  const api = await ScriptedApi.start();
  let mayReadPods = false;
  let slow: (() => void) | undefined;
  api.handler = (exchange) => {
    if (exchange.isWatch) exchange.open();
    else if (exchange.path.endsWith('/nodes') && slow === undefined) slow = () => exchange.list([], '1');
    else if (!exchange.path.endsWith('/pods') || mayReadPods) exchange.list([], '1');
    else exchange.status(403, 'Forbidden', 'pods is forbidden: User "kiln" cannot list resource "pods"');
  };
  const caches = new Caches({
    client: api.client(),
    world: new World(DEFAULT_SETTINGS),
    clock: systemClock,
    changed: () => undefined,
    inferredDeletions: () => undefined,
  });
  const code = (): string | undefined => caches.listError?.code;
  try {
    assert.equal(code(), undefined, 'no request yet');
    caches.start();
    await until('the error', () => slow !== undefined && caches.missing.length === 2 && code() !== undefined);
    assert.deepEqual([caches.missing.toSorted(), code()], [['nodes', 'pods'], 'KUBE_FORBIDDEN']);
    mayReadPods = true;
    await until('the pods', () => {
      caches.retrySoon();
      return caches.missing.length === 1;
    });
    assert.deepEqual([caches.missing, code()], [['nodes'], undefined], 'a list without an answer is no error');
  } finally {
    slow?.();
    await caches.close();
    await api.close();
  }
});
