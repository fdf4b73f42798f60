import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IP } from '../../api/ip.ts';
import { kilnAnnotation } from '../../api/well-known.ts';
import { DEFAULT_SETTINGS } from '../../world/settings.ts';
import { World } from '../../world/world.ts';
import { vipUser } from './vip-view.ts';

function ip(name: string): IP {
  const annotations = { [kilnAnnotation.vip]: 'v1' };
  return {
    apiVersion: 'kubeovn.io/v1',
    kind: 'IP',
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', annotations },
    spec: { subnet: 'net', v4IpAddress: '10.0.0.9' },
  };
}

test('of two IP objects of one second that say the address of a Vip, every process takes the same for its user', () => {
  for (const names of [
    ['a.shop', 'b.shop'],
    ['b.shop', 'a.shop'],
  ]) {
    const world = new World(DEFAULT_SETTINGS);
    for (const name of names) world.ips.set(name, ip(name));
    assert.equal(world.ask(vipUser, 'v1'), 'a.shop');
  }
});
