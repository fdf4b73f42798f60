import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { LineSplitter } from './line-splitter.ts';

describe('LineSplitter', () => {
  it('gives the same lines however the stream is cut', () => {
    const line = fc
      .string({ unit: 'grapheme' })
      .map((text) => text.replace(/[\r\n]/g, '').trim())
      .filter((text) => text !== '');
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(7), { minLength: 1 }), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''), 'utf8');
        const splitter = new LineSplitter(1 << 20);
        const found: string[] = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = 1 + (cuts[i % cuts.length] ?? 0);
          found.push(...splitter.push(bytes.subarray(at, at + size)));
          at += size;
        }
        assert.deepEqual(found, lines);
        assert.equal(splitter.pendingBytes, 0);
      }),
    );
  });

  it('rejects a line above its limit', () => {
    const splitter = new LineSplitter(10);
    splitter.push(Buffer.from('123456'));
    assert.throws(() => splitter.push(Buffer.from('123456')), RangeError);
  });
});
