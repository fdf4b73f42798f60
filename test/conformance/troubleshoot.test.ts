/** The troubleshooting page names every condition type, and every reason that requires an action. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CONDITION_TYPES } from '../../src/api/condition-types.ts';
import type { ReasonText } from '../../src/api/reasons.ts';
import { REASONS } from '../../src/api/reasons.ts';

const page = readFileSync(new URL('../../docs/troubleshoot.md', import.meta.url), 'utf8');
/** Words in backticks, with or without a status. */
const named = new Set([...page.matchAll(/`([A-Za-z./]+)(?:=(?:True|False))?`/g)].map(([, word]) => word));

test('docs/troubleshoot.md names every type of condition', () => {
  assert.deepEqual(
    Object.keys(CONDITION_TYPES).filter((type) => !named.has(type)),
    [],
  );
});

test('docs/troubleshoot.md names every reason that needs an action; rules of validation are in the reference alone', () => {
  const reasons = Object.entries(REASONS as Readonly<Record<string, ReasonText>>);
  const due = reasons.filter(([, { means, next }]) => next !== '' && !means.startsWith('a rule is broken by')).map(([reason]) => reason);
  assert.ok(due.length > 40);
  assert.deepEqual(
    due.filter((reason) => !named.has(reason)),
    [],
  );
});
