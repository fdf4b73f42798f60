import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ColumnMode } from '../nb/tables.ts';
import { diffKeys, isRemovable } from './column-diff.ts';

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
