import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { exactJson, exactYaml } from './exact-text.ts';
import { HOSTILE_PIECES, hostileText, unseenIn } from './testing/hostile-text.ts';
import { isVisible, visible, visibleLines, visibleMessage } from './visible-text.ts';

test('each invisible character is escaped, and escaped text stays unchanged', () => {
  for (const piece of HOSTILE_PIECES) {
    assert.equal(isVisible(piece), false, JSON.stringify(piece));
    assert.equal(unseenIn(visible(piece)), undefined);
  }
  assert.equal(visible('a\u001b]0;t\u0007\nforged\u202eb'), String.raw`a\u001b]0;t\u0007\nforged\u202eb`);
  assert.equal(visible('\u{e0001}\ud800'), String.raw`\u{e0001}\ud800`);
  for (const text of ['red-web/web-0', 'ünïcode 漢字 😀', String.raw`C:\n`, '│  └─ ✔ …']) assert.equal(visible(text), text);
  fc.assert(
    fc.property(hostileText(), (text) => {
      const shown = visible(text);
      assert.equal(unseenIn(shown), undefined);
      assert.equal(visible(shown), shown);
      assert.equal(isVisible(text), shown === text);
    }),
  );
});

test('a text of several lines keeps its line ends, and no other control character', () => {
  fc.assert(
    fc.property(fc.array(hostileText()), (texts) => {
      const lines = texts.map(visible);
      assert.equal(visibleLines(lines.join('\n')), lines.join('\n'));
      assert.equal(unseenIn(visibleLines(texts.join('\n')).replaceAll('\n', '')), undefined);
    }),
  );
});

test('combining marks cannot cover neighbouring lines', () => {
  assert.ok(!/\p{M}{5}/u.test(visible(`a${'\u0300'.repeat(100)}b${'\u20d2'.repeat(40)}`)));
});

test('a message is limited in bytes, after escaping', () => {
  fc.assert(
    fc.property(hostileText(), fc.integer({ min: 10, max: 200 }), fc.integer({ min: 1, max: 50 }), (text, most, times) => {
      const message = visibleMessage(text.repeat(times), most);
      assert.ok(Buffer.byteLength(message) <= most, message);
      assert.equal(unseenIn(message), undefined);
      assert.equal(visibleMessage(message, most), message);
    }),
  );
  assert.equal(visibleMessage('x'.repeat(50), 50), 'x'.repeat(50));
  assert.equal(visibleMessage('x'.repeat(51), 50), `${'x'.repeat(47)}…`);
});

test('a long text takes linear time', { timeout: 60_000 }, () => {
  for (const piece of ['a', '\u0301', 'e\u0301', '\u001b[', '\ud800', 'ä']) assert.ok(visible(piece.repeat(1_000_000)).length >= 1_000_000);
});

test('YAML retains blanks in front of the first line of a text', () => {
  for (const text of [' \n', '\n \n', '  \n a', '\t\na', '\n', `\ntouch owned\n \ntouch owned\n\u200d${'x'.repeat(90)}`])
    assert.deepEqual(parse(exactYaml({ a: { b: text } })), { a: { b: text } });
});

test('JSON and YAML for programs have the same values, in visible characters', () => {
  // The JSON.parse of Node 24 sometimes reads a key of one escaped character, such as "\\u2029", as "\\": no key here is that short.
  const key = hostileText().map((text) => `k${text}`);
  const value = fc.dictionary(key, fc.oneof(hostileText(), fc.array(hostileText()), fc.dictionary(key, hostileText())));
  fc.assert(
    fc.property(value, (object) => {
      const plain: unknown = JSON.parse(JSON.stringify(object));
      const json = exactJson(JSON.stringify(object, undefined, 2));
      assert.deepEqual(JSON.parse(json), plain);
      const yaml = exactYaml(plain);
      assert.deepEqual(parse(yaml), plain, yaml);
      for (const text of [json, yaml]) assert.equal(unseenIn(text.replaceAll('\n', '')), undefined);
    }),
  );
});
