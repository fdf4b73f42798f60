import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memberKey } from '../compile/desired-rows.ts';
import { rowId } from '../nb/row-id.ts';
import { RowWaits } from './row-waits.ts';

const [parent, group] = [rowId('Logical_Switch', 's1'), rowId('Port_Group', 'g1')];
const port = (n: number): ReturnType<typeof rowId> => rowId('Logical_Switch_Port', `p${n}`);

test('a waiting row is returned once, when the awaited row appears', () => {
  const waits = new RowWaits();
  waits.looked(port(1), 'row', [parent]);
  waits.looked(port(2), 'row', [parent]);
  assert.deepEqual([...waits.awaken(parent)], [port(1), port(2)]);
  assert.deepEqual([...waits.awaken(parent)], []);
  assert.equal(waits.size, 0);
});

test('rows that wait for a row that never appears leave no entry when they are gone', () => {
  const waits = new RowWaits();
  for (let n = 0; n < 1_000; n++) {
    waits.looked(port(n), 'row', [parent]);
    waits.looked(group, new Set([memberKey('ports', { ref: port(n) })]), [port(n)]);
    waits.looked(port(n), 'row', []);
    waits.looked(group, new Set([memberKey('ports', { ref: port(n) })]), []);
  }
  assert.equal(waits.size, 0);
});

test('comparing some members keeps the waits of others, and comparing the row keeps those of its members', () => {
  const waits = new RowWaits();
  waits.looked(group, 'all', [port(1), port(2)]);
  waits.looked(group, new Set([memberKey('ports', { ref: port(2) })]), []);
  waits.looked(group, 'row', []);
  assert.deepEqual([...waits.awaken(port(2))], []);
  waits.looked(group, 'row', [port(1)]);
  waits.looked(group, 'row', []);
  assert.deepEqual([...waits.awaken(port(1))], [group]);
  waits.looked(group, 'all', [port(3)]);
  waits.looked(group, 'all', []);
  assert.equal(waits.size, 0);
});
