import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RuleBench } from '../testing/rule-bench.ts';
import { rowId } from '../nb/row-id.ts';

test('a row conflict of a Vpc, a Subnet or an IPPool is reported by a condition and an Event; the condition is removed with the conflict', () => {
  const bench = new RuleBench();
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.put('subnets', { metadata: { name: 'red' }, spec: { vpc: 'blue', cidrBlock: '10.0.0.0/24' } });
  bench.put('ippools', { metadata: { name: 'pool' }, spec: { subnet: 'red', ips: ['10.0.0.9'], enableAddressSet: true } });
  bench.converge();
  const rows = [
    [rowId('Logical_Router', 'blue'), 'vpc//blue', 'vpcs', 'blue'],
    [rowId('Logical_Switch', 'red'), 'subnet//red', 'subnets', 'red'],
    [rowId('Address_Set', 'pool'), 'ippool//pool', 'ippools', 'pool'],
  ] as const;
  for (const [id, owner, resource, name] of rows) {
    bench.world.rowConflicts.set(id, { owners: [owner], message: `${id} belongs to neutron` });
    bench.converge();
    const condition = bench.condition(resource, name, 'Ready');
    assert.deepEqual([condition?.status, condition?.reason, condition?.message], ['False', 'RowConflict', `${id} belongs to neutron`]);
    assert.deepEqual(
      bench.events.filter(({ message }) => message.includes(id)).map(({ object, reason }) => [object, reason]),
      [[`${resource}/${name}`, 'Conflict']],
    );
    bench.world.rowConflicts.delete(id);
    bench.converge();
    assert.equal(bench.condition(resource, name, 'Ready')?.status, 'True');
  }
});

test('each object that needs a row of an older object reports the conflict, not only the next in age', () => {
  const bench = new RuleBench();
  bench.put('ippools', { metadata: { name: 'one' } });
  bench.put('ippools', { metadata: { name: 'two' } });
  bench.converge();
  bench.world.rowConflicts.set(rowId('Address_Set', 'shared'), {
    owners: ['ippool//one', 'ippool//two'],
    message: 'Address_Set shared belongs to the older ippool zero',
  });
  bench.converge();
  const reported = bench.events.filter(({ reason }) => reason === 'Conflict').map(({ object }) => object);
  assert.deepEqual(reported.toSorted(), ['ippools/one', 'ippools/two']);
});
