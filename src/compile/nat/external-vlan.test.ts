/** An external Subnet in use keeps its Vlan: without it a router of OVN would have the address of the physical gateway. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';
import { admissionRequest } from '../../webhook/testing/admission-request.ts';
import type { ReviewedObject } from '../../webhook/protocol/admission-review.ts';
import { validateRequest } from '../../webhook/review/validate-request.ts';

const LOCALNET = 'localnet.out';

/** Vpc blue with its external port in underlay Subnet `out`, and an OvnFip. */
function scene(): NatScene {
  const made = new NatScene();
  const { bench } = made;
  bench.put('provider-networks', { metadata: { name: 'net1' }, spec: { defaultInterface: 'eth1' } });
  bench.put('vlans', { metadata: { name: 'v10' }, spec: { id: 10, provider: 'net1' } });
  made.pods.subnet('out', { cidrBlock: '172.31.0.0/24', gateway: '172.31.0.1', vlan: 'v10' });
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: { enableExternal: true, extraExternalSubnets: ['out'] } });
  bench.converge();
  made.eip('e1', { externalSubnet: 'out' });
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.9' });
  assert.equal(bench.object('ovn-fips', 'f1')?.status?.['ready'], true);
  return made;
}

for (const edit of [{ vlan: '' }, { logicalGateway: true }])
  test(`the edit ${JSON.stringify(edit)} of an external Subnet in use is refused, and has no effect`, () => {
    const { bench } = scene();
    const before = bench.object('subnets', 'out') ?? assert.fail();
    const after = { ...before, spec: { ...before.spec, ...edit } };
    const request = { ...admissionRequest('UPDATE', 'subnets', after), oldObject: before as unknown as ReviewedObject };
    const observed = { world: bench.world, complete: true, checkRequest: () => undefined };
    const { denials } = validateRequest(request, observed, () => undefined);
    assert.deepEqual(
      denials.map(({ code }) => code),
      ['SubnetGatewayInUse'],
    );
    assert.match(denials[0]?.message ?? '', /OvnEip blue-out, OvnEip e1; put it back/);

    const localnet = bench.row('Logical_Switch_Port', LOCALNET);
    bench.edit('subnets', 'out', edit);
    bench.converge();
    assert.match(bench.condition('subnets', 'out', 'Accepted')?.message ?? '', /OvnEip blue-out, OvnEip e1; put it back/);
    assert.deepEqual(
      [bench.row('Logical_Switch_Port', LOCALNET), bench.row('Logical_Router_Port', 'ovn-cluster-out')],
      [localnet, undefined],
    );
    assert.equal(bench.condition('vpcs', 'blue', 'External')?.status, 'True');
    assert.equal(bench.writesAfterRestart(), 0);

    bench.edit('subnets', 'out', { vlan: 'v10', logicalGateway: false });
    bench.converge();
    assert.equal(bench.condition('subnets', 'out', 'Accepted')?.status, 'True');
  });

/** What the webhook denies of an edit of Subnet `out`. */
function denied({ bench }: NatScene, edit: object): readonly string[] {
  const before = bench.object('subnets', 'out') ?? assert.fail();
  const request = {
    ...admissionRequest('UPDATE', 'subnets', { ...before, spec: { ...before.spec, ...edit } }),
    oldObject: before as unknown as ReviewedObject,
  };
  const observed = { world: bench.world, complete: true, checkRequest: () => undefined };
  return validateRequest(request, observed, () => undefined).denials.map(({ code }) => code);
}

test('an external Subnet in use stays on its physical network when it names another Vlan, and says so', () => {
  const made = scene();
  const { bench } = made;
  bench.put('vlans', { metadata: { name: 'v20' }, spec: { id: 20, provider: 'net1' } });
  bench.put('provider-networks', { metadata: { name: 'net2' }, spec: { defaultInterface: 'eth2' } });
  bench.put('vlans', { metadata: { name: 'other' }, spec: { id: 10, provider: 'net2' } });
  bench.converge();
  const localnet = bench.row('Logical_Switch_Port', LOCALNET);
  for (const vlan of ['v20', 'other', 'missing']) {
    assert.deepEqual(denied(made, { vlan }), ['SubnetVlanInUse']);
    bench.edit('subnets', 'out', { vlan });
    bench.converge();
    const { status, message = '' } = bench.condition('subnets', 'out', 'Accepted') ?? {};
    assert.equal(status, 'False');
    assert.match(message, /than Vlan v10, and cut off the EIPs .*: OvnEip blue-out, OvnEip e1; put it back to v10, or/);
    assert.deepEqual(bench.row('Logical_Switch_Port', LOCALNET), localnet);
    assert.equal(bench.condition('vpcs', 'blue', 'External')?.status, 'True');
    assert.equal(bench.writesAfterRestart(), 0);
    bench.edit('subnets', 'out', { vlan: 'v10' });
    bench.converge();
    assert.equal(bench.condition('subnets', 'out', 'Accepted')?.status, 'True');
  }
  bench.edit('subnets', 'out', { vlan: 'v20' });
  const { metadata, spec } = bench.object('subnets', 'out') ?? assert.fail();
  const annotations = { ...metadata.annotations, 'kiln.io/allow-change-under-pods': 'true' };
  bench.put('subnets', { metadata: { ...metadata, annotations }, spec });
  bench.converge();
  assert.equal(bench.row('Logical_Switch_Port', LOCALNET)?.['tag'], 20, 'an administrator may allow it');
});

test('an external Subnet in use may name another Vlan of the same network, or another one once its own is gone', () => {
  const made = scene();
  const { bench } = made;
  bench.put('vlans', { metadata: { name: 'u1' }, spec: { provider: 'net1' } });
  bench.put('vlans', { metadata: { name: 'u2' }, spec: { provider: 'net1' } });
  bench.put('vlans', { metadata: { name: 'v20' }, spec: { id: 20, provider: 'net1' } });
  bench.removeByForce('vlans', 'v10');
  bench.converge();
  for (const [vlan, tag] of [
    ['u1', null],
    ['u2', null],
  ] as const) {
    assert.deepEqual(denied(made, { vlan }), []);
    bench.edit('subnets', 'out', { vlan });
    bench.converge();
    assert.deepEqual(
      [bench.condition('subnets', 'out', 'Accepted')?.status, bench.row('Logical_Switch_Port', LOCALNET)?.['tag']],
      ['True', tag],
    );
  }
  assert.deepEqual(denied(made, { vlan: 'v20' }), ['SubnetVlanInUse']);
});

test('without OvnEips the Subnet may lose its Vlan', () => {
  const { bench } = scene();
  bench.edit('vpcs', 'blue', { enableExternal: false });
  bench.delete('ovn-fips', 'f1');
  bench.delete('ovn-eips', 'e1');
  bench.converge();
  bench.edit('subnets', 'out', { vlan: '' });
  bench.converge();
  assert.deepEqual(bench.row('Logical_Router_Port', 'ovn-cluster-out')?.['networks'], ['172.31.0.1/24']);
});
