import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertedWords } from './asserted-words.ts';

test('words in assertions and comparisons count; words in comments, titles and what a test puts in do not', () => {
  const source = [
    '// assert.equal(x, "InLineComment")',
    '/* assert.equal(x, "InComment") */',
    "test('InTitle', () => {",
    "  const given = { reason: 'Given' };",
    "  const table = [['InTable', /InTable/]];",
    "  put({ reason: 'PutIn' });",
    "  assert.equal(said(`${given} / 'x'`), 'Asserted');",
    '  assert.match(text, /Matched: "[^/]+"/);',
    "  assert.deepEqual(list.map((one) => [one, 'Nested']), ['Listed']);",
    "  await cluster.eventually('it', async () => (await get()).reason === 'Awaited');",
    "  const some = events.filter(({ reason }) => reason === 'Compared');",
    "  const half = 4 / 2; put('After / Division');",
    '});',
  ].join('\n');
  assert.deepEqual([...assertedWords(source)].toSorted(), ['Asserted', 'Awaited', 'Compared', 'Listed', 'Matched', 'Nested']);
});
