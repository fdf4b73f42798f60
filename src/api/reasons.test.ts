import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { REASONS } from './reasons.ts';

const root = join(import.meta.dirname, '..');

test('every reason is one word in CamelCase, with its meaning and, if needed, the action', () => {
  for (const [reason, { means, next }] of Object.entries(REASONS)) {
    assert.match(reason, /^[A-Z][A-Za-z0-9]{1,127}$/);
    assert.ok(means.length > 8, reason);
    assert.doesNotMatch(`${means}${next}`, /\.$|\n/, reason);
  }
});

test('every reason is used', () => {
  const sources = globSync('**/*.ts', { cwd: root })
    .filter((path) => !/\.test\.ts$|testing\/|^api\/reasons\.ts$|^lab\//.test(path))
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n');
  assert.deepEqual(
    Object.keys(REASONS).filter((reason) => !sources.includes(`'${reason}'`)),
    [],
  );
});
