import assert from 'node:assert/strict';
import { test } from 'node:test';
import { define } from '../builtin/define.ts';
import { MOST_LEVELS } from '../json.ts';
import type { Json } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { ApiError } from '../status.ts';
import { applyPatch } from './patch.ts';

const MAPS = define('', 'v1', 'configmaps', 'ConfigMap', true);
const MAP: KubeObject = {
  ...{ apiVersion: 'v1', kind: 'ConfigMap', data: {} },
  metadata: { name: 'm', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
};

function nested(levels: number): Json {
  let value: Json = {};
  for (let level = 1; level < levels; level++) value = { a: value };
  return value;
}

test('several shallow patches cannot make an object deeper than the limit', () => {
  const add = (path: string, levels: number, to: KubeObject): KubeObject =>
    applyPatch(MAPS, 'application/json-patch+json', to, () => [{ op: 'add', path, value: nested(levels) }]) as KubeObject;
  const half = add('/data', MOST_LEVELS / 2, MAP);
  const deepest = `/data${'/a'.repeat(MOST_LEVELS / 2 - 1)}`;
  const whole = add(deepest, MOST_LEVELS / 2 - 1, half);
  assert.throws(
    () => add(deepest, MOST_LEVELS / 2 + 1, half),
    (error) => error instanceof ApiError && error.code === 400 && /exceeds the max depth/.test(error.message),
  );
  assert.ok(JSON.stringify(whole).length > MOST_LEVELS);
});
