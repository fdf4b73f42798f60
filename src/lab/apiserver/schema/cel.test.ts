import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { Json } from '../json.ts';
import { compileRule } from './cel.ts';
import { validateRules } from './rules.ts';
import { readSchema } from './schema.ts';

const CRDS = fileURLToPath(new URL('../../../../../shared/reference/kube-ovn-crds.yaml', import.meta.url));

function holds(rule: string, self: Json, oldSelf?: Json): boolean {
  return compileRule(rule)(self, oldSelf);
}

test('rules as definitions write them', () => {
  assert.ok(holds('self == oldSelf', 'a', 'a'));
  assert.ok(!holds('self == oldSelf', 'a', 'b'));
  assert.ok(holds('self.start <= self.end', { start: 1, end: 2 }));
  assert.ok(!holds('self.start <= self.end', { start: 3, end: 2 }));
  assert.ok(holds('has(self.a) || has(self.b)', { b: 1 }));
  assert.ok(!holds('has(self.a) || has(self.b)', {}));
  assert.ok(holds('type(self) == int ? self >= 0 && self <= 9223372036854 : true', 'text'));
  assert.ok(!holds('type(self) == int ? self >= 0 && self <= 9223372036854 : true', -1));
  assert.ok(holds('!has(self.ips) || size(self.ips) == 0 || size(self.ips) >= self.replicas', { ips: ['a', 'b'], replicas: 2 }));
  assert.ok(!holds('!has(self.ips) || size(self.ips) == 0 || size(self.ips) >= self.replicas', { ips: ['a'], replicas: 2 }));
  assert.ok(holds("self.all(x, x.startsWith('a')) && self.exists(x, x == 'ab') && 'ab' in self", ['ab', 'ac']));
  assert.ok(holds('(1 + 2) * 3 == 9 && -self < 0 && 7 % 4 == 3', 5));
  assert.throws(() => compileRule('self.nope(1)'), SyntaxError);
  assert.throws(() => compileRule('self =='), SyntaxError);
});

test('one side that decides hides an error of the other', () => {
  assert.ok(holds('self.none == 1 || self.a == 1', { a: 1 }));
  assert.ok(holds('self.a == 1 || self.none == 1', { a: 1 }));
  assert.ok(!holds('self.none == 1 && self.a == 2', { a: 1 }));
  assert.throws(() => holds('self.none == 1 || self.a == 2', { a: 1 }), /no such key: none/);
  assert.throws(() => holds('1 / self.a == 2', { a: 0 }), /division by zero/);
});

test('a broken rule names its field and its message', () => {
  const schema = readSchema({
    type: 'object',
    properties: {
      name: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'name is immutable' }] },
      n: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 1' }] },
    },
  });
  assert.deepEqual(validateRules(schema, { name: 'a', n: 2 }, undefined), []);
  assert.deepEqual(validateRules(schema, { name: 'b', n: 2 }, { name: 'a', n: 2 }), [
    { type: 'Invalid', field: 'name', message: 'Invalid value: "string": name is immutable' },
  ]);
  assert.deepEqual(validateRules(schema, { n: 1 }, undefined), [
    { type: 'Invalid', field: 'n', message: 'Invalid value: "integer": failed rule: self > 1' },
  ]);
});

test(
  'every rule of Kube-OVN is understood',
  { skip: existsSync(CRDS) ? false : 'needs ../shared/reference/kube-ovn-crds.yaml, which is not here' },
  () => {
    const rules: string[] = [];
    const collect = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [key, child] of Object.entries(value as Record<string, unknown>)) {
        if (key === 'x-kubernetes-validations') rules.push(...(child as { rule: string }[]).map((entry) => entry.rule));
        else collect(child);
      }
    };
    for (const document of parseAllDocuments(readFileSync(CRDS, 'utf8'))) collect(document.toJS());
    assert.ok(rules.length >= 16);
    for (const rule of rules) compileRule(rule);
  },
);
