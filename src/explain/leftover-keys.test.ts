import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CollectionPolicy } from '../diff/collection-policy.ts';
import { PodScene } from '../testing/pod-scene.ts';
import type { PlanSources } from './collection-plan.ts';
import { leftoverKeys } from './leftover-keys.ts';

const LOGICAL_SWITCH = 'ovn.kubernetes.io/logical_switch';
const POOL = 'ovn.kubernetes.io/ip_pool';

test('keys that Kiln left on objects which stay are listed until the rules took them away, and keys of others never', () => {
  const { bench, ...scene } = sceneWithNode();
  bench.converge();
  const plan = (): readonly string[] => {
    bench.compile();
    return leftoverKeys(bench.world, bench.desired.objects, sourcesOf(bench)).map(({ fate, what, table, name, owner, why }) =>
      [fate, what, table, name, owner, why].join(' | '),
    );
  };
  assert.deepEqual(plan(), [], 'all is asked for');
  bench.put('namespaces', { metadata: { name: 'old' } });
  bench.converge();
  const asked = bench.object('namespaces', 'old')?.metadata.annotations;
  bench.put('namespaces', { metadata: { name: 'old', annotations: { ...asked, [POOL]: 'gone', 'example.com/note': 'x' } } });
  const { metadata } = bench.object('nodes', scene.node) ?? {};
  const labels = { 'ovn.kubernetes.io/external-gw': 'true', zone: 'x' };
  bench.put('nodes', {
    metadata: { name: scene.node, labels, annotations: { ...metadata?.annotations, 'kiln.io/gateway-of': 'ovn-external-gw-config' } },
  });
  const listed = plan();
  assert.equal(listed.length, 2, listed.join('\n'));
  assert.equal(
    listed[0],
    `collect | keys | Namespace | old | ippool//gone | nothing asks for annotation ${POOL}: ippool/gone does not exist`,
  );
  assert.equal(
    listed[1],
    `collect | keys | Node | ${scene.node} | configmap/kube-system/ovn-external-gw-config | nothing asks for annotation kiln.io/gateway-of, label ovn.kubernetes.io/external-gw: configmap/kube-system/ovn-external-gw-config does not exist`,
  );
  assert.doesNotMatch(listed.join(), /example\.com|zone/);
  bench.converge();
  assert.deepEqual(plan(), []);
});

test('keys of objects that are gone stay by pause, mode, Namespace and hold, and those of a change never do', () => {
  const { bench } = new PodScene();
  // A Vpc without a Subnet for them.
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: { namespaces: ['old', 'left'] } });
  bench.converge();
  const keys = { [LOGICAL_SWITCH]: 'gone', 'ovn.kubernetes.io/cidr': '10.9.0.0/16', 'ovn.kubernetes.io/exclude_ips': '10.9.0.1' };
  bench.put('namespaces', { metadata: { name: 'old', annotations: keys } });
  // Its Subnet exists and names it no longer.
  bench.put('namespaces', { metadata: { name: 'left', annotations: { ...keys, [LOGICAL_SWITCH]: 'ovn-default' } } });
  bench.compile();
  const plan = (hold?: string): readonly string[] =>
    leftoverKeys(bench.world, bench.desired.objects, { ...sourcesOf(bench), hold }).map(
      ({ fate, name, owner }) => `${fate} ${name} ${owner}`,
    );
  assert.deepEqual(plan(), ['collect left namespace//left', 'collect old subnet//gone']);
  assert.deepEqual(plan('too many'), ['collect left namespace//left', 'held old subnet//gone']);
  bench.put('namespaces', { metadata: { name: 'old', annotations: { ...keys, 'kiln.io/gc': 'report' } } });
  assert.deepEqual(plan(), ['collect left namespace//left', 'report old subnet//gone']);
});

function sourcesOf({ world }: PodScene['bench']): PlanSources {
  return {
    ownerExists: (owner) => owner.startsWith('subnet//') && world.subnets.peek(owner.slice('subnet//'.length)) !== undefined,
    ...{ policy: new CollectionPolicy(world, true), hold: undefined, now: 0 },
  };
}

function sceneWithNode(): { readonly bench: PodScene['bench']; readonly node: string } {
  const { bench } = new PodScene();
  bench.put('nodes', { metadata: { name: 'n1' }, status: { addresses: [{ type: 'InternalIP', address: '192.0.2.7' }] } });
  return { bench, node: 'n1' };
}
