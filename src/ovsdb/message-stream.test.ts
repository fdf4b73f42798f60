import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OvsdbError, type OvsdbErrorCode } from './errors.ts';
import { MessageStream } from './message-stream.ts';

function read(chunks: readonly Buffer[], maxBytes = 1_000_000): unknown[] {
  const messages: unknown[] = [];
  const stream = new MessageStream(maxBytes, (message) => messages.push(message));
  for (const chunk of chunks) stream.push(chunk);
  return messages;
}

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const places = [0, ...at.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((place, index) => bytes.subarray(places[index], place));
}

function hasCode(code: OvsdbErrorCode): (error: unknown) => boolean {
  return (error) => error instanceof OvsdbError && error.code === code;
}

test('messages come out whole however the stream is cut, with any text in them', () => {
  const message = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' }));
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 5 }),
      fc.constantFrom('', ' ', '\r\n\t'),
      fc.array(fc.nat(), { maxLength: 20 }),
      (messages, gap, at) => {
        const texts = messages.map((value) => JSON.stringify(value));
        const expected = texts.map((text) => JSON.parse(text) as unknown);
        assert.deepEqual(read(cut(Buffer.from(texts.join(gap)), at)), expected);
      },
    ),
  );
});

test('quotes, backslashes, brackets and multi-byte text survive a cut at every byte', () => {
  const messages = [{ a: '"}{][\\' }, { 'ключ\\"': ['\u{1f980}', '\\\\"', {}] }, {}];
  const bytes = Buffer.from(messages.map((value) => JSON.stringify(value)).join('\n'));
  assert.deepEqual(read(Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))), messages);
});

test('each byte is looked at once, although the message comes in many chunks', () => {
  const text = JSON.stringify({ rows: Array.from({ length: 2_000 }, (_, at) => ({ name: `port-${at}`, note: '"\\' })) });
  let looks = 0;
  const counted = (chunk: Buffer): Buffer =>
    new Proxy(chunk, {
      get(target, property) {
        if (typeof property === 'string' && /^\d+$/.test(property)) looks++;
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  const bytes = Buffer.from(text);
  const chunks = Array.from({ length: Math.ceil(bytes.length / 100) }, (_, at) => counted(bytes.subarray(at * 100, at * 100 + 100)));
  assert.equal(read(chunks).length, 1);
  assert.equal(looks, bytes.length);
});

test('rows of a result are handed over while they come, and left out of the message; however it is cut, with any text in them', () => {
  const text = fc.string({ unit: 'binary' });
  const row = fc.dictionary(text, fc.jsonValue({ stringUnit: 'binary', maxDepth: 3 }), { maxKeys: 4 });
  const rowsOf = fc.dictionary(fc.uuid(), fc.record({ initial: row }), { maxKeys: 5 });
  const tables = fc.dictionary(fc.stringMatching(/^[A-Z][A-Za-z_]{0,8}$/), rowsOf, { maxKeys: 3 });
  const other = fc.record({ method: fc.constant('update'), params: fc.tuple(fc.constant('_Server'), tables) });
  fc.assert(
    fc.property(
      tables,
      other,
      text,
      fc.boolean(),
      fc.boolean(),
      fc.array(fc.nat(), { maxLength: 20 }),
      (all, before, id, idFirst, old, at) => {
        const result = old ? all : [false, 'last', all];
        const reply = idFirst ? { id, result, error: null } : { error: null, result, id };
        const spaced = (value: unknown): string => JSON.stringify(value, undefined, at.length % 2);
        const found: Record<string, Record<string, unknown>> = Object.fromEntries(Object.keys(all).map((table) => [table, {}]));
        const messages: unknown[] = [];
        const stream = new MessageStream(1_000_000, (message) => messages.push(message));
        stream.expectRows(old ? 3 : 4, (table, rows) => {
          for (let n = 0; n < rows.length; n += 2) found[table]![rows[n] as string] = rows[n + 1];
        });
        for (const chunk of cut(Buffer.from(spaced(before) + spaced(reply) + spaced(before)), at)) stream.push(chunk);
        assert.deepEqual(found, JSON.parse(JSON.stringify(all)));
        const empty = Object.fromEntries(Object.keys(all).map((table) => [table, {}]));
        const copy = JSON.parse(JSON.stringify(before)) as unknown;
        assert.deepEqual(messages, [copy, { id, result: old ? empty : [false, 'last', empty], error: null }, copy]);
      },
    ),
  );
});

test('of a reply of many rows at most one row and one chunk are in memory; broken or too large contents are a coded error', () => {
  const row = (n: number): string => `"${n}":{"initial":{"name":"${'x'.repeat(50)}"}}`;
  const begin = '{"id":1,"result":[false,"0",{"T":{';
  const read = (rows: string, maxBytes = 1_000_000): number => {
    let taken = 0;
    const stream = new MessageStream(maxBytes, () => assert.fail('the message is not whole'));
    stream.expectRows(4, (_table, found) => (taken += found.length / 2));
    for (const chunk of cut(Buffer.from(begin + rows), [100, 200, 300])) stream.push(chunk);
    return taken;
  };
  assert.equal(read(`${row(1)},${row(2)},${row(3)},${row(4)},"5":{`), 4);
  assert.throws(() => read(`${row(1)},${row(2)},,${row(3)}`), hasCode('OVSDB_BROKEN_STREAM'));
  assert.throws(() => read(`${row(1)},${row(2)},}`), hasCode('OVSDB_BROKEN_STREAM'));
  assert.throws(() => read(`${row(1)},"2":{]`), hasCode('OVSDB_BROKEN_STREAM'));
  assert.throws(() => read(`${row(1)},${row(2)},${row(3)}`, 200), hasCode('OVSDB_MESSAGE_TOO_LARGE'));
});

test('what is not a message is a coded error', () => {
  assert.throws(() => read([Buffer.from('{} x')]), hasCode('OVSDB_BROKEN_STREAM'));
  assert.throws(() => read([Buffer.from('[1]')]), hasCode('OVSDB_BROKEN_STREAM'));
  assert.throws(() => read([Buffer.from('{"a":]}')]), hasCode('OVSDB_BROKEN_STREAM'));
  assert.throws(() => read([Buffer.from('"text"')]), hasCode('OVSDB_BROKEN_STREAM'));
  assert.throws(() => read([Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])]), hasCode('OVSDB_BROKEN_STREAM'));
});

test('a message may have maxBytes, and not one more', () => {
  const text = Buffer.from('{"a":"12345"}');
  assert.deepEqual(read([text], text.length), [{ a: '12345' }]);
  assert.throws(() => read([text], text.length - 1), hasCode('OVSDB_MESSAGE_TOO_LARGE'));
  assert.throws(() => read([text.subarray(0, 12), text.subarray(12)], text.length - 1), hasCode('OVSDB_MESSAGE_TOO_LARGE'));
  assert.throws(() => read([text.subarray(0, 12)], 11), hasCode('OVSDB_MESSAGE_TOO_LARGE'));
});

test('messages before a broken one are delivered, none after end()', () => {
  const seen: unknown[] = [];
  const stream = new MessageStream(100, (message) => seen.push(message));
  assert.throws(() => stream.push(Buffer.from('{"a":1}{"b":2}!')), hasCode('OVSDB_BROKEN_STREAM'));
  assert.deepEqual(seen, [{ a: 1 }, { b: 2 }]);

  const first: unknown[] = [];
  const ending = new MessageStream(100, (message) => {
    first.push(message);
    ending.end();
  });
  ending.push(Buffer.from('{"a":1}{"b":2}'));
  assert.deepEqual(first, [{ a: 1 }]);
});
