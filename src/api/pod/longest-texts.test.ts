/** Texts of users that Kiln parses word by word have a maximum length. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LONGEST_ANNOTATION } from './annotation-limits.ts';
import { aclMatchBreach, matchBreach } from '../values/match-text.ts';
import { parseNetworkSelections } from './network-selection.ts';
import { optionProblems, parseOptions } from '../values/option-text.ts';

const LONGEST = 65_536;
const padded = (text: string, length: number): string => text.padEnd(length, ' ');

test('a match of 65536 characters is valid, and a longer one is invalid without being parsed', () => {
  for (const breach of [matchBreach, aclMatchBreach]) {
    assert.equal(breach(padded('ip4', LONGEST)), undefined);
    assert.equal(breach(padded('ip4', LONGEST + 1))?.problem, 'is longer than 65536 characters');
    assert.equal(breach('('.repeat(7_000_000))?.problem, 'is longer than 65536 characters');
  }
});

test('longer options are one problem, and none of them takes effect', () => {
  const text = padded('mtu=1400', LONGEST + 1);
  assert.deepEqual(
    [optionProblems(text, 'DHCPv4').map(({ problem }) => problem), parseOptions(text, 'DHCPv4')],
    [['is longer than 65536 characters'], {}],
  );
  assert.deepEqual(parseOptions(padded('mtu=1400', LONGEST), 'DHCPv4'), { mtu: '1400' });
});

test('requested networks of a pod: nested arrays of any length are invalid without being parsed', () => {
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  const long = parseNetworkSelections(nested(LONGEST_ANNOTATION), 'shop');
  assert.match(long.ok ? '' : long.problem, new RegExp(`at most ${LONGEST_ANNOTATION} characters`));
  assert.deepEqual(parseNetworkSelections(nested(LONGEST_ANNOTATION / 2), 'shop'), {
    ok: false,
    problem: 'has an element 0 that is not an object',
  });
});
