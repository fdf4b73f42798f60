import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RuleBench } from '../../testing/rule-bench.ts';
import { DefaultVpc } from './default-vpc.ts';

function waitingFor(bench: RuleBench): string {
  const place = new DefaultVpc(bench.world);
  place.check();
  const open = place.gate.passes(() => undefined);
  assert.equal(open, place.waitingFor.length === 0);
  return place.waitingFor.join();
}

test('another default Vpc than that of the built-in Subnets is refused with the setting that works', () => {
  const first = new RuleBench();
  assert.equal(waitingFor(first), '', 'an empty cluster takes any');
  first.converge();
  assert.equal(waitingFor(first), '');
  const other = new RuleBench({ settings: { defaultVpc: 'other' }, after: first });
  assert.equal(
    waitingFor(other),
    'the default Vpc: --cluster-router is other, and Subnet join and ovn-default of this cluster are in Vpc ovn-cluster; nothing is written; ' +
      'set --cluster-router=ovn-cluster',
  );
  const renamed = new RuleBench({ settings: { defaultVpc: 'other', defaultSubnet: 'new' }, after: first });
  assert.match(waitingFor(renamed), /Subnet join of this cluster is in Vpc ovn-cluster/);
  // Other names of the Subnets are other Subnets, which are created.
  assert.equal(waitingFor(new RuleBench({ settings: { defaultSubnet: 'new', joinSubnet: 'nodes' }, after: first })), '');
});
