import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { asStoredInteger, parseJson, stringifyJson } from './json.ts';

describe('exact JSON', () => {
  it('keeps integers beyond 2^53 and leaves all else as JSON has it', () => {
    const text =
      '{"a":9007199254740993,"b":[18446744073709551614,-9223372036854775808],"c":9007199254740991,"d":1.5,"e":1e30,"f":"1234567890123456789"}';
    assert.deepEqual(parseJson(text), {
      a: 9007199254740993n,
      b: [18446744073709551614n, -9223372036854775808n],
      c: 9007199254740991,
      d: 1.5,
      e: 1e30,
      f: '1234567890123456789',
    });
    assert.equal(
      stringifyJson({ a: 9007199254740993n, b: [18446744073709551614n], c: 1 }),
      '{"a":9007199254740993,"b":[18446744073709551614],"c":1}',
    );
  });

  it('is not misled by digits in strings, and finds numbers after any white space', () => {
    assert.deepEqual(parseJson('{"a":":1234567890123456789"}'), { a: ':1234567890123456789' });
    assert.deepEqual(parseJson('{"a":\n\t 9007199254740993}'), { a: 9007199254740993n });
    assert.equal(parseJson('9007199254740993'), 9007199254740993n);
  });

  it('fails as JSON does', () => {
    assert.throws(() => parseJson('{"a":9007199254740993'), SyntaxError);
    const ring: { self?: unknown } = {};
    ring.self = ring;
    assert.throws(() => stringifyJson(ring), TypeError);
  });

  it('carries any integer there and back', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.string(), (value, text) => {
        const back = parseJson(stringifyJson({ value, text, list: [value] })) as { value: bigint | number; text: string };
        assert.equal(BigInt(back.value), value);
        assert.equal(back.text, text);
      }),
    );
  });

  it('rounds as an API server stores', () => {
    // As observed on a kube-apiserver: int64 is exact, a larger integer is a float64.
    assert.equal(asStoredInteger(18446744073709551614n), 18446744073709552000n);
    assert.equal(asStoredInteger(9223372036854775807n), 9223372036854775807n);
    assert.equal(asStoredInteger(9007199254740993n), 9007199254740993n);
    assert.equal(asStoredInteger(5n), 5);
    assert.equal(asStoredInteger(2n ** 64n), asStoredInteger(18446744073709552000n));
    assert.equal(asStoredInteger(2n ** 80n), 2 ** 80);
    assert.equal(asStoredInteger(1.5), 1.5);
  });
});
