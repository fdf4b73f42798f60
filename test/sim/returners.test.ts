import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import { ObjectStore } from '../../src/lab/apiserver/store.ts';
import { Returners } from './returners.ts';

function put(store: ObjectStore, table: string, key: string, object: object): void {
  store.put(table, key, object as KubeObject);
}

function pod(uid: string, address: string): object {
  const told = { allocated: 'true', logical_switch: 'red', ip_address: address, mac_address: '0a:00:00:00:00:01' };
  return {
    metadata: {
      name: 'db-0',
      namespace: 'shop',
      uid,
      annotations: Object.fromEntries(Object.entries(told).map(([key, value]) => [`ovn.kubernetes.io/${key}`, value])),
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'set', controller: true }],
    },
  };
}

/** Pod db-0 has 10.0.0.200 in a Subnet that is accepted as it is asked. @returns what is said where the next one has 10.0.0.2 */
function foundIn(cidrBlock: string): readonly string[] {
  const store = new ObjectStore(100);
  const returners = new Returners(store, () => false);
  const accepted = { type: 'Accepted', status: 'True', message: '' };
  put(store, 'subnets.kubeovn.io', 'red', {
    metadata: { name: 'red', uid: 'red' },
    spec: { cidrBlock },
    status: { conditions: [accepted] },
  });
  put(store, 'namespaces', 'shop', { metadata: { name: 'shop', uid: 'shop' } });
  put(store, 'statefulsets', 'shop/db', { metadata: { name: 'db', namespace: 'shop', uid: 'set' }, spec: { replicas: 1 } });
  const ip = { subnet: 'red', ipAddress: '10.0.0.200', podType: 'StatefulSet' };
  put(store, 'ips.kubeovn.io', 'db-0.shop', { metadata: { name: 'db-0.shop', uid: 'ip' }, spec: ip });
  put(store, 'pods', 'shop/db-0', pod('first', '10.0.0.200'));
  returners.remember();
  store.remove('pods', 'shop/db-0');
  put(store, 'pods', 'shop/db-0', pod('second', '10.0.0.2'));
  return returners.judge().map(({ kind }) => kind);
}

test('the pod that comes again has the address of the one before, unless its Subnet leaves that out by now', () => {
  assert.deepEqual(foundIn('10.0.0.0/24'), ['I1 returned']);
  assert.deepEqual(foundIn('10.0.0.0/25'), []);
});
