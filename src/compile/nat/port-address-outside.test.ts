/** The external Subnet is removed by force and made again with another network: the router ports in it follow. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';

const PORT = 'blue-external';

function otherNetwork(made: NatScene): void {
  made.bench.removeByForce('subnets', 'external');
  made.bench.converge();
  made.pods.subnet('external', { cidrBlock: '192.168.7.0/24', vpc: 'outside' });
  made.bench.converge();
}

const networks = ({ bench }: NatScene): unknown => bench.row('Logical_Router_Port', PORT)?.['networks'];

test('the OvnEip that was made for the port is made again, and the port has an address of the network', () => {
  const made = new NatScene();
  const { bench } = made;
  otherNetwork(made);
  assert.match(String(bench.object('ovn-eips', PORT)?.status?.['v4Ip']), /^192\.168\.7\./);
  assert.match(String(networks(made)), /^192\.168\.7\.\d+\/24$/);
  assert.equal(bench.condition('vpcs', 'blue', 'External')?.status, 'True');
  assert.equal(String(bench.object('subnets', 'external')?.status?.['v4usingIPs']), '1');
  assert.equal(bench.writesAfterRestart(), 0);
});

test('one that rules use stays; Vpc and OvnEip say what to do, and that does it', () => {
  const made = new NatScene();
  const { bench } = made;
  made.put('ovn-snat-rules', 's1', { ovnEip: PORT, vpc: 'blue', v4IpCidr: '10.5.0.0/24' });
  otherNetwork(made);
  assert.deepEqual(networks(made), ['172.20.0.2/24']);
  assert.equal(bench.object('ovn-eips', PORT)?.status?.['ready'], false);
  const { status, message = '' } = bench.condition('vpcs', 'blue', 'External') ?? assert.fail();
  assert.equal(status, 'False');
  assert.match(message, /OvnEip blue-external, which is outside of 192\.168\.7\.0\/24/);
  assert.match(message, /kubectl delete ovn-eip blue-external$/);
  assert.match(
    bench.condition('ovn-eips', PORT, 'Accepted')?.message ?? '',
    /then Vpc blue makes another one; kubectl delete ovn-eips\.kubeovn\.io blue-external/,
  );
  assert.equal(bench.writesAfterRestart(), 0);
  bench.delete('ovn-eips', PORT);
  bench.converge();
  assert.match(bench.condition('ovn-eips', PORT, 'DeletionBlocked')?.message ?? '', /one object still uses it: OvnSnatRule s1/);
  bench.delete('ovn-snat-rules', 's1');
  bench.converge();
  assert.match(String(networks(made)), /^192\.168\.7\./);
  assert.equal(bench.condition('vpcs', 'blue', 'External')?.status, 'True');
});

test('a rule whose OvnEip is outside of the network says so, until it names another one', () => {
  const made = new NatScene();
  const { bench } = made;
  made.eip('e1', { v4Ip: '172.20.0.50' });
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.9' });
  otherNetwork(made);
  const { reason, message = '' } = bench.condition('ovn-fips', 'f1', 'Accepted') ?? assert.fail();
  assert.equal(reason, 'AddressOutOfRange');
  assert.equal(bench.object('ovn-eips', 'e1')?.status?.['ready'], false);
  assert.match(message, /spec\.ovnEip "e1" has an address outside of 192\.168\.7\.0\/24, the network that Subnet external has now/);
  made.eip('e2');
  bench.edit('ovn-fips', 'f1', { ovnEip: 'e2' });
  bench.converge();
  assert.equal(bench.condition('ovn-fips', 'f1', 'Accepted'), undefined);
  assert.match(String(bench.rows('NAT')[0]?.['external_ip']), /^192\.168\.7\./);
  bench.delete('ovn-eips', 'e1');
  bench.converge();
  assert.equal(bench.object('ovn-eips', 'e1'), undefined);
  assert.equal(bench.writesAfterRestart(), 0);
});

test("a user's own OvnEip for the port goes when the user deletes it", () => {
  const made = new NatScene();
  const { bench } = made;
  bench.edit('vpcs', 'blue', { enableExternal: false });
  bench.converge();
  made.eip(PORT, { type: 'lrp', v4Ip: '172.20.0.77' });
  bench.edit('vpcs', 'blue', { enableExternal: true });
  bench.converge();
  otherNetwork(made);
  assert.deepEqual(networks(made), ['172.20.0.77/24']);
  assert.equal(bench.condition('vpcs', 'blue', 'External')?.status, 'False');
  bench.delete('ovn-eips', PORT);
  bench.converge();
  assert.match(String(networks(made)), /^192\.168\.7\./);
});
