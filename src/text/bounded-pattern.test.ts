import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BoundedPattern } from './bounded-pattern.ts';

function matches(source: string, text: string): boolean {
  const parsed = BoundedPattern.parse(source);
  assert.ok(parsed.ok, source);
  return parsed.pattern.matches(text);
}

test('it decides as a regular expression of JavaScript does', () => {
  const patterns = [
    ...[
      'a',
      '^a',
      'a$',
      '^a$',
      'a.c',
      'a|b',
      '^(?:ab|cd)+$',
      'a*',
      '^a*$',
      '^a+b?$',
      '^[a-c]{2,3}$',
      '[^a-c]',
      '^\\d{3}-\\w+$',
      '\\.',
      '^a{2}$',
      '^(a|b)*c$',
    ],
    ...['^neutron-', 'k8s\\.ovn\\.org/', '^lb-[0-9a-f-]{8,36}$', '(a*)*b', '^(a+)+$', '^$', 'x{0,2}y', '[a-]', '^a??b$', '(|a)c', 'a{2,}'],
  ];
  const texts = [
    '',
    'a',
    'b',
    'ab',
    'abc',
    'abab',
    'cd',
    'abcd',
    'aa',
    'aaa',
    'aab',
    '123-x',
    'a.c',
    'neutron-1',
    'k8s.ovn.org/x',
    'lb-01234567',
    '-',
    'xxy',
    'c',
    'a\nc',
  ];
  for (const source of patterns)
    for (const text of texts)
      assert.equal(matches(source, text), new RegExp(source).test(text), `/${source}/ with ${JSON.stringify(text)}`);
});

test('a pattern that takes years elsewhere takes milliseconds', () => {
  const began = performance.now();
  assert.equal(matches('^(a+)+$', `${'a'.repeat(1_000)}b`), false);
  assert.equal(matches('(a|a)*(a|a)*(a|a)*c', 'a'.repeat(1_000)), false);
  assert.ok(performance.now() - began < 1_000);
});

test('what it does not know, or what is too large, is refused with a sentence', () => {
  const problem = (source: string): string => {
    const parsed = BoundedPattern.parse(source);
    return parsed.ok ? '' : parsed.problem;
  };
  assert.match(problem(''), /is empty/);
  assert.match(problem('('), /is no regular expression of RE2: missing closing \)/);
  for (const source of ['a)', '[a', '*a', 'a**', '(?=a)', '(a)\\1', 'a{2,1}', '((a{200}){200})', '(((){256}){256}){256}'])
    assert.match(problem(source), /is no regular expression of RE2/, source);
  assert.match(problem('a'.repeat(201)), /longer than 200/);
});
