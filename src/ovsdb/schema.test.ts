import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseSchema } from './index.ts';
import { northboundSchemaFile } from './testing/ovsdb-server-process.ts';

const northbound = parseSchema(JSON.parse(readFileSync(northboundSchemaFile, 'utf8')));

test("OVN's Northbound schema: the kinds of columns, references, indexes, roots", () => {
  const columns = northbound.tables.get('Logical_Switch_Port')!.columns;
  const kinds = ['name', 'tag', 'addresses', 'options', 'up', 'dhcpv4_options'].map((name) => [
    name,
    columns.get(name)!.kind,
    columns.get(name)!.key.type,
  ]);
  assert.deepEqual(kinds, [
    ['name', 'scalar', 'string'],
    ['tag', 'optional', 'integer'],
    ['addresses', 'set', 'string'],
    ['options', 'map', 'string'],
    ['up', 'optional', 'boolean'],
    ['dhcpv4_options', 'optional', 'uuid'],
  ]);
  const ports = northbound.tables.get('Logical_Switch')!.columns.get('ports')!;
  assert.deepEqual(ports.key, { type: 'uuid', refTable: 'Logical_Switch_Port', refType: 'strong' });
  assert.equal(ports.max, Infinity);
  assert.equal(northbound.tables.get('Logical_Switch_Port')!.isRoot, false);
  assert.deepEqual(northbound.tables.get('Logical_Switch_Port')!.indexes, [['name']]);
  assert.deepEqual(northbound.tables.get('Logical_Router_Port')!.columns.get('networks')!.min, 1);
  const bandwidth = northbound.tables.get('QoS')!.columns.get('bandwidth')!;
  assert.deepEqual(
    [bandwidth.key.enum, bandwidth.value!.minimum, bandwidth.value!.maximum],
    [new Set(['rate', 'burst']), 1, 4_294_967_295],
  );
  assert.equal(northbound.tables.get('NB_Global')!.maxRows, 1);
  assert.equal(northbound.tables.get('Mirror')!.columns.get('name')!.mutable, true);
});

test('in a schema without isRoot all tables are roots', () => {
  const schema = parseSchema({ name: 'Old', tables: { A: { columns: {} }, B: { columns: {} } } });
  assert.deepEqual(
    Array.from(schema.tables.values(), ({ isRoot }) => isRoot),
    [true, true],
  );
});

for (const broken of [null, [], { tables: 1 }, { tables: { A: {} } }, { tables: { A: { columns: { a: { type: 'text' } } } } }]) {
  test(`${JSON.stringify(broken)} is no schema`, () => {
    assert.throws(() => parseSchema(broken), { code: 'OVSDB_BAD_SCHEMA' });
  });
}
