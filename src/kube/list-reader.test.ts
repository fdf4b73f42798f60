import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseJson } from './json.ts';
import { ListReader } from './list-reader.ts';

function read(text: string, cuts: readonly number[]): { readonly items: unknown[]; readonly frame: unknown } {
  const bytes = Buffer.from(text);
  const reader = new ListReader();
  const items: unknown[] = [];
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  for (let n = 1; n < at.length; n++) items.push(...reader.push(bytes.subarray(at[n - 1], at[n])));
  return { items, frame: reader.end() };
}

test('any list, cut anywhere, comes out item by item with its frame, wherever the frame stands', () => {
  const item = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));
  const arbitrary = fc.tuple(fc.array(item, { maxLength: 5 }), fc.string({ unit: 'binary' }), fc.array(fc.nat(), { maxLength: 6 }));
  fc.assert(
    fc.property(arbitrary, fc.boolean(), fc.boolean(), ([items, text, cuts], metadataFirst, spaced) => {
      const metadata = { resourceVersion: '7', continue: text, nested: { list: [1, { a: [] }] } };
      const list = metadataFirst ? { kind: 'List', metadata, items } : { apiVersion: 'v1', items, kind: 'List', metadata };
      const found = read(JSON.stringify(list, undefined, spaced ? 2 : 0), cuts);
      assert.deepEqual(found.items, parseJson(JSON.stringify(items)));
      assert.deepEqual(found.frame, parseJson(JSON.stringify({ ...list, items: [] })));
    }),
  );
});

test('what is not whole is an error', () => {
  for (const text of ['{"items":[{"a":1},', '{"items":[{"a":', '', '{"items":[{"a":1}']) assert.throws(() => read(text, []), SyntaxError);
});

test('integers beyond 2^53 stay exact', () => {
  assert.deepEqual(read('{"items":[{"count":18446744073709551615}]}', [20]).items, [{ count: 18446744073709551615n }]);
});
