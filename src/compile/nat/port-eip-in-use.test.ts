/** NAT rules may use the OvnEip of a router port: it goes with the port when they are gone, and comes back with it until then. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';

const PORT = 'blue-external';

/** With an OvnSnatRule and an OvnDnatRule that use the OvnEip of the port of Vpc blue. */
function scene(): NatScene {
  const made = new NatScene();
  const rule = { ovnEip: PORT, vpc: 'blue' };
  made.put('ovn-snat-rules', 's1', { ...rule, v4IpCidr: '10.5.0.0/24' });
  made.put('ovn-dnat-rules', 'd1', { ...rule, v4Ip: '10.5.0.9', protocol: 'tcp', externalPort: '80', internalPort: '80' });
  return made;
}

test('off and on again: the OvnEip that rules use is not deleted, and all is as before', () => {
  const { bench } = scene();
  const before = bench.object('ovn-eips', PORT)?.status?.['v4Ip'];
  bench.edit('vpcs', 'blue', { enableExternal: false });
  bench.converge();
  assert.equal(bench.object('ovn-eips', PORT)?.metadata.deletionTimestamp, undefined);
  assert.equal(bench.condition('ovn-snat-rules', 's1', 'Accepted')?.reason, 'VpcNotConnected');
  assert.deepEqual([bench.rowIds('NAT'), bench.row('Logical_Router_Port', PORT)], [[], undefined]);
  bench.edit('vpcs', 'blue', { enableExternal: true });
  bench.converge();
  assert.deepEqual([bench.object('ovn-snat-rules', 's1')?.status?.['ready'], bench.rows('NAT').length], [true, 1]);
  assert.equal(bench.rows('NAT')[0]?.['external_ip'], before);
  assert.equal(bench.condition('vpcs', 'blue', 'External')?.status, 'True');
  assert.equal(bench.writesAfterRestart(), 0);
});

test('off: the OvnEip goes with the last rule that uses it, and its address is free', () => {
  const { bench } = scene();
  bench.edit('vpcs', 'blue', { enableExternal: false });
  bench.converge();
  bench.delete('ovn-snat-rules', 's1');
  bench.converge();
  assert.ok(bench.object('ovn-eips', PORT));
  bench.delete('ovn-dnat-rules', 'd1');
  bench.converge();
  assert.equal(bench.object('ovn-eips', PORT), undefined);
  assert.equal(String(bench.object('subnets', 'external')?.status?.['v4usingIPs']), '0');
});

test('an OvnEip that is being deleted counts and names the rules that it waits for as they go', () => {
  const { bench } = scene();
  bench.delete('ovn-eips', PORT);
  bench.converge();
  const shown = (): readonly unknown[] => [
    bench.condition('ovn-eips', PORT, 'InUse')?.message,
    bench.object('ovn-eips', PORT)?.status?.['nat'],
    bench.object('ovn-eips', PORT)?.metadata.annotations?.['ovn.kubernetes.io/vpc_nat'],
  ];
  assert.equal(shown()[0], `OvnEip ${PORT}: 2 NAT rules use it: OvnDnatRule d1, OvnSnatRule s1`);
  bench.delete('ovn-dnat-rules', 'd1');
  bench.converge();
  assert.deepEqual(shown(), [`OvnEip ${PORT}: one NAT rule uses it: OvnSnatRule s1`, 'snat', 's1']);
  bench.delete('ovn-snat-rules', 's1');
  bench.converge();
  assert.deepEqual(shown(), [undefined, '', undefined]);
  assert.match(bench.condition('ovn-eips', PORT, 'DeletionBlocked')?.message ?? '', /Vpc blue/);
  assert.equal(bench.writesAfterRestart(), 0);
  bench.edit('vpcs', 'blue', { enableExternal: false });
  bench.converge();
  assert.equal(bench.object('ovn-eips', PORT), undefined);
});
