import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowId } from '../nb/row-id.ts';
import type { ColumnMode } from '../nb/tables.ts';
import type { InputValue, Uuid, Value } from '../ovsdb/index.ts';
import { diffKeys, holds, isRemovable, resolveValue } from './column-diff.ts';

/** Keys with a colon are another vendor's in a map that is shared by names, and ordinary ones where entries or listed keys are Kiln's. */
test('whether a key is removed that no rule emits, by the mode of the column', () => {
  const KEYS = ['10.96.0.1:80', '[fd00::1]:443', 'neutron:port_name', 'router-port'];
  const removable = (mode: ColumnMode | undefined): readonly string[] => KEYS.filter((key) => isRemovable(key, mode));
  assert.deepEqual(removable('entries'), KEYS, 'VIPs of a load balancer');
  assert.deepEqual(removable('map'), ['router-port']);
  assert.deepEqual(removable(['neutron:port_name', 'other']), ['neutron:port_name'], 'Kiln alone has the listed ones');
  assert.deepEqual(removable(undefined), []);
});

test('keys of other vendors stay when those of a row are compared, and Kiln’s that nothing emits go', () => {
  const held = new Map([
    ['neutron:port_name', 'theirs'],
    ['router-port', 'blue-red'],
    ['nat-addresses', 'router'],
  ]);
  const none = (): boolean => false;
  assert.deepEqual(diffKeys(held, { 'router-port': 'blue-red' }, 'map', none), { set: {}, remove: ['nat-addresses'] });
  assert.deepEqual(diffKeys(held, { 'router-port': 'blue-red' }, ['neutron:port_name'], none), { set: {}, remove: ['neutron:port_name'] });
  assert.equal(
    diffKeys(held, { 'router-port': 'blue-red' }, 'map', (key) => key === 'nat-addresses'),
    undefined,
    'another rule emits it as a member',
  );
});

test('whether a column has a value: sets in any order, a missing optional as null, a set of one as its member', () => {
  const cases: readonly (readonly [Value | undefined, InputValue, boolean])[] = [
    [new Set(['a', 'b']), ['b', 'a'], true],
    [new Set(['a', 'b']), ['a', 'c'], false],
    [new Set(['a', 'b']), ['a', 'b', 'c'], false],
    [new Set(['a', 'b']), ['a'], false],
    [new Set(['a', 'b']), ['a', 'a'], false],
    [new Set(['a']), ['a', 'a'], true],
    [new Set(['a']), ['b'], false],
    [new Set(['a']), [], false],
    [new Set(['a']), 'a', true],
    [new Set(['a']), null, false],
    [new Set(), [], true],
    [new Set(), null, true],
    [null, [], true],
    [null, ['a'], false],
    ['a', [], false],
    ['a', ['a'], true],
    ['a', ['b'], false],
    ['a', ['a', 'b'], false],
    ['a', 'a', true],
    [1, 2, false],
    [new Map([['a', 'b']]), 'a', false],
    [undefined, null, false],
  ];
  for (const [observed, desired, expected] of cases)
    assert.equal(holds(observed, desired), expected, `${String(observed)} for ${JSON.stringify(desired)}`);
});

test('references become UUIDs, and one to a row that does not exist is named', () => {
  const [there, missing] = [rowId('Load_Balancer', 'there'), rowId('Load_Balancer', 'missing')];
  const resolve = (id: string): Uuid | undefined => (id === there ? ('uuid-1' as Uuid) : undefined);
  assert.deepEqual(resolveValue({ ref: there }, resolve), { ok: true, value: 'uuid-1' });
  assert.deepEqual(resolveValue({ ref: missing }, resolve), { ok: false, missing });
  assert.deepEqual(resolveValue([{ ref: there }, 'text'], resolve), { ok: true, value: ['uuid-1', 'text'] });
  assert.deepEqual(resolveValue([{ ref: there }, { ref: missing }], resolve), { ok: false, missing });
  assert.deepEqual(resolveValue('text', resolve), { ok: true, value: 'text' });
});
