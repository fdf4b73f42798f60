import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Row, Uuid, Value } from '../ovsdb/index.ts';
import { isNeighbourPattern, Neighbours, neighboursProblem } from './neighbours.ts';
import type { Ownership } from './ownership.ts';
import { ownershipOf } from './ownership.ts';

const OCTAVIA = { name: 'octavia', externalIds: '^octavia:', names: '^lb-[0-9a-f]{8}$' };

function row(name: string, keys: Readonly<Record<string, string>> = {}, more: Readonly<Record<string, Value>> = {}): Row {
  return { _uuid: '00000000-0000-4000-8000-000000000001' as Uuid, name, external_ids: new Map(Object.entries(keys)), ...more };
}

function decided(of: Row): Ownership {
  return Neighbours.of([OCTAVIA]).decide(of, ownershipOf(of['external_ids'] as ReadonlyMap<unknown, unknown>));
}

const octavias: Ownership = { kind: 'foreign', family: 'configured', neighbour: 'octavia' };

test("a row that a pattern matches is that program's, also with Kube-OVN's key; only Kiln's own keys count more", () => {
  assert.deepEqual(decided(row('lb-0123abcd')), octavias);
  assert.deepEqual(decided(row('x', { 'octavia:listener': '1' })), octavias);
  assert.deepEqual(decided(row('lb-0123abcd', { vendor: 'kube-ovn' })), octavias);
  const own = { vendor: 'kube-ovn', 'kiln.io/owner': 'subnet//s', 'kiln.io/uid': 'u' };
  assert.equal(decided(row('lb-0123abcd', own)).kind, 'ours');
  assert.equal(Neighbours.of([OCTAVIA]).of(row('lb-0123abcd', own)), 'octavia', 'and it is known that the pattern is too wide');
  assert.deepEqual(decided(row('lb-0123abcde')), { kind: 'foreign', family: 'unknown' });
});

test('a transit switch is of ovn-ic', () => {
  assert.deepEqual(decided(row('ts1', {}, { other_config: new Map([['interconn-ts', 'ts1']]) })), { kind: 'foreign', family: 'ovn-ic' });
});

test("a pattern that is no pattern, has no name, matches nothing or what is Kiln's is refused with a sentence", () => {
  const problem = (one: object, own: readonly string[] = ['ovn-default']): string => {
    assert.ok(isNeighbourPattern(one));
    return neighboursProblem([one], own) ?? '';
  };
  assert.equal(problem(OCTAVIA), '');
  assert.match(problem({ name: 'a', names: '(' }), /^a: names \/\(\/ is no regular expression of RE2: missing closing \)/);
  assert.match(problem({ name: 'a', names: '^ovn-' }), /names \/\^ovn-\/ matches ovn-default, which is Kiln's own/);
  assert.match(
    problem({ name: 'a', externalIds: 'kube-ovn' }),
    /externalIds \/kube-ovn\/ matches vendor=kube-ovn, which Kiln's own rows have/,
  );
  assert.match(problem({ name: 'a', externalIds: '.*' }), /matches vendor=kube-ovn/);
  assert.match(problem({ name: 'A', names: 'x' }), /is not a name/);
  assert.match(problem({ name: 'a' }), /neither externalIds nor names/);
  assert.match(neighboursProblem([OCTAVIA, OCTAVIA], []) ?? '', /two are named octavia/);
  assert.equal(isNeighbourPattern({ name: 'a', nam: 'x' }), false);
});
