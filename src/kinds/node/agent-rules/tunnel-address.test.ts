/** Which address a node's tunnels have. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeWorld } from '../../../agent/world/node-world.ts';
import { portKey } from '../../../agent/world/port-keys.ts';
import { tunnelAddress, type TunnelAddress } from './tunnel-address.ts';

const KEY = 'ovn.kubernetes.io/tunnel_interface';
const LINK = { mac: '', mtu: 1500, up: true, master: '', routes: [] };

function of(addresses: readonly string[], annotation?: string, change: (world: NodeWorld) => void = () => undefined): TunnelAddress {
  const world = new NodeWorld();
  world.hostLinks.set('eth0', { ...LINK, addresses: ['172.18.0.2/16 brd 172.18.255.255'] });
  world.hostLinks.set('eth1', { ...LINK, addresses: ['fe80::9/64', '10.9.0.2/24'] });
  change(world);
  const annotations = annotation === undefined ? {} : { [KEY]: annotation };
  return world.glance(() => tunnelAddress(world, { uid: 'n', addresses, annotations, labels: {}, conditions: {} }));
}

test('an InternalIP that other nodes cannot reach is passed over, whichever comes first', () => {
  for (const first of ['fe80::1', '169.254.7.7', '127.0.0.1', '::1', '0.0.0.0', '::', 'ff02::1'])
    assert.deepEqual(of([first, '172.18.0.2', 'fd00::2']), { address: '172.18.0.2' });
  assert.deepEqual(of(['fd00::2', '172.18.0.2']), { address: 'fd00::2' });
  assert.match(of(['fe80::1', '127.0.0.1']).told ?? '', /no InternalIP .*fe80::1, 127\.0\.0\.1.*--node-ip/);
  assert.deepEqual(of([]), { address: undefined });
});

test('tunnel_interface: its address, also in a bridge; one that is not there is told, and tunnels stay', () => {
  assert.deepEqual(of(['172.18.0.2'], 'eth1'), { address: '10.9.0.2' });
  assert.deepEqual(of(['172.18.0.2'], 'bond0, eth1'), { address: '10.9.0.2' });
  const inBridge = of(['172.18.0.2'], 'eth1', (world) => {
    world.hostLinks.set('eth1', { ...LINK, addresses: [] });
    world.hostLinks.set('br-net1', { ...LINK, addresses: ['10.9.0.3/24'] });
    world.bridges.set('br-net1', { datapathType: 'system', externalIds: { [portKey.uplink]: 'eth1' } });
  });
  assert.deepEqual(inBridge, { address: '10.9.0.3' });
  const missing = of(['172.18.0.2'], 'eth7');
  assert.equal(missing.address, '172.18.0.2');
  assert.match(missing.told ?? '', /tunnel_interface names eth7.*tunnels use 172\.18\.0\.2/);
  assert.equal(of(['172.18.0.2'], 'eth7', (world) => world.settings.set('ovn-encap-ip', '10.9.0.9')).address, '10.9.0.9');
});
