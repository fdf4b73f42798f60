import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FINALIZER } from '../../src/api/well-known.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import { ObjectStore } from '../../src/lab/apiserver/store.ts';
import { KeptMachines } from './kept-machines.ts';

const MACHINES = 'virtualmachines.kubevirt.io';

/** A machine has an address at rest; then somebody does something, and the IP object goes. @returns what is said of that */
function foundAfter(done: (store: ObjectStore) => void): readonly string[] {
  const store = new ObjectStore(100);
  let byHand = true;
  const kept = new KeptMachines(store, () => byHand);
  const put = (table: string, key: string, object: object): void => void store.put(table, key, object as KubeObject);
  put('subnets.kubeovn.io', 'red', {
    metadata: { name: 'red', uid: 'red' },
    spec: { cidrBlock: '10.0.0.0/24' },
    status: { conditions: [{ type: 'Accepted', status: 'True', message: '' }] },
  });
  put('namespaces', 'shop', { metadata: { name: 'shop', uid: 'shop' } });
  put(MACHINES, 'shop/vm', { metadata: { name: 'vm', namespace: 'shop', uid: 'vm' } });
  put('ips.kubeovn.io', 'vm.shop', {
    metadata: { name: 'vm.shop', uid: 'ip', finalizers: [FINALIZER] },
    spec: { podType: 'VirtualMachine', podName: 'vm', namespace: 'shop', subnet: 'red', v4IpAddress: '10.0.0.2' },
  });
  kept.remember();
  done(store);
  byHand = false;
  store.remove('ips.kubeovn.io', 'vm.shop');
  return kept.judge().map(({ kind }) => kind);
}

test('the address of a machine that is there is not let go', () => {
  assert.deepEqual(
    foundAfter(() => undefined),
    ['I6 machine'],
  );
});

test('it may go with the machine, and where somebody asks for something else', () => {
  assert.deepEqual(
    foundAfter((store) => void store.remove(MACHINES, 'shop/vm')),
    [],
  );
  const edited = { metadata: { name: 'vm', namespace: 'shop', uid: 'vm', labels: { team: 'a' } } } as unknown as KubeObject;
  assert.deepEqual(
    foundAfter((store) => void store.put(MACHINES, 'shop/vm', edited)),
    [],
  );
});
