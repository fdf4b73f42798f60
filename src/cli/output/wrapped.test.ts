import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proofLines } from '../commands/check.ts';
import { wrapped } from './wrapped.ts';

test('text is broken between words, no line is longer than the terminal unless a word is, and nothing is lost', () => {
  const text = `Subnet red cannot be deleted: ${Array.from({ length: 20 }, (_, i) => `IP web-${i}.red-web`).join(', ')}, ${'x'.repeat(60)}`;
  for (const columns of [20, 40, 80]) {
    const lines = wrapped(text, columns, '    ');
    assert.equal(lines.map((line) => line.slice(4)).join(' '), text);
    for (const line of lines) {
      assert.match(line, /^ {4}\S/);
      assert.ok(line.length <= columns || !line.trim().includes(' '), line);
    }
  }
  assert.deepEqual(wrapped('short', 80), ['short']);
});

test('the line of a proof that does not fit shows each quotation on lines of its own', () => {
  assert.deepEqual(proofLines('✔', 'it holds', '6 pods', 5, 80), ['✔ it holds: 6 pods  5 ms']);
  const long = 'Vpc red cannot be deleted: '.repeat(5).trim();
  const lines = proofLines('✔', 'the webhook denies', `"${long}", "${long}"`, 5, 80);
  assert.equal(lines[0], '✔ the webhook denies  5 ms');
  assert.equal(lines.filter((line) => line.startsWith('    "Vpc')).length, 2);
  for (const line of lines) assert.ok(line.length <= 80, line);
});
