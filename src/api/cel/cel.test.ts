import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { celValue, compileCel } from './cel.ts';
import { allCrds } from '../kinds/crds.ts';
import type { CelRule, SchemaNode } from '../schema/schema.ts';

const THEIR_CRDS = fileURLToPath(new URL('../../../../shared/reference/kube-ovn-crds.yaml', import.meta.url));

function holds(rule: string, self: unknown, old?: unknown, node: SchemaNode = {}): boolean {
  return compileCel(rule).holds(celValue(node, self), old === undefined ? undefined : celValue(node, old));
}

function rulesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = ((value as SchemaNode)['x-kubernetes-validations'] ?? []).map(({ rule }: CelRule) => rule);
  return [...own, ...Object.values(value).flatMap(rulesIn)];
}

test('rules as definitions write them', () => {
  assert.ok(holds('self == oldSelf', 'a', 'a'));
  assert.ok(!holds('self == oldSelf', 'a', 'b'));
  assert.ok(holds('self.start <= self.end', { start: 1, end: 2 }));
  assert.ok(!holds('self.start <= self.end', { start: 3, end: 2 }));
  assert.ok(holds('has(self.a) || has(self.b)', { b: 1 }));
  assert.ok(!holds('has(self.a) || has(self.b)', {}));
  assert.ok(!holds('has(self.constructor)', {}), 'what JavaScript adds is not there');
  assert.ok(holds('type(self) == int ? self >= 0 && self <= 9223372036854 : true', 'text'));
  assert.ok(!holds('type(self) == int ? self >= 0 && self <= 9223372036854 : true', -1));
  assert.ok(holds('!has(self.ips) || size(self.ips) == 0 || size(self.ips) >= self.replicas', { ips: ['a', 'b'], replicas: 2 }));
  assert.ok(!holds('!has(self.ips) || size(self.ips) == 0 || size(self.ips) >= self.replicas', { ips: ['a'], replicas: 2 }));
  assert.ok(holds("self.all(x, x.startsWith('a')) && self.exists(x, x == 'ab') && 'ab' in self", ['ab', 'ac']));
  assert.ok(holds('(1 + 2) * 3 == 9 && -self < 0 && 7 % 4 == 3', 5));
});

test('a rule that cannot be read is no rule', () => {
  for (const rule of ['self.nope(1)', 'self ==', 'other == 1', 'isIP(self)', '1 + 1'])
    assert.throws(() => compileCel(rule), SyntaxError, rule);
});

test('one side that decides hides an error of the other', () => {
  assert.ok(holds('self.none == 1 || self.a == 1', { a: 1 }));
  assert.ok(holds('self.a == 1 || self.none == 1', { a: 1 }));
  assert.ok(!holds('self.none == 1 && self.a == 2', { a: 1 }));
  assert.throws(() => holds('self.none == 1 || self.a == 2', { a: 1 }), /^Error: no such key: none$/i);
  assert.throws(() => holds('1 / self.a == 2', { a: 0 }), /^Error: division by zero$/);
});

test('a number has the type of its schema', () => {
  const half = 'self.n / 2 == 1';
  assert.ok(holds(half, { n: 3 }, undefined, { properties: { n: { type: 'integer' } } }));
  assert.throws(() => holds(half, { n: 3 }, undefined, { properties: { n: { type: 'number' } } }), /no such overload/);
  assert.ok(holds('self.n / 2.0 == 1.5', { n: 3n }, undefined, { properties: { n: { type: 'number' } } }));
  assert.ok(holds('self == 9007199254740993', 9_007_199_254_740_993n, undefined, { type: 'integer' }));
  assert.ok(holds('self == 9007199254740993', { rawJSON: '9007199254740993' }, undefined, { type: 'integer' }));
  assert.ok(holds('type(self) == double', 1.5));
});

test('a property that CEL cannot name is read by its escaped name, a key of a map by its own', () => {
  const properties = { namespace: { type: 'string' }, 'a-b.c/d__e': { type: 'string' } } as const;
  const value = { namespace: 'n', 'a-b.c/d__e': 'x' };
  assert.ok(holds("self.__namespace__ == 'n'", value, undefined, { properties }));
  assert.ok(holds("self.a__dash__b__dot__c__slash__d__underscores__e == 'x'", value, undefined, { properties }));
  assert.ok(holds("self['a-b.c/d__e'] == 'x'", value, undefined, { additionalProperties: { type: 'string' } }));
});

test('every rule of our definitions is read', () => {
  const rules = allCrds().flatMap(rulesIn);
  assert.ok(rules.length >= 13, String(rules.length));
  for (const rule of rules) compileCel(rule);
});

const noReference = existsSync(THEIR_CRDS) ? false : 'needs ../shared/reference/kube-ovn-crds.yaml, which is not here';

test('every rule of Kube-OVN is read', { skip: noReference }, () => {
  const rules = parseAllDocuments(readFileSync(THEIR_CRDS, 'utf8')).flatMap((document) => rulesIn(document.toJS()));
  assert.ok(rules.length >= 16);
  for (const rule of rules) compileCel(rule);
});
