import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GcRule } from './gc-rules.ts';
import { gcRulesProblem, isGcRule } from './gc-rules.ts';

test('a rule that is none is said to be what it is', () => {
  const problem = (rule: object): string => gcRulesProblem([rule as GcRule]) ?? '';
  assert.equal(problem({ mode: 'report', table: 'NAT' }), '');
  assert.match(problem({ mode: 'report', table: 'NATs' }), /^"NATs" is no table that Kiln writes; these are .*NAT/);
  assert.match(problem({ mode: 'report', names: 'a(' }), /^names \/a\(\/ /);
  assert.match(problem({ mode: 'off', owners: '' }), /^owners \/\/ is empty, and would match everything/);
  assert.match(problem({ mode: 'sometimes', table: 'NAT' }), /^mode "sometimes" is none of on, report, off/);
  assert.match(problem({ mode: 'on', table: 'NAT' }), /no effect/);
  assert.match(problem({ mode: 'off' }), /neither table nor names nor owners; --gc=off/);
  assert.match(gcRulesProblem(Array.from({ length: 51 }, () => ({ mode: 'off', table: 'NAT' }))) ?? '', /at most 50/);
  assert.equal(isGcRule({ mode: 'off', tables: 'NAT' }), false);
});
