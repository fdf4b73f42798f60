import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planRows } from '../commit/plan-rows.ts';
import type { RowId } from '../nb/row-id.ts';
import { rowId } from '../nb/row-id.ts';
import type { Uuid } from '../ovsdb/index.ts';
import { PodScene } from '../testing/pod-scene.ts';

/** The plan of the scene in its present state, as `<kind> <row>`. */
function plan({ bench }: PodScene): readonly string[] {
  const { rows: desired } = bench.desired;
  const planned = new Map<RowId, Uuid>();
  const context = { rows: bench.world.rows, desired, planned, canHold: () => true, allows: () => true };
  return planRows([...desired.rowIds, ...bench.world.rows.owned], context, planned).map(({ id, verdict }) => `${verdict.kind} ${id}`);
}

test("a pod on a node that does not exist leaves nothing in the plan that waits for the node's port group", () => {
  const scene = new PodScene();
  scene.pod('web', { node: 'ghost' });
  scene.bench.converge();
  assert.deepEqual(plan(scene), []);
  const port = rowId('Logical_Switch_Port', 'web.shop');
  assert.equal(scene.bench.row('Port_Group', 'node.ghost'), undefined);
  // As soon as the node exists, the group is created with the port in it.
  scene.bench.put('nodes', {
    metadata: { name: 'ghost' },
    spec: {},
    status: { addresses: [{ type: 'InternalIP', address: '192.168.1.12' }] },
  });
  scene.bench.converge();
  assert.deepEqual(scene.bench.list('Port_Group', 'node.ghost', 'ports'), [port]);
  assert.deepEqual(plan(scene), []);
});
