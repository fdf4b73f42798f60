import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Resource } from '../../kube/resource.ts';
import type { AnyObservedObject } from '../../world/world.ts';
import { workloadKindNamed, workloadTree } from './workload-owner.ts';

/** A client of a cluster in which each kind has one object that the one above created. */
const client = {
  listAll: ({ plural }: Resource) => Promise.resolve([{ metadata: { name: plural, uid: plural, ownerReferences: [{ uid: 'top' }] } }]),
} as unknown as KubeClient;

test('a workload is found under the names that kubectl accepts, with what it creates', async () => {
  const found: unknown[] = [];
  for (const name of ['deploy', 'StatefulSet', 'sts', 'virtualmachine', 'vm', 'vmi', 'cronjobs.batch', 'deploy.example.com', 'pods']) {
    const resource = workloadKindNamed(name);
    if (resource === undefined) {
      found.push(undefined);
      continue;
    }
    const top = { metadata: { name: 'top', namespace: 'shop', uid: 'top' } } as unknown as AnyObservedObject;
    const tree = await workloadTree(client, resource, top);
    found.push([tree.type, ...tree.workloads.map(({ type }) => type)]);
  }
  assert.deepEqual(found, [
    ['deployment', 'replicaset'],
    ['statefulset'],
    ['statefulset'],
    ['virtualmachine', 'virtualmachineinstance'],
    ['virtualmachine', 'virtualmachineinstance'],
    ['virtualmachineinstance'],
    ['cronjob', 'job'],
    undefined,
    undefined,
  ]);
});
