import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../api/kubernetes/core.ts';
import type { IP } from '../api/kinds/ip.ts';
import { FINALIZER, kilnAnnotation } from '../api/well-known.ts';
import { Ledger } from '../ipam/ledger.ts';
import { OWNER_KEY, RULE_KEY, UID_KEY, VENDOR, VENDOR_KEY } from '../nb/ownership.ts';
import { MemoryNorthbound } from '../testing/memory-northbound.ts';
import { DEFAULT_SETTINGS } from '../world/settings.ts';
import { World } from '../world/world.ts';
import { Holders } from './holders.ts';

const SWITCH = '00000000-0000-4000-8000-000000000001';
const START = Date.parse('2026-01-01T00:00:00Z');

function pod(name: string, more: Partial<Pod['metadata']> = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'ns',
      uid: `uid-${name}`,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations: {
        'ovn.kubernetes.io/allocated': 'true',
        'ovn.kubernetes.io/ip_address': '10.0.0.2',
        'ovn.kubernetes.io/logical_switch': 's1',
      },
      ...more,
    },
    spec: { terminationGracePeriodSeconds: 30 },
  };
}

function marksOf(name: string): Readonly<Record<string, string>> {
  return { [VENDOR_KEY]: VENDOR, [OWNER_KEY]: `pod/ns/${name}`, [UID_KEY]: `uid-${name}`, [RULE_KEY]: 'pod-port' };
}

function portOf(northbound: MemoryNorthbound, world: World, name: string, marks: Readonly<Record<string, string>> = marksOf(name)): void {
  world.rows.apply(northbound, northbound.insert('Logical_Switch', SWITCH, { name: 's1', external_ids: { [VENDOR_KEY]: VENDOR } }));
  world.rows.apply(
    northbound,
    northbound.insert(
      'Logical_Switch_Port',
      '00000000-0000-4000-8000-000000000002',
      {
        name: `${name}.ns`,
        type: '',
        addresses: ['00:00:00:00:00:01 10.0.0.2'],
        external_ids: { ...marks, ls: 's1' },
      },
      { table: 'Logical_Switch', uuid: SWITCH, column: 'ports' },
    ),
  );
}

test('the row of a StatefulSet pod and the pod are one claimant, whichever is seen first', () => {
  for (const rowFirst of [true, false]) {
    const world = new World(DEFAULT_SETTINGS);
    const ledger = new Ledger();
    const holders = new Holders(world, ledger);
    const web = pod('web-0', { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'uid-web' }] });
    if (!rowFirst) world.pods.set('ns/web-0', web);
    portOf(new MemoryNorthbound(), world, 'web-0');
    if (rowFirst) world.pods.set('ns/web-0', web);
    holders.recordChanges();
    assert.deepEqual(ledger.conflicts('s1'), []);
    assert.equal(ledger.holdersIn('s1', 10).count, 1);
  }
});

test('annotations of a pod hold an address only if its port row or its IP object proves them', () => {
  for (const [marks, rowFirst, holds] of [
    [marksOf('a'), true, 1],
    [marksOf('a'), false, 1],
    [{ ...marksOf('a'), [UID_KEY]: 'uid-of-the-one-before' }, true, 0],
    [{ [VENDOR_KEY]: VENDOR, pod: 'ns/a' }, true, 0],
    [undefined, true, 0],
  ] as const) {
    const world = new World(DEFAULT_SETTINGS);
    const ledger = new Ledger();
    const holders = new Holders(world, ledger);
    const steps = [
      () => void (marks !== undefined && portOf(new MemoryNorthbound(), world, 'a', marks)),
      () => world.pods.set('ns/a', pod('a')),
    ];
    for (const step of rowFirst ? steps : steps.toReversed()) {
      step();
      holders.recordChanges();
    }
    assert.equal(ledger.bindings('pod', 'uid-a/ovn').size, holds, `${JSON.stringify(marks)} ${rowFirst}`);
  }
});

