import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podAnnotation } from '../../src/api/well-known.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import { ObjectStore } from '../../src/lab/apiserver/store.ts';
import type { StoredRow } from '../../src/ovsdb/testing/simulated/database.ts';
import { TakenPorts } from './taken-ports.ts';

interface Now {
  /** Uid of the Subnet that is there, if any; it was `first`. */
  readonly subnet?: string;
  /** Router ports that are there, with the uid of the Subnet that each is of. */
  readonly ports: Readonly<Record<string, readonly [uid: string, network: string]>>;
}

function routerPort(name: string, uid: string, network: string): StoredRow {
  const ids = { vendor: 'kube-ovn', 'kiln.io/owner': 'subnet//red', 'kiln.io/uid': uid };
  return { name, networks: new Set([network]), external_ids: new Map(Object.entries(ids)) };
}

/** A pod has 10.0.0.2 in Subnet red of Vpc blue, whose router port a controller takes away. @returns what is said of that */
function foundWith({ subnet, ports }: Now): readonly string[] {
  const store = new ObjectStore(100);
  const taken = new TakenPorts(store, () => false);
  const told = { allocated: 'true', logical_switch: 'red', ip_address: '10.0.0.2' } as const;
  const annotations = Object.fromEntries(
    Object.entries(told).map(([key, value]) => [podAnnotation('ovn', key as keyof typeof told), value]),
  );
  store.put('pods', 'shop/web', { metadata: { name: 'web', namespace: 'shop', uid: 'web', annotations } } as unknown as KubeObject);
  taken.remember();
  if (subnet !== undefined) store.put('subnets.kubeovn.io', 'red', { metadata: { name: 'red', uid: subnet } } as unknown as KubeObject);
  const there = Object.entries(ports).map(([name, [uid, network]]) => routerPort(name, uid, network));
  taken.tookLink(routerPort('blue-red', 'first', '10.0.0.1/24'), there);
  return taken.judge().map(({ kind }) => kind);
}

test('who is in a network has its router port', () => {
  const none = { ports: {} };
  for (const now of [none, { ...none, subnet: 'first' }, { ...none, subnet: 'second' }])
    assert.deepEqual(foundWith(now), ['I3 taken pods']);
});

test('a Subnet that was made again in another Vpc takes those in its network along', () => {
  assert.deepEqual(foundWith({ subnet: 'second', ports: { 'grey-red': ['second', '10.0.0.1/24'] } }), []);
  assert.deepEqual(
    foundWith({ subnet: 'second', ports: { 'grey-red': ['second', '10.7.0.1/24'] } }),
    ['I3 taken pods'],
    'of another network',
  );
  assert.deepEqual(foundWith({ subnet: 'second', ports: { 'grey-red': ['third', '10.0.0.1/24'] } }), ['I3 taken pods'], "another one's");
});

test('one that is edited stays where it is', () => {
  assert.deepEqual(foundWith({ subnet: 'first', ports: { 'grey-red': ['first', '10.0.0.1/24'] } }), ['I3 taken pods']);
});
