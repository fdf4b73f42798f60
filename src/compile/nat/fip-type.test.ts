import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';

test("an OvnFip without a type has that of the external gateway's ConfigMap; its own comes first", () => {
  const made = new NatScene();
  const { bench } = made;
  for (const name of ['web', 'api']) made.pods.pod(name);
  bench.converge();
  for (const name of ['e1', 'e2']) made.eip(name);
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', ipName: 'web.shop' });
  made.put('ovn-fips', 'f2', { ovnEip: 'e2', ipName: 'api.shop', type: 'centralized' });
  const stateless = (): readonly unknown[] =>
    bench.rows('NAT').map((row) => [(row['options'] as Readonly<Record<string, string>>)['stateless'], row['external_mac'] !== null]);
  const configure = (type: string): void => {
    const spec = { type, 'external-gw-nodes': 'gw1', 'nic-ip': '172.20.0.9/24' };
    bench.put('configmaps', { metadata: { name: 'ovn-external-gw-config', namespace: 'kube-system' }, spec });
    bench.converge();
  };
  for (const [type, first] of [
    ['distributed', 'true'],
    ['centralized', 'false'],
  ] as const) {
    configure(type);
    assert.deepEqual(stateless(), [
      [first, first === 'true'],
      ['false', false],
    ]);
  }
  configure('distributed');
  bench.delete('configmaps', 'kube-system/ovn-external-gw-config');
  bench.converge();
  assert.deepEqual(stateless()[0], ['false', false]);
});