test('a terminating pod holds its address until its deadline, and is not evaluated before', () => {
  const world = new World(DEFAULT_SETTINGS);
  const ledger = new Ledger();
  const holders = new Holders(world, ledger);
  world.deadlines.advance(START);
  world.pods.set('ns/a', pod('a', { deletionTimestamp: '2026-01-01T00:00:30Z' }));
  portOf(new MemoryNorthbound(), world, 'a');
  const held = (): number => ledger.bindings('pod', 'uid-a/ovn').size;
  holders.recordChanges();
  let looked = 0;
  const peek = world.pods.peek.bind(world.pods);
  world.pods.peek = (key) => {
    looked++;
    return peek(key);
  };
  for (let turn = 0; turn < 100; turn++) holders.recordChanges();
  assert.equal(looked, 0);
  assert.equal(held(), 1);
  world.deadlines.advance(START + 59_000);
  holders.recordChanges();
  assert.equal(held(), 1);
  world.deadlines.advance(START + 60_000);
  holders.recordChanges();
  assert.equal(held(), 0);
  const before = looked;
  for (let turn = 0; turn < 100; turn++) holders.recordChanges();
  assert.equal(looked, before);
});

test('pod and row are evaluated again after a change of their IP object only if it changes their claimant or a proof', () => {
  const madeFor = (annotations: Record<string, string>, podName = 'web-0'): IP => ({
    apiVersion: 'kubeovn.io/v1',
    kind: 'IP',
    metadata: { name: 'web-0.ns', uid: 'uid-ip', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', annotations },
    spec: { podName, namespace: 'ns', subnet: 's1', v4IpAddress: '10.0.0.2', ipAddress: '10.0.0.2' },
  });
  for (const ip of [madeFor({ [kilnAnnotation.podUid]: 'uid-web-0' }), madeFor({}), madeFor({}, 'somebody-else')]) {
    const world = new World(DEFAULT_SETTINGS);
    const ledger = new Ledger();
    const holders = new Holders(world, ledger);
    world.pods.set('ns/web-0', pod('web-0'));
    portOf(new MemoryNorthbound(), world, 'web-0');
    holders.recordChanges();
    world.ips.set('web-0.ns', ip);
    assert.equal(holders.due, true);
    holders.recordChanges();
    world.ips.set('web-0.ns', { ...ip, metadata: { ...ip.metadata, resourceVersion: '2', labels: { said: 'more' } } });
    assert.equal(holders.due, false);
    assert.deepEqual(ledger.conflicts('s1'), []);
    world.ips.delete('web-0.ns');
    assert.equal(holders.due, true);
    holders.recordChanges();
    assert.equal(ledger.holdersIn('s1', 10).count, 1);
  }
});

test("a port with the name and address of a Vip's port is the Vip's, without ownership keys, whichever is observed first", () => {
  for (const [port, portFirst, conflicts] of [
    ['v', true, 0],
    ['v', false, 0],
    ['w', true, 1],
    ['w', false, 1],
  ] as const) {
    const world = new World(DEFAULT_SETTINGS);
    const ledger = new Ledger();
    const holders = new Holders(world, ledger);
    const steps = [
      () => portOf(new MemoryNorthbound(), world, port, {}),
      () =>
        world.vips.set('v', {
          apiVersion: 'kubeovn.io/v1',
          kind: 'Vip',
          metadata: { name: 'v', uid: 'uid-v', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', finalizers: [FINALIZER] },
          spec: { subnet: 's1', namespace: 'ns', v4ip: '10.0.0.2', type: 'switch_lb_vip' },
          status: { v4ip: '10.0.0.2', type: 'switch_lb_vip' },
        }),
    ];
    for (const step of portFirst ? steps : steps.toReversed()) {
      step();
      holders.recordChanges();
    }
    assert.equal(ledger.conflicts('s1').length, conflicts, `${port}.ns, ${portFirst ? 'seen first' : 'seen last'}`);
  }
});
