/** Expected reservations at a start change how often rules run, and nothing of the result. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { PodScene } from '../testing/pod-scene.ts';
import type { RuleBench } from '../testing/rule-bench.ts';

/** Desired state, reports and holders of addresses, independent of the order of rules. */
function outcome({ world, desired }: RuleBench): object {
  const sorted = (items: Iterable<unknown>): readonly string[] =>
    Array.from(items, (item) => inspect(item, { depth: null, sorted: true })).toSorted();
  const rows = [...desired.rows.rowIds].map((id) => {
    const { rows: wanted = [], members = new Map() } = desired.rows.row(id) ?? {};
    return [id, sorted(wanted), sorted(members.keys())];
  });
  return {
    rows: sorted(rows),
    objects: sorted([...desired.objects.ids].map((id) => [id, sorted(desired.objects.of(id))])),
    reports: sorted(desired.reports.fresh),
    reservations: sorted(world.reservations.entries()),
    conflicts: sorted(world.addressConflicts.entries()),
  };
}

/** Runs the rules once before reservations are expected: then none are. */
function withoutPresuming(bench: RuleBench): RuleBench {
  const fresh = bench.restarted();
  fresh.world.reactor.runDue();
  fresh.allocation.run();
  fresh.compile();
  return fresh;
}

function presuming(bench: RuleBench): RuleBench {
  const fresh = bench.restarted();
  fresh.compile();
  return fresh;
}

const allocatedAnnotations = (address: string, more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> => ({
  'ovn.kubernetes.io/allocated': 'true',
  'ovn.kubernetes.io/logical_switch': 'ovn-default',
  'ovn.kubernetes.io/ip_address': address,
  'ovn.kubernetes.io/mac_address': '00:00:00:00:00:07',
  ...more,
});

const SCENES: Readonly<Record<string, (scene: PodScene) => void>> = {
  'all is well': () => undefined,
  'two pods claim one address': (scene) => {
    scene.pod('first', { annotations: allocatedAnnotations('10.16.0.77') });
    scene.pod('second', { annotations: allocatedAnnotations('10.16.0.77') });
  },
  'a pod claims the address of another, which that IP object proves': (scene) => {
    scene.pod('thief', { annotations: allocatedAnnotations(scene.addressOf('shop/web') ?? '') });
  },
  'a pod claims an address of a Subnet that does not exist': (scene) => {
    scene.pod('lost', { annotations: allocatedAnnotations('10.99.0.7', { 'ovn.kubernetes.io/logical_switch': 'none' }) });
  },
  'a pod claims an address outside of its Subnet, and no MAC': (scene) => {
    scene.pod('odd', { annotations: allocatedAnnotations('10.99.0.7', { 'ovn.kubernetes.io/mac_address': 'none' }) });
  },
  'a pod with hostNetwork claims an address': (scene) => {
    scene.pod('host', { annotations: allocatedAnnotations('10.16.0.78'), spec: { hostNetwork: true } });
  },
  'a pod claims an address on a network that it is not attached to': (scene) => {
    const key = 'net.shop.ovn.kubernetes.io';
    scene.pod('more', {
      annotations: { [`${key}/allocated`]: 'true', [`${key}/logical_switch`]: 'ovn-default', [`${key}/ip_address`]: '10.16.0.79' },
    });
  },
  'an IP object was written over': (scene) => {
    scene.bench.edit('ips', 'web.shop', { ipAddress: '10.16.0.80', v4IpAddress: '10.16.0.80' });
  },
  'an IP object and a Subnet were removed by force': (scene) => {
    scene.bench.removeByForce('ips', 'side.shop');
    scene.bench.removeByForce('subnets', 'side');
  },
  'one of two interfaces has lost its Subnet': (scene) => {
    scene.bench.removeByForce('subnets', 'side');
    scene.bench.removeByForce('ips', 'two.shop.net.shop.ovn');
  },
};

function crowd(): PodScene {
  const scene = new PodScene();
  scene.subnet('side', { cidrBlock: '10.1.0.0/24', provider: 'net.shop.ovn' });
  scene.attachment('shop/net', 'kube-ovn');
  scene.statefulSet('db', 1);
  scene.bench.converge();
  scene.pod('web');
  scene.pod('db-0', { statefulSet: 'db' });
  scene.pod('two', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'net' } });
  scene.bench.converge();
  assert.ok(scene.addressOf('shop/web'));
  assert.ok(scene.annotations('shop/two')['net.shop.ovn.kubernetes.io/ip_address']);
  return scene;
}

for (const [name, change] of Object.entries(SCENES)) {
  test(`${name}: desired state and reports are the same without expected reservations`, () => {
    const scene = crowd();
    change(scene);
    const [expected, found] = [withoutPresuming(scene.bench), presuming(scene.bench)];
    assert.deepEqual(outcome(found), outcome(expected));
  });
}

test('a pod that is deleted or recreated after it was recorded keeps nothing', () => {
  for (const again of [false, true]) {
    const scene = crowd();
    const { uid } = scene.bench.object('ips', 'web.shop')?.metadata ?? {};
    const fresh = scene.bench.restarted();
    const taken = (): string | undefined =>
      [...fresh.world.reservations.entries()].map(([claimant]) => claimant).find((claimant) => claimant.startsWith('web.shop#'));
    assert.equal(
      fresh.allocation.expectReservations(() => taken() !== undefined),
      false,
      'it yields with something left',
    );
    const before = taken() ?? '';
    fresh.removeByForce('pods', 'shop/web');
    if (again) fresh.put('pods', { metadata: { name: 'web', namespace: 'shop' }, spec: { nodeName: 'n1', restartPolicy: 'Always' } });
    fresh.converge();
    assert.equal(fresh.world.reservations.peek(before), undefined);
    assert.equal(fresh.row('Logical_Switch_Port', 'web.shop') !== undefined, again);
    assert.notEqual(fresh.object('ips', 'web.shop')?.metadata.uid, uid);
  }
});
