import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowConflictOf } from '../compile/row-conflict.ts';
import { Desired } from '../compile/desired.ts';
import type { KeyOutput, RowOwner } from '../compile/output.ts';
import { rowId } from '../nb/row-id.ts';
import { RuleBench } from '../testing/rule-bench.ts';
import { KeyConflicts } from './key-conflicts.ts';

const lb = rowId('Load_Balancer', 'lb');

function key(value: string, name: string, created: string): KeyOutput {
  const owner: RowOwner = { kind: 'vpc', namespace: '', name, uid: `uid-${name}`, created };
  return { kind: 'member', row: lb, column: 'vips', member: { key: '10.96.0.1:80', value }, owner, rule: 'test' };
}

test('two objects that want one key with different values are both told, until they no longer do', () => {
  const { world } = new RuleBench({ rules: [] });
  const desired = new Desired(world);
  const conflicts = new KeyConflicts(world, desired.rows);
  const first = desired.replace([], [key('A', 'one', '2026-01-01T00:00:00Z')]);
  conflicts.compared(lb);
  assert.equal(world.rowConflicts.size, 0);
  const second = desired.replace([], [key('B', 'two', '2026-02-01T00:00:00Z')]);
  conflicts.compared(lb);
  const [conflict] = [...world.rowConflicts.entries()].map(([, one]) => one);
  assert.deepEqual([conflict?.owners, conflict?.winner], [['vpc//two'], 'vpc//one']);
  assert.match(
    conflict?.message ?? '',
    /^vips "10\.96\.0\.1:80" of Load_Balancer lb is as the older vpc one has it; what vpc two asks for has no effect/,
  );
  assert.equal(rowConflictOf(world, { kind: 'vpc', namespace: '', name: 'two', uid: 'uid-two' }), conflict?.message);
  assert.equal(rowConflictOf(world, { kind: 'vpc', namespace: '', name: 'one', uid: 'uid-one' }), undefined, 'its own key is in effect');
  const third = desired.replace([], [key('B', 'one', '2026-01-01T00:00:00Z')]);
  desired.replace(first, []);
  conflicts.compared(lb);
  assert.equal(world.rowConflicts.size, 0, 'equal values are no conflict');
  desired.replace(second, []);
  desired.replace(third, []);
  conflicts.compared(lb);
  assert.equal(world.rowConflicts.size, 0);
});
