/** An OvnEip that nothing serves, and one whose Subnet is gone, say so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';

test('an OvnEip of type lsp has the name of a Node, else it has no effect', () => {
  const made = new NatScene();
  const { bench } = made;
  made.eip('gw3', { type: 'lsp' });
  assert.match(bench.condition('ovn-eips', 'gw3', 'WithoutEffect')?.message ?? '', /spec\.type "lsp" .*no Node has the name/);
  made.gatewayNode('gw3');
  bench.converge();
  assert.equal(bench.condition('ovn-eips', 'gw3', 'WithoutEffect'), undefined);
  assert.equal(bench.writesAfterRestart(), 0);
});

test('an OvnEip whose Subnet was removed by force says so until it is there again; its rule stays in effect', () => {
  const made = new NatScene();
  const { bench } = made;
  made.eip('e1');
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.9' });
  const nat = bench.rows('NAT');
  bench.removeByForce('subnets', 'external');
  bench.converge();
  const { reason, message = '' } = bench.condition('ovn-eips', 'e1', 'Accepted') ?? {};
  assert.equal(reason, 'WaitingForSubnet');
  assert.match(message, /^OvnEip e1: Subnet external does not exist any more; .* keeps address 172\.20\.0\.3/);
  assert.deepEqual(bench.rows('NAT'), nat);
  assert.equal(bench.writesAfterRestart(), 0);
  made.pods.subnet('external', { cidrBlock: '172.20.0.0/24', vpc: 'outside' });
  bench.converge();
  assert.equal(bench.condition('ovn-eips', 'e1', 'Accepted'), undefined);
});

test('an OvnEip of type lsp whose Node has no chassis says so: no agent serves it; a label is not needed', () => {
  const made = new NatScene();
  const { bench } = made;
  bench.put('nodes', { metadata: { name: 'gw3' }, spec: {}, status: { addresses: [] } });
  made.eip('gw3', { type: 'lsp' });
  const { message = '' } = bench.condition('ovn-eips', 'gw3', 'WithoutEffect') ?? assert.fail();
  assert.match(message, /spec\.type "lsp" .* the Node of that name has no chassis.*; kubectl describe node gw3/);
  made.gatewayNode('gw3', {});
  bench.converge();
  assert.equal(bench.condition('ovn-eips', 'gw3', 'WithoutEffect'), undefined);
  assert.equal(bench.writesAfterRestart(), 0);
});
