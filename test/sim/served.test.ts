import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podAnnotation } from '../../src/api/well-known.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import { ObjectStore } from '../../src/lab/apiserver/store.ts';
import { Served } from './served.ts';

interface Given {
  /** Of Subnet red, which is being deleted, or has no switch, from 0 ms on. */
  readonly is?: 'going' | 'idle';
  /** When the pod comes, and is told what it has. */
  readonly at: number;
  readonly asks?: string;
  readonly names?: string;
}

function foundOf({ is, at, asks, names }: Given): readonly string[] {
  const store = new ObjectStore(100);
  let now = 0;
  const served = new Served(
    store,
    () => false,
    () => now,
    () => is !== 'idle',
  );
  const put = (table: string, key: string, object: object): void => void store.put(table, key, object as KubeObject);
  const idle = { conditions: [{ type: 'Ready', status: 'False', reason: 'RowConflict' }] };
  const metadata = { name: 'red', uid: 'red', ...(is === 'going' && { deletionTimestamp: '2026-01-01T00:00:00Z' }) };
  put('subnets.kubeovn.io', 'red', { metadata, spec: {}, ...(is === 'idle' && { status: idle }) });
  now = at;
  const own = {
    ...(asks !== undefined && { [podAnnotation('ovn', 'ip_pool')]: asks }),
    ...(names !== undefined && { [podAnnotation('ovn', 'ip_address')]: names }),
  };
  const pod = (annotations: object): object => ({
    metadata: { name: 'web', namespace: 'shop', uid: 'web', annotations: { ...own, ...annotations } },
  });
  put('pods', 'shop/web', pod({}));
  put('ips.kubeovn.io', 'web.shop', {
    metadata: { name: 'web.shop', uid: 'ip' },
    spec: { subnet: 'red', podName: 'web', namespace: 'shop' },
  });
  const told = { allocated: 'true', logical_switch: 'red', ip_address: '10.0.0.2' } as const;
  put(
    'pods',
    'shop/web',
    pod(Object.fromEntries(Object.entries(told).map(([key, value]) => [podAnnotation('ovn', key as keyof typeof told), value]))),
  );
  return served.judge().map(({ kind }) => kind);
}

test('who comes to a Subnet that was being deleted before has nothing of it', () => {
  assert.deepEqual(foundOf({ is: 'going', at: 6_000 }), ['I5 served by one that goes']);
  assert.deepEqual(foundOf({ is: 'going', at: 10 }), []);
  assert.deepEqual(foundOf({ at: 6_000 }), []);
});

test('nobody is given an address of one that has had no switch for a while', () => {
  assert.deepEqual(foundOf({ is: 'idle', at: 6_000 }), ['I7 served by one without a network']);
  assert.deepEqual(foundOf({ is: 'idle', at: 10 }), []);
});

test('of several addresses that a pod asks for it is given one', () => {
  assert.deepEqual(foundOf({ at: 10, asks: '10.0.0.3;10.0.0.4' }), ['I1 not what it asks for']);
  assert.deepEqual(foundOf({ at: 10, asks: '10.0.0.3;10.0.0.2' }), []);
  assert.deepEqual(foundOf({ at: 10, asks: 'pool' }), []);
});

test('the one address that a pod names goes before the list that it has as well', () => {
  assert.deepEqual(foundOf({ at: 10, asks: '10.0.0.3;10.0.0.4', names: '10.0.0.2' }), []);
  assert.deepEqual(foundOf({ at: 10, asks: '10.0.0.3;10.0.0.4', names: '10.0.0.5' }), ['I1 not what it asks for']);
});
