import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { referencePage } from '../../scripts/reference/page.ts';

test('docs/reference.md is up to date with the code; fix with: npm run --silent reference > docs/reference.md', () => {
  assert.equal(readFileSync(new URL('../../docs/reference.md', import.meta.url), 'utf8'), referencePage());
});
