import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FINALIZER } from '../../api/well-known.ts';
import { NatScene } from '../../testing/nat-scene.ts';

const PORT = 'blue-external';

test('a Vpc with spec.enableExternal has a port in the external Subnet: an OvnEip, both ends, and the chassis of the gateway nodes', () => {
  const { bench } = new NatScene();
  const eip = bench.object('ovn-eips', PORT) ?? assert.fail();
  assert.deepEqual(eip.metadata.finalizers, [FINALIZER]);
  assert.deepEqual(eip.spec, {
    externalSubnet: 'external',
    type: 'lrp',
    v4Ip: '172.20.0.2',
    v6Ip: '',
    macAddress: eip.spec['macAddress'],
  });
  assert.deepEqual([eip.status?.['type'], eip.status?.['ready'], eip.status?.['v4Ip']], ['lrp', true, '172.20.0.2']);
  assert.equal(eip.metadata.labels?.['ovn.kubernetes.io/ovn_eip_type'], 'lrp');
  const port = bench.row('Logical_Router_Port', PORT) ?? assert.fail();
  assert.deepEqual([port['mac'], port['networks']], [eip.spec['macAddress'], ['172.20.0.2/24']]);
  assert.deepEqual(bench.externalIds('Logical_Router_Port', PORT), {
    lr: 'blue',
    vendor: 'kube-ovn',
    'kiln.io/owner': 'vpc//blue',
    'kiln.io/uid': bench.object('vpcs', 'blue')?.metadata.uid ?? '',
    'kiln.io/rule': 'vpc-external',
  });
  const link = bench.row('Logical_Switch_Port', 'external-blue') ?? assert.fail();
  assert.deepEqual(
    [link['type'], link['addresses'], link['options']],
    ['router', ['router'], { 'router-port': PORT, 'nat-addresses': 'router' }],
  );
  assert.ok(bench.list('Logical_Switch', 'external', 'ports').includes('Logical_Switch_Port/external-blue'));
  // Kube-OVN's order in a custom Vpc: by sha256 of Vpc and chassis.
  assert.deepEqual(
    bench.rows('Gateway_Chassis').map(({ name, chassis_name, priority }) => [name, chassis_name, priority]),
    [
      ['blue-external-chassis-gw1', 'chassis-gw1', 100],
      ['blue-external-chassis-gw2', 'chassis-gw2', 99],
    ],
  );
  assert.equal(bench.externalIds('Gateway_Chassis', 'blue-external-chassis-gw1')['lrp'], PORT);
  const { status } = bench.object('vpcs', 'blue') ?? assert.fail();
  assert.deepEqual([status?.['enableExternal'], status?.['extraExternalSubnets']], [true, undefined]);
  assert.equal(bench.condition('vpcs', 'blue', 'External')?.reason, 'ExternalConnected');
  assert.equal(bench.writesAfterRestart(), 0);
});

test('switching it off takes away what it made, and the address is free', () => {
  const { bench } = new NatScene();
  bench.edit('vpcs', 'blue', { enableExternal: false });
  bench.converge();
  assert.deepEqual([bench.rowIds('Gateway_Chassis'), bench.row('Logical_Router_Port', PORT)], [[], undefined]);
  assert.equal(bench.row('Logical_Switch_Port', 'external-blue'), undefined);
  assert.deepEqual(bench.keys('ovn-eips'), []);
  assert.equal(String(bench.object('subnets', 'external')?.status?.['v4usingIPs']), '0');
  assert.equal(bench.object('vpcs', 'blue')?.status?.['enableExternal'], false);
  assert.equal(bench.condition('vpcs', 'blue', 'External'), undefined);
  assert.ok(bench.row('Logical_Router_Port', 'blue-inside'));
});

test('an OvnEip that a user made for the port gives it its address, and stays when the port goes', () => {
  const scene = new NatScene();
  const { bench } = scene;
  scene.put('vpcs', 'red', {});
  scene.eip('red-external', { type: 'lrp', v4Ip: '172.20.0.77' });
  assert.match(bench.condition('ovn-eips', 'red-external', 'WithoutEffect')?.message ?? '', /no Vpc requests a port/);
  bench.edit('vpcs', 'red', { enableExternal: true });
  bench.converge();
  assert.deepEqual(bench.row('Logical_Router_Port', 'red-external')?.['networks'], ['172.20.0.77/24']);
  assert.equal(bench.condition('ovn-eips', 'red-external', 'WithoutEffect'), undefined);
  bench.edit('vpcs', 'red', { enableExternal: false });
  bench.converge();
  assert.equal(bench.row('Logical_Router_Port', 'red-external'), undefined);
  assert.ok(bench.object('ovn-eips', 'red-external'));
});

