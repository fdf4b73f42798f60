import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Uuid } from '../ovsdb/index.ts';
import { PodScene } from '../testing/pod-scene.ts';
import { API_SERVER } from '../world/world.ts';
import { leftoverVips, leftoverVipsLines } from './leftover-vips.ts';
import { statusOf } from './status.ts';

const UUID = '70000000-0000-4000-8000-000000000001';

function withVips({ bench }: PodScene, loadBalancer: string, vips: Readonly<Record<string, string>>): void {
  const [uuid = ''] = [...bench.northbound.table('Load_Balancer')].find(([, row]) => row['name'] === loadBalancer) ?? [];
  const edit = { kind: 'keys', table: 'Load_Balancer', uuid: uuid as Uuid, column: 'vips', set: vips, remove: [] } as const;
  bench.world.rows.apply(bench.northbound, bench.northbound.apply([edit]));
  bench.converge();
}

function putService({ bench }: PodScene, namespace: string, name: string, clusterIP: string, port: number): void {
  bench.put('services', { metadata: { name, namespace }, spec: { clusterIP, ports: [{ port }] } });
}

function told({ bench }: PodScene): readonly string[] {
  return statusOf(bench.world, true)
    .findings.filter(({ what }) => what === 'left over')
    .map(({ kind, key, message, next }) => `${kind} ${key}: ${message} | ${next}`);
}

test('a vip of a Service that was deleted is told with its command, until it is gone or a Service has it', () => {
  const scene = new PodScene();
  const { world } = scene.bench;
  putService(scene, 'default', 'kubernetes', '10.96.0.1', 443);
  scene.bench.put('vpcs', { metadata: { name: 'blue' }, spec: {} });
  scene.bench.converge();
  withVips(scene, 'cluster-tcp-loadbalancer', { '10.96.0.1:443': '172.18.0.2:6443', '10.96.0.77:80': '10.16.0.5:80' });
  withVips(scene, 'vpc-blue-udp-sess-load', { '[fd00::77]:53': '', '10.96.0.1:443': '10.16.0.6:53' });
  const inDefault =
    'Vpc ovn-cluster: Load_Balancer cluster-tcp-loadbalancer has 1 vip that is of no Service; the collection decides about it: tcp 10.96.0.77:80 to 10.16.0.5:80 | kiln gc plan';
  const inBlue =
    'Vpc blue: Load_Balancer vpc-blue-udp-sess-load has 2 vips that are of no Service; the collection decides about it: udp 10.96.0.1:443 to 10.16.0.6:53; udp [fd00::77]:53 | kiln gc plan';
  assert.deepEqual(told(scene), [inDefault, inBlue]);
  assert.deepEqual(leftoverVipsLines(leftoverVips(world)).slice(2), [
    'of no Service, 2 in Load_Balancer vpc-blue-udp-sess-load:',
    '  udp 10.96.0.1:443 to 10.16.0.6:53; ovn-nbctl lb-del vpc-blue-udp-sess-load 10.96.0.1:443',
    "  udp [fd00::77]:53; ovn-nbctl lb-del vpc-blue-udp-sess-load '[fd00::77]:53'",
  ]);
  putService(scene, 'shop', 'web', '10.96.0.77', 80);
  assert.deepEqual(told(scene), [inBlue]);
  putService(scene, 'shop', 'web', '10.96.0.77', 8080);
  assert.deepEqual(told(scene), [inDefault, inBlue]);
  world.services.delete(API_SERVER);
  assert.deepEqual(told(scene), [], 'no Service is observed');
});

test('vips of a load balancer of another program are not told; those that a take-over would adopt are', () => {
  for (const external_ids of [{ vendor: 'kube-ovn' }, {}, { owner: 'neutron' }]) {
    const scene = new PodScene();
    const { bench } = scene;
    putService(scene, 'default', 'kubernetes', '10.96.0.1', 443);
    bench.foreignRow('Load_Balancer', UUID, { name: 'vpc-red-tcp-load', external_ids, vips: { '10.96.0.77:80': '10.16.0.5:80' } });
    const emitted = { row: () => ({ rows: [{ rule: 'vpc-load-balancers', owner: { name: 'red' } }] }) } as never;
    assert.deepEqual(leftoverVips(bench.world), []);
    const adopted = leftoverVips(bench.world, emitted).filter(({ loadBalancer }) => loadBalancer === 'vpc-red-tcp-load');
    assert.deepEqual(
      adopted.map(({ vpc, vips }) => [vpc, vips.map(({ vip }) => vip)]),
      'owner' in external_ids ? [] : [['red', ['tcp 10.96.0.77:80']]],
    );
  }
});
