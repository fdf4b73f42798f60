import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeWorld } from '../../../agent/world/node-world.ts';
import { defaultMtu, mtuProblem } from './interface-mtu.ts';

const SETTINGS = { node: 'node-1', southbound: '', datapath: 'system', defaultVpc: 'ovn-cluster', mtu: undefined } as const;

function world(address: string, mtu: number): NodeWorld {
  const scene = new NodeWorld();
  scene.nodes.set('node-1', { uid: 'u', addresses: [address], annotations: {}, labels: {}, conditions: {} });
  scene.hostLinks.set('eth0', { mac: '', mtu, up: true, master: '', addresses: [`${address}/16 brd 172.18.255.255`], routes: [] });
  return scene;
}

for (const [tunnel, address, usual, most] of [
  ['geneve', '172.18.0.2', 1400, 1442],
  ['vxlan', '172.18.0.2', 1450, 1450],
  ['stt', '172.18.0.2', 1428, 1428],
  ['geneve', 'fd18::2', 1380, 1422],
  ['vxlan', 'fd18::2', 1430, 1430],
] as const)
  test(`N34: the MTU of pods in ${tunnel} over ${address} with 1500 is ${usual}, and ${most} passes`, () => {
    const scene = world(address, 1500);
    scene.glance(() => {
      assert.equal(defaultMtu(scene, { ...SETTINGS, tunnel }), usual);
      assert.equal(mtuProblem(scene, { ...SETTINGS, tunnel }, most), undefined);
      assert.equal(
        mtuProblem(scene, { ...SETTINGS, tunnel }, most + 1),
        `device eth0 of node node-1 has MTU 1500, which leaves ${most} in a ${tunnel} tunnel`,
      );
    });
  });

test('the flag comes first, and without a known device of the node no MTU is refused', () => {
  const scene = world('172.18.0.2', 9000);
  scene.glance(() => {
    assert.equal(defaultMtu(scene, { ...SETTINGS, tunnel: 'geneve', mtu: 1300 }), 1300);
    assert.equal(defaultMtu(scene, { ...SETTINGS, tunnel: 'geneve' }), 8900);
  });
  scene.hostLinks.delete('eth0');
  scene.glance(() => {
    assert.equal(defaultMtu(scene, { ...SETTINGS, tunnel: 'geneve' }), 1400);
    assert.equal(mtuProblem(scene, { ...SETTINGS, tunnel: 'geneve' }, 60_000), undefined);
  });
});
