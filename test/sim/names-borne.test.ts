import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../src/api/kubernetes/core.ts';
import type { Subnet } from '../../src/api/kinds/subnet.ts';
import type { Vpc } from '../../src/api/kinds/vpc.ts';
import { podAnnotation } from '../../src/api/well-known.ts';
import { DEFAULT_SETTINGS } from '../../src/world/settings.ts';
import { World } from '../../src/world/world.ts';
import { namesBorne } from './names-borne.ts';

/** A pod that runs instance `vm`, as it is told. */
function launcher(name: string, machine: string, address: string): Pod {
  const told = { allocated: 'true', ip_address: address, virtualmachine: machine } as const;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'shop',
      uid: name,
      annotations: Object.fromEntries(Object.entries(told).map(([key, value]) => [podAnnotation('ovn', key as keyof typeof told), value])),
      ownerReferences: [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid: 'vm' }],
    },
    spec: {},
  } as unknown as Pod;
}

function foundOf(...pods: readonly Pod[]): readonly string[] {
  const world = new World(DEFAULT_SETTINGS);
  for (const pod of pods) world.pods.set(`shop/${pod.metadata.name}`, pod);
  return namesBorne(world).map(({ message }) => message);
}

test('the pods of a virtual machine bear its name, and have one address', () => {
  assert.deepEqual(foundOf(launcher('a', 'vm', '10.0.0.2'), launcher('b', 'vm', '10.0.0.2')), []);
  assert.deepEqual(foundOf(launcher('a', '', '10.0.0.2')), ['Pod shop/a: virtual machine that it is told is none, and it runs vm']);
  assert.deepEqual(foundOf(launcher('a', 'vm', '10.0.0.2'), launcher('b', 'vm', '10.0.0.3')), [
    'VirtualMachineInstance shop/vm: addresses of its pods are 10.0.0.2 and 10.0.0.3',
  ]);
});

test('of a Subnet and a Vpc with one name one is in effect', () => {
  for (const accepted of ['True', 'False']) {
    const world = new World(DEFAULT_SETTINGS);
    const ready = { type: 'Ready', status: 'True', message: '' };
    const named = (status: string): object => ({
      metadata: { name: 'red', uid: 'u' },
      spec: {},
      status: { conditions: [ready, { type: 'Accepted', status, message: '' }] },
    });
    world.subnets.set('red', named('True') as Subnet);
    world.vpcs.set('red', named(accepted) as Vpc);
    assert.equal(namesBorne(world).length, accepted === 'True' ? 1 : 0);
  }
});
