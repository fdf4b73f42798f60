import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  decodeValue,
  defaultValue,
  encode,
  encodeValue,
  equalValues,
  newUuid,
  parseSchema,
  type Atom,
  type ColumnSchema,
  type Value,
} from './index.ts';

const types = {
  boolean: 'boolean',
  integer: 'integer',
  real: 'real',
  string: 'string',
  uuid: { key: { type: 'uuid', refTable: 'T' } },
  maybe: { key: 'string', min: 0, max: 1 },
  some: { key: 'integer', min: 0, max: 'unlimited' },
  two: { key: 'integer', min: 2, max: 2 },
  atLeastOne: { key: 'string', min: 1, max: 'unlimited' },
  refs: { key: { type: 'uuid', refTable: 'T', refType: 'weak' }, min: 0, max: 'unlimited' },
  map: { key: 'string', value: 'string', min: 0, max: 'unlimited' },
  counts: { key: 'uuid', value: 'integer', min: 0, max: 3 },
};
const schema = parseSchema({
  name: 'Test',
  tables: { T: { columns: Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }])) } },
});
const column = (name: string): ColumnSchema => schema.tables.get('T')!.columns.get(name)!;

const atoms: Record<string, fc.Arbitrary<Atom>> = {
  boolean: fc.boolean(),
  integer: fc.maxSafeInteger(),
  real: fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
  string: fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')),
  uuid: fc.uuid(),
};

function valueOf({ kind, key, value }: ColumnSchema): fc.Arbitrary<Value> {
  const atom = atoms[key.type]!;
  if (kind === 'scalar') return atom;
  if (kind === 'optional') return fc.option(atom);
  if (kind === 'set') return fc.array(atom).map((members) => new Set(members));
  return fc.array(fc.tuple(atom, atoms[value!.type]!)).map((pairs) => new Map(pairs));
}

for (const name of Object.keys(types)) {
  test(`what is written to a column of ${JSON.stringify(types[name as keyof typeof types])} is read again`, () => {
    fc.assert(
      fc.property(valueOf(column(name)), (value) => {
        const wire: unknown = JSON.parse(JSON.stringify(encodeValue(column(name), value)));
        assert.ok(equalValues(decodeValue(column(name), wire), Object.is(value, -0) ? 0 : value));
      }),
    );
  });
}

test('lists and objects stand for sets and maps; a text that is no UUID for a row of the same transaction', () => {
  const uuid = newUuid();
  assert.deepEqual(encode(schema, 'T', 'refs', [uuid, 'port']), [
    'set',
    [
      ['uuid', uuid],
      ['named-uuid', 'port'],
    ],
  ]);
  assert.deepEqual(encode(schema, 'T', 'map', { a: 'b' }), ['map', [['a', 'b']]]);
  assert.deepEqual(encode(schema, 'T', 'maybe', null), ['set', []]);
  assert.deepEqual(encode(schema, 'T', 'some', 3), 3);
  assert.throws(() => encode(schema, 'T', 'nothing', 3), { code: 'OVSDB_UNKNOWN_COLUMN' });
  assert.throws(() => encode(schema, 'U', 'map', {}), { code: 'OVSDB_UNKNOWN_TABLE' });
});

test('defaults are those of RFC 7047 section 5.2.1', () => {
  const defaults = Object.keys(types).map((name) => [name, defaultValue(column(name))]);
  const zero = '00000000-0000-0000-0000-000000000000';
  assert.deepEqual(Object.fromEntries(defaults), {
    ...{
      boolean: false,
      integer: 0,
      real: 0,
      string: '',
      uuid: zero,
      maybe: null,
      some: new Set(),
      two: new Set([0]),
      atLeastOne: new Set(['']),
    },
    ...{ refs: new Set(), map: new Map(), counts: new Map() },
  });
});

test('what the server must not send is a coded error', () => {
  const wrong: [string, unknown][] = [
    ['boolean', 1],
    ['string', null],
    ['uuid', 'text'],
    ['some', ['set', 3]],
    ['some', ['set', ['a']]],
    ['map', ['set', []]],
    ['map', ['map', [['a']]]],
  ];
  for (const [name, json] of wrong) assert.throws(() => decodeValue(column(name), json), { code: 'OVSDB_BAD_VALUE' });
});

test('values are equal by their contents', () => {
  assert.ok(equalValues(new Set([1, 2]), new Set([2, 1])));
  assert.ok(!equalValues(new Set([1]), new Set([2])));
  assert.ok(equalValues(new Map([['a', 1]]), new Map([['a', 1]])));
  assert.ok(!equalValues(new Map([['a', 1]]), new Map([['a', 2]])));
  assert.ok(
    !equalValues(
      new Map([['a', 1]]),
      new Map([
        ['b', 1],
        ['c', 1],
      ]),
    ),
  );
  assert.ok(!equalValues(new Set(), new Map()));
  assert.ok(!equalValues(null, new Set()));
});

test('text that ovsdb-server ends the connection over is rejected before it is sent', () => {
  for (const text of ['a\0b', '\ud800', 'x\udc00']) {
    for (const [name, value] of [
      ['string', text],
      ['maybe', new Set([text])],
      ['map', new Map([['k', text]])],
      ['map', new Map([[text, 'v']])],
    ] as const)
      assert.throws(() => encodeValue(column(name), value), { code: 'OVSDB_BAD_VALUE' });
  }
  assert.equal(encodeValue(column('string'), 'Ünïcödé 🪱\n\u0001'), 'Ünïcödé 🪱\n\u0001');
});