test('an OvnEip that Kube-OVN made for the port, and did not mark, goes with the port', () => {
  const { bench } = new NatScene();
  const { metadata, spec, status } = bench.object('ovn-eips', PORT) ?? assert.fail();
  bench.put('ovn-eips', { metadata: { ...metadata, annotations: {} }, spec, status: status ?? {} });
  bench.converge();
  assert.deepEqual(bench.row('Logical_Router_Port', PORT)?.['networks'], ['172.20.0.2/24']);
  assert.equal(bench.object('ovn-eips', PORT)?.metadata.annotations?.['kiln.io/port-of'], 'blue');
  bench.edit('vpcs', 'blue', { enableExternal: false });
  bench.converge();
  assert.deepEqual([bench.row('Logical_Router_Port', PORT), bench.keys('ovn-eips')], [undefined, []]);
});

test('an OvnEip of a user that is replaced by its manifest, without annotations and labels, is still the one of the user', () => {
  const scene = new NatScene();
  const { bench } = scene;
  scene.put('vpcs', 'red', {});
  scene.eip('red-external', { type: 'lrp', v4Ip: '172.20.0.77' });
  bench.edit('vpcs', 'red', { enableExternal: true });
  bench.converge();
  const { metadata, spec, status } = bench.object('ovn-eips', 'red-external') ?? assert.fail();
  bench.put('ovn-eips', { metadata: { ...metadata, annotations: {}, labels: {} }, spec, status: status ?? {} });
  bench.converge();
  bench.edit('vpcs', 'red', { enableExternal: false });
  bench.converge();
  assert.ok(bench.object('ovn-eips', 'red-external'));
});

test('extraExternalSubnets alone make no port in the default one, and leave one that is there', () => {
  const scene = new NatScene();
  const { bench } = scene;
  scene.put('subnets', 'second', { cidrBlock: '172.21.0.0/24', vpc: 'outside' });
  scene.put('vpcs', 'red', { enableExternal: true, extraExternalSubnets: ['second'] });
  assert.deepEqual(
    [bench.row('Logical_Router_Port', 'red-external'), bench.keys('ovn-eips')],
    [undefined, ['blue-external', 'red-second']],
  );
  scene.eip('e1', { v4Ip: '172.20.0.40' });
  scene.put('ovn-snat-rules', 's1', { ovnEip: 'e1', vpcSubnet: 'inside' });
  bench.edit('vpcs', 'blue', { extraExternalSubnets: ['second'] });
  bench.converge();
  assert.ok(bench.row('Logical_Router_Port', PORT) && bench.row('Logical_Router_Port', 'blue-second'));
  assert.equal(bench.condition('ovn-snat-rules', 's1', 'Ready')?.status, 'True');
  assert.equal(bench.writesAfterRestart(), 0);
  // A person deletes the row: it comes again.
  bench.removeNamedRow('Logical_Router_Port', PORT);
  bench.converge();
  assert.ok(bench.row('Logical_Router_Port', PORT));
  // Off takes both away; on again, the list alone counts.
  bench.edit('vpcs', 'blue', { enableExternal: false });
  bench.converge();
  bench.edit('vpcs', 'blue', { enableExternal: true });
  bench.converge();
  assert.deepEqual(
    [bench.row('Logical_Router_Port', PORT), bench.row('Logical_Router_Port', 'blue-second') !== undefined],
    [undefined, true],
  );
});

test('a Subnet that is taken from extraExternalSubnets goes, the default one as well', () => {
  const scene = new NatScene();
  const { bench } = scene;
  scene.put('subnets', 'second', { cidrBlock: '172.21.0.0/24,fd21::/64', vpc: 'outside' });
  bench.edit('vpcs', 'blue', { extraExternalSubnets: ['second', 'external'] });
  bench.converge();
  assert.deepEqual(bench.row('Logical_Router_Port', 'blue-second')?.['networks'], ['172.21.0.2/24', 'fd21::2/64']);
  assert.deepEqual(bench.object('vpcs', 'blue')?.status?.['extraExternalSubnets'], ['external', 'second']);
  bench.edit('vpcs', 'blue', { extraExternalSubnets: ['second'] });
  bench.converge();
  assert.equal(bench.row('Logical_Router_Port', PORT), undefined);
  assert.deepEqual([bench.keys('ovn-eips'), bench.object('vpcs', 'blue')?.status?.['extraExternalSubnets']], [['blue-second'], ['second']]);
});

test('the chassis follow the gateway nodes: one comes, one loses its label, one goes, and without any there is no port', () => {
  const scene = new NatScene();
  const { bench } = scene;
  const chassis = (): readonly unknown[] => bench.rows('Gateway_Chassis').map((row) => row['chassis_name']);
  scene.gatewayNode('gw3');
  bench.converge();
  assert.deepEqual(chassis(), ['chassis-gw1', 'chassis-gw2', 'chassis-gw3']);
  scene.gatewayNode('gw1', { 'ovn.kubernetes.io/external-gw': 'false' });
  bench.converge();
  assert.deepEqual(chassis(), ['chassis-gw2', 'chassis-gw3']);
  bench.delete('nodes', 'gw2');
  bench.converge();
  assert.deepEqual([chassis(), bench.rows('Gateway_Chassis')[0]?.['priority']], [['chassis-gw3'], 100]);
  const mac = bench.row('Logical_Router_Port', PORT)?.['mac'];
  scene.gatewayNode('gw3', {});
  bench.converge();
  assert.deepEqual([chassis(), bench.row('Logical_Router_Port', PORT)], [[], undefined]);
  assert.equal(bench.condition('vpcs', 'blue', 'External')?.reason, 'NoGatewayNode');
  assert.match(bench.condition('vpcs', 'blue', 'External')?.message ?? '', /kubectl label node NODE ovn\.kubernetes\.io\/external-gw=true/);
  scene.gatewayNode('gw1');
  bench.converge();
  assert.deepEqual([chassis(), bench.row('Logical_Router_Port', PORT)?.['mac']], [['chassis-gw1'], mac]);
});

