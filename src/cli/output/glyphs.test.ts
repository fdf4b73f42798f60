import assert from 'node:assert/strict';
import { test } from 'node:test';
import { glyphs, isUtf8Locale } from './glyphs.ts';

test('the locale is that of the first variable which is set', () => {
  for (const [env, utf8] of [
    [{}, false],
    [{ LANG: 'C.UTF-8' }, true],
    [{ LANG: 'de_DE.utf8' }, true],
    [{ LANG: 'en_US.UTF-8', LC_ALL: 'C' }, false],
    [{ LANG: 'C', LC_CTYPE: 'en_US.UTF-8' }, true],
    [{ LANG: 'en_US.UTF-8', LC_ALL: '', LC_CTYPE: 'POSIX' }, false],
    [{ LANG: 'de_DE.ISO-8859-1' }, false],
  ] as const)
    assert.equal(isUtf8Locale(env), utf8, JSON.stringify(env));
});

test('without UTF-8 trees and symbols are ASCII; with it the text is unchanged', () => {
  const text = '├─ used by (blocks deletion)\n│  └─ Subnet/red\n   └─ … and 3 more\n✔ none · ✖ 2';
  assert.equal(glyphs(text, { LC_ALL: 'C.UTF-8' }), text);
  const plain = glyphs(text, { LC_ALL: 'C' });
  assert.equal(plain, '|- used by (blocks deletion)\n|  `- Subnet/red\n   `- ... and 3 more\n+ none - x 2');
  assert.equal(Buffer.byteLength(plain), plain.length);
});
