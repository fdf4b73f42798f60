import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FINALIZER } from '../../src/api/well-known.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import { ObjectStore } from '../../src/lab/apiserver/store.ts';
import { heldAsSaid } from './held-as-said.ts';

const AT = '2026-01-01T00:00:00Z';

function put(
  store: ObjectStore,
  table: string,
  kind: string,
  name: string,
  object: { readonly metadata?: object; readonly [field: string]: unknown },
): void {
  store.put(table, name, { kind, ...object, metadata: { name, uid: name, ...object.metadata } } as unknown as KubeObject);
}

function waiting(names: string, count = names.split(', ').length): { readonly metadata: object; readonly status: object } {
  const some = count === 1 ? 'one object still uses it' : `${count} objects still use it`;
  const message = `Subnet red cannot be deleted: ${some}: ${names}. It goes when they are gone.`;
  return {
    metadata: { deletionTimestamp: AT, finalizers: [FINALIZER], creationTimestamp: AT },
    status: { conditions: [{ type: 'DeletionBlocked', status: 'True', message }] },
  };
}

/** Subnet red is being deleted and names some; web is in it, and db in the Subnet that is given. */
function foundWhere(names: string, subnetOfDb: string, count?: number): readonly string[] {
  const store = new ObjectStore(100);
  put(store, 'subnets.kubeovn.io', 'Subnet', 'red', waiting(names, count));
  for (const [name, subnet] of [
    ['web.shop', 'red'],
    ['db.shop', subnetOfDb],
  ] as const)
    put(store, 'ips.kubeovn.io', 'IP', name, { metadata: { finalizers: [FINALIZER] }, spec: { subnet, v4IpAddress: '10.0.0.2' } });
  return heldAsSaid(store, () => true).map(({ message }) => message);
}

test('a Subnet that is being deleted names all who are in it', () => {
  assert.deepEqual(foundWhere('IP db.shop, IP web.shop', 'red'), []);
  assert.match(foundWhere('IP web.shop', 'red').join(), /says that IP web\.shop hold it, and IP db\.shop is in it too/);
});

test('and says how many they are', () => {
  assert.match(foundWhere('IP db.shop, IP web.shop', 'red', 3).join(), /says that 3 hold it, tells of 2, and 2 say to be in it/);
});

test('and nobody who is in another one', () => {
  assert.deepEqual(foundWhere('IP web.shop', 'blue'), []);
  assert.match(foundWhere('IP db.shop, IP web.shop', 'blue').join(), /is held by IP db\.shop, which is in another one/);
});

test('a Vpc that is being deleted is held by no Subnet that came after, was refused and has nothing there', () => {
  for (const hasSwitch of [true, false]) {
    const store = new ObjectStore(100);
    const message = 'Vpc blue cannot be deleted: one object still uses it: Subnet late. It goes when that is gone.';
    put(store, 'vpcs.kubeovn.io', 'Vpc', 'blue', {
      metadata: { deletionTimestamp: AT, finalizers: [FINALIZER] },
      status: { conditions: [{ type: 'DeletionBlocked', status: 'True', message }] },
    });
    put(store, 'subnets.kubeovn.io', 'Subnet', 'late', { metadata: { creationTimestamp: '2026-01-01T00:00:09Z' }, spec: { vpc: 'blue' } });
    const found = heldAsSaid(store, () => hasSwitch);
    assert.deepEqual(
      found.map(({ kind }) => kind),
      hasSwitch ? [] : ['I5 holders Vpc late'],
    );
  }
});
