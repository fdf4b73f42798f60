import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IP } from '../../api/kinds/ip.ts';
import { annotationKey, kilnAnnotation } from '../../api/well-known.ts';
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

test('of two IP objects of one second with the address of a Vip, every process takes the same for its user', () => {
  for (const names of [
    ['a.shop', 'b.shop'],
    ['b.shop', 'a.shop'],
  ]) {
    const world = new World(DEFAULT_SETTINGS);
    for (const name of names) world.ips.set(name, ip(name));
    assert.equal(world.ask(vipUser, 'v1'), 'a.shop');
  }
});

test('an older pod of another Namespace does not block the address for a pod that may use the Vip', () => {
  const world = new World(DEFAULT_SETTINGS);
  const meta = { resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
  world.vips.set('v1', {
    apiVersion: 'kubeovn.io/v1',
    kind: 'Vip',
    metadata: { ...meta, name: 'v1', uid: 'v1' },
    spec: { subnet: 'net', namespace: 'shop' },
  });
  for (const [namespace, name] of [
    ['other', 'a'],
    ['shop', 'b'],
  ] as const)
    world.pods.set(`${namespace}/${name}`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...meta, name, namespace, uid: name, annotations: { [annotationKey.vip]: 'v1' } },
      spec: { nodeName: 'n0' },
    });
  assert.equal(world.ask(vipUser, 'v1'), 'b.shop');
});
