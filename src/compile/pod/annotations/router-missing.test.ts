/** A pod whose Subnet has no port at its router, since another program has a row of that name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowId } from '../../../nb/row-id.ts';
import { statusOf } from '../../../explain/status.ts';
import { PodScene } from '../../../testing/pod-scene.ts';

const OTHERS = '11111111-1111-4111-8111-111111111111';
const ROUTER = '22222222-2222-4222-8222-222222222222';
const SWITCH = '33333333-3333-4333-8333-333333333333';

const IN_ROUTER = ['Logical_Router_Port', { name: 'blue-net' }, { table: 'Logical_Router', uuid: ROUTER, column: 'ports' }] as const;
const IN_SWITCH = ['Logical_Switch_Port', { name: 'net-blue' }, { table: 'Logical_Switch', uuid: SWITCH, column: 'ports' }] as const;

test('a pod that runs in a Subnet without a port at its router says so, for either end of the connection, until the conflict ends', () => {
  for (const [table, row, parent] of [IN_ROUTER, IN_SWITCH]) {
    const made = new PodScene();
    const { bench } = made;
    const inRouter = table === 'Logical_Router_Port';
    bench.foreignRow('Logical_Router', ROUTER, { name: 'others' });
    bench.foreignRow('Logical_Switch', SWITCH, { name: 'others' });
    bench.foreignRow(table, OTHERS, inRouter ? { ...row, mac: '0a:00:00:00:00:01', networks: ['10.77.0.1/24'] } : row, parent);
    bench.put('vpcs', { metadata: { name: 'blue' } });
    made.subnet('net', { vpc: 'blue', cidrBlock: '10.7.0.0/24', namespaces: ['shop'] });
    made.pod('web');
    // As the commit finds it.
    const id = rowId(table, row.name);
    bench.world.rowConflicts.set(id, {
      owners: ['subnet//net'],
      message: `${table} ${row.name} (row ${OTHERS}) belongs to another program`,
    });
    bench.converge();
    assert.ok(made.addressOf('shop/web') !== undefined, 'it runs');
    const { status, reason, message = '' } = bench.condition('pods', 'shop/web', 'kiln.io/NetworkBound') ?? {};
    assert.deepEqual([status, reason], ['False', 'RowConflict'], table);
    assert.match(
      message,
      /^port web\.shop reaches its own Subnet alone: Subnet net has no port at the router of Vpc blue: .*another program/,
    );
    assert.match(message, /; kubectl describe subnet net$/);
    assert.ok(statusOf(bench.world, true).findings.some(({ kind, key }) => kind === 'Pod' && key === 'shop/web'));
    bench.removeForeignRow(table, OTHERS);
    bench.world.rowConflicts.delete(id);
    bench.converge();
    assert.equal(bench.condition('pods', 'shop/web', 'kiln.io/NetworkBound')?.status, 'True');
    assert.equal(bench.writesAfterRestart(), 0);
  }
});