test('among several ready gateway nodes OVN decides, and one that alone is ready has the port alone: without a second one OVN would host it nowhere', () => {
  const scene = new NatScene();
  const { bench } = scene;
  const chassis = (): readonly unknown[] => bench.rows('Gateway_Chassis').map((row) => row['chassis_name']);
  const ready = (...states: readonly boolean[]): readonly unknown[] => {
    for (const [at, state] of states.entries()) scene.gatewayNode(`gw${at + 1}`, undefined, state);
    bench.converge();
    return chassis();
  };
  assert.deepEqual(ready(true, true, true), ['chassis-gw1', 'chassis-gw2', 'chassis-gw3']);
  assert.deepEqual(ready(false, true, true), ['chassis-gw1', 'chassis-gw2', 'chassis-gw3']);
  assert.deepEqual(ready(false, true, false), ['chassis-gw2']);
  assert.deepEqual(ready(false, false, false), ['chassis-gw1', 'chassis-gw2', 'chassis-gw3']);
  assert.deepEqual(ready(true, true, false), ['chassis-gw1', 'chassis-gw2', 'chassis-gw3']);
});

test('the OvnEip of a port is kept while the Vpc has the port, and is made again with the same address after a removal by force', () => {
  const scene = new NatScene();
  const { bench } = scene;
  const before = bench.row('Logical_Router_Port', PORT);
  bench.delete('ovn-eips', PORT);
  bench.converge();
  assert.match(bench.condition('ovn-eips', PORT, 'DeletionBlocked')?.message ?? '', /Vpc blue/);
  bench.removeByForce('ovn-eips', PORT);
  scene.eip('other');
  bench.converge();
  assert.deepEqual(bench.row('Logical_Router_Port', PORT), before);
  assert.deepEqual(
    [bench.object('ovn-eips', PORT)?.status?.['v4Ip'], bench.object('ovn-eips', 'other')?.status?.['v4Ip']],
    ['172.20.0.2', '172.20.0.3'],
  );
});

test('a Vpc is deleted with its port, and the OvnEip of the port goes after it', () => {
  const { bench } = new NatScene();
  bench.delete('subnets', 'inside');
  bench.delete('vpcs', 'blue');
  bench.converge();
  assert.deepEqual([bench.object('vpcs', 'blue'), bench.keys('ovn-eips'), bench.rowIds('Gateway_Chassis')], [undefined, [], []]);
  assert.equal(bench.row('Logical_Switch_Port', 'external-blue'), undefined);
});

test('a Vpc whose external port cannot be made says why, and has it as soon as the cause is gone', () => {
  const scene = new NatScene();
  const { bench } = scene;
  const why = (): string => bench.condition('vpcs', 'red', 'External')?.message ?? '';
  scene.put('vpcs', 'red', { enableExternal: true, extraExternalSubnets: ['far'] });
  assert.match(why(), /spec\.extraExternalSubnets\[0\] "far" does not exist; kubectl get subnet far/);
  scene.put('subnets', 'far', { cidrBlock: '172.30.0.0/24', vpc: 'red' });
  assert.match(why(), /has its own gateway in the router of this Vpc/);
  assert.equal(bench.condition('vpcs', 'red', 'External')?.reason, 'ExternalSubnetInvalid');
  scene.put('subnets', 'near', { cidrBlock: '172.31.0.0/24', vpc: 'outside' });
  scene.eip('red-near', { externalSubnet: 'near' });
  bench.edit('vpcs', 'red', { extraExternalSubnets: ['near'] });
  bench.converge();
  assert.match(why(), /needs an OvnEip red-near, which exists with type nat in Subnet near/);
  assert.equal(bench.condition('vpcs', 'red', 'External')?.reason, 'ExternalEipInvalid');
  bench.delete('ovn-eips', 'red-near');
  bench.converge();
  assert.equal(why(), '');
  assert.match(String(bench.list('Logical_Router_Port', 'red-near', 'networks')[0]), /^172\.31\.0\.\d\/24$/);
});

test('a list of external Subnets without spec.enableExternal has no effect, and the Vpc says so', () => {
  const scene = new NatScene();
  scene.put('vpcs', 'red', { extraExternalSubnets: ['external'] });
  assert.equal(scene.bench.condition('vpcs', 'red', 'WithoutEffect')?.reason, 'ExternalOff');
  assert.equal(scene.bench.row('Logical_Router_Port', 'red-external'), undefined);
});
