import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../testing/pod-scene.ts';
import { leftoverKeys } from './leftover-keys.ts';

const POOL = 'ovn.kubernetes.io/ip_pool';

test('keys that Kiln left on objects which stay are listed until the rules took them away, and keys of others never', () => {
  const { bench, ...scene } = sceneWithNode();
  bench.converge();
  const plan = (): readonly string[] => {
    bench.compile();
    return leftoverKeys(bench.world, bench.desired.objects).map(({ fate, what, table, name, owner, why }) =>
      [fate, what, table, name, owner, why].join(' | '),
    );
  };
  assert.deepEqual(plan(), [], 'all is asked for');
  bench.put('namespaces', { metadata: { name: 'old', annotations: { [POOL]: 'gone', 'example.com/note': 'x' } } });
  const { metadata } = bench.object('nodes', scene.node) ?? {};
  const labels = { 'ovn.kubernetes.io/external-gw': 'true', zone: 'x' };
  bench.put('nodes', {
    metadata: { name: scene.node, labels, annotations: { ...metadata?.annotations, 'kiln.io/gateway-of': 'ovn-external-gw-config' } },
  });
  const listed = plan();
  assert.equal(listed.length, 2, listed.join('\n'));
  assert.equal(
    listed[0],
    `collect | keys | Namespace | old | namespace//old | nothing asks for annotation ${POOL}; the controller's rules take it away`,
  );
  assert.equal(
    listed[1],
    `collect | keys | Node | ${scene.node} | node//${scene.node} | nothing asks for annotation kiln.io/gateway-of, label ovn.kubernetes.io/external-gw; the controller's rules take them away`,
  );
  assert.doesNotMatch(listed.join(), /example\.com|zone/);
  bench.converge();
  assert.deepEqual(plan(), []);
});

function sceneWithNode(): { readonly bench: PodScene['bench']; readonly node: string } {
  const { bench } = new PodScene();
  bench.put('nodes', { metadata: { name: 'n1' }, status: { addresses: [{ type: 'InternalIP', address: '192.0.2.7' }] } });
  return { bench, node: 'n1' };
}
