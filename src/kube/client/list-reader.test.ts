import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseJson } from '../json.ts';
import { ListReader } from './list-reader.ts';

function read(text: string, cuts: readonly number[], unread?: string): { readonly items: unknown[]; readonly frame: unknown } {
  const bytes = Buffer.from(text);
  const reader = new ListReader(unread);
  const items: unknown[] = [];
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  for (let n = 1; n < at.length; n++) items.push(...reader.push(bytes.subarray(at[n - 1], at[n])));
  return { items, frame: reader.end() };
}

test('any list, cut anywhere, comes out item by item with its frame, before or after the items', () => {
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

test('items that begin alike, cut anywhere, come out with or without the unread array', () => {
  const unread = fc.array(fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.string({ unit: 'binary' })), { maxLength: 3 });
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('},{"metadata":{', ',"managedFields":[', '}]', '\\"'));
  // The same text between two objects in an item as between two items.
  const inner = fc.array(fc.record({ metadata: fc.dictionary(text, text), managedFields: unread }), { maxLength: 3 });
  const item = fc.record({ metadata: fc.record({ name: text, managedFields: unread, uid: text }), spec: fc.record({ text, inner }) });
  const cuts = fc.array(fc.nat(), { maxLength: 4 });
  const read2 = (items: unknown[], at: readonly number[], name?: string): unknown =>
    read(JSON.stringify({ kind: 'PodList', metadata: { resourceVersion: '7' }, items }), at, name).items;
  fc.assert(
    fc.property(fc.array(item, { maxLength: 6 }), cuts, (items, at) => {
      const written = parseJson(JSON.stringify(items));
      assert.deepEqual(read2(items, at), written);
      assert.deepEqual(stripped(read2(items, at, 'managedFields')), stripped(written));
    }),
  );
});

test('the unread array is left out', () => {
  const metadata = (n: number): object => ({ name: `a${n}`, managedFields: [{ of: 'x]"\\', more: [[], {}] }], uid: `${n}` });
  const items = [1, 2, 3].map((n) => ({ metadata: metadata(n), spec: { n } }));
  const read3 = read(JSON.stringify({ items }), [], 'managedFields').items as { readonly metadata: object }[];
  // The end of the last item is certain only after all its bytes.
  assert.deepEqual(
    read3.map((one) => Object.keys(one.metadata)),
    [
      ['name', 'uid'],
      ['name', 'uid'],
      ['name', 'managedFields', 'uid'],
    ],
  );
});

function stripped(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, of: unknown) => (key === 'managedFields' ? undefined : of)));
}

test('an incomplete list is an error', () => {
  for (const text of ['{"items":[{"a":1},', '{"items":[{"a":', '', '{"items":[{"a":1}']) assert.throws(() => read(text, []), SyntaxError);
});

test('integers beyond 2^53 stay exact', () => {
  assert.deepEqual(read('{"items":[{"count":18446744073709551615}]}', [20]).items, [{ count: 18446744073709551615n }]);
});
