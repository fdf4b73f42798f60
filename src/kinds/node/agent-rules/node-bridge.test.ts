/** The name of the chassis: that of a node that is set up anew equals that of its predecessor, whose tunnel address it has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeWorld } from '../../../agent/world/node-world.ts';
import { nodeBridge } from './node-bridge.ts';

const SETTINGS = { node: 'node-1', southbound: '', tunnel: 'geneve', datapath: 'system', defaultVpc: 'ovn-cluster', mtu: 1400 } as const;

function systemId(uid: string, before?: string): string | undefined {
  const world = new NodeWorld();
  world.nodes.set('node-1', { uid, addresses: ['172.18.0.2'], annotations: {}, labels: {}, conditions: {} });
  if (before !== undefined) world.settings.set('system-id', before);
  const outputs = world.glance(() => nodeBridge(SETTINGS).run(world, ''));
  return outputs.flatMap((output) => (output.kind === 'settings' ? [output.externalIds['system-id'] ?? ''] : []))[0];
}

test('N43: a node that joins again as another object has the chassis that it had', () => {
  assert.equal(systemId('first'), systemId('second'));
});

test('a name that the chassis has already stays', () => {
  assert.equal(systemId('first', '5f6e'), '5f6e');
});
