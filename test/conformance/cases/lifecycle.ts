import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, configMap, conformance, fresh, message, newNamespace } from '../context.ts';
import type { Fields } from '../https-client.ts';
import { until } from '../../../src/testing/until.ts';
import { KITS, kit, widget, WIDGETS } from '../widgets.ts';

export function lifecycleCases(holder: Holder): void {
  /**
   * Waits until the garbage collector has observed all dependents so far. A real one observes kinds, owners and dependents by watches of
   * its own, and dependents in the order of their creation: once it has deleted the last one, it knows the earlier ones.
   */
  const untilCollectorKnows = async (namespace: string): Promise<void> => {
    const { http } = conformance(holder);
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const last = await http.send('POST', KITS(namespace), kit('last'));
    const reference = { apiVersion: 'lab.example.com/v1', kind: 'Kit', name: 'last', uid: at(last.body, 'metadata', 'uid') };
    const made = await http.send('POST', path, configMap('owned-last', {}, { ownerReferences: [reference] }));
    assert.equal(made.status, 201, made.text);
    await http.send('DELETE', `${KITS(namespace)}/last`);
    await until('the collector knows the dependents', async () => (await http.get(`${path}/owned-last`)).status === 404);
  };

  test('an object that is being deleted stays while it has finalizers', async () => {
    const { http } = conformance(holder);
    const name = fresh('held');
    await http.send('POST', WIDGETS, widget(name, {}, { finalizers: ['example.com/a', 'example.com/b'] }));
    const asked = await http.send('DELETE', `${WIDGETS}/${name}`);
    assert.equal(asked.status, 200);
    assert.equal(asked.body['kind'], 'Widget');
    assert.match(String(at(asked.body, 'metadata', 'deletionTimestamp')), /^\d{4}-/);
    assert.equal(at(asked.body, 'metadata', 'deletionGracePeriodSeconds'), 0);
    assert.equal(at(asked.body, 'metadata', 'generation'), 2);
    const again = await http.send('DELETE', `${WIDGETS}/${name}`);
    assert.equal(at(again.body, 'metadata', 'resourceVersion'), at(asked.body, 'metadata', 'resourceVersion'));
    const more = await http.patch(`${WIDGETS}/${name}`, 'merge-patch', {
      metadata: { finalizers: ['example.com/a', 'example.com/b', 'example.com/c'] },
    });
    assert.equal(more.status, 422);
    assert.match(
      message(more),
      /metadata\.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers \[\]string\{"example\.com\/c"\}/,
    );
    const still = await http.patch(`${WIDGETS}/${name}`, 'merge-patch', { spec: { mtu: 1400 } });
    assert.equal(still.status, 200);
    await http.patch(`${WIDGETS}/${name}`, 'merge-patch', { metadata: { finalizers: ['example.com/b'] } });
    assert.equal((await http.get(`${WIDGETS}/${name}`)).status, 200);
    const last = await http.patch(`${WIDGETS}/${name}`, 'merge-patch', { metadata: { finalizers: [] } });
    assert.equal(last.status, 200);
    assert.equal((await http.get(`${WIDGETS}/${name}`)).status, 404);
  });

  test('a namespace ends with its objects', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const created = await http.get(`/api/v1/namespaces/${namespace}`);
    assert.deepEqual(at(created.body, 'spec', 'finalizers'), ['kubernetes']);
    assert.equal(at(created.body, 'status', 'phase'), 'Active');
    await http.send('POST', `/api/v1/namespaces/${namespace}/configmaps`, configMap('c'));
    await http.send('POST', KITS(namespace), kit('held', {}, { finalizers: ['example.com/hold'] }));
    const asked = await http.send('DELETE', `/api/v1/namespaces/${namespace}`);
    assert.equal(at(asked.body, 'status', 'phase'), 'Terminating');
    await until('the config map is gone', async () => (await http.get(`/api/v1/namespaces/${namespace}/configmaps/c`)).status === 404);
    const rejected = await http.send('POST', `/api/v1/namespaces/${namespace}/configmaps`, configMap('late'));
    assert.equal(rejected.status, 403);
    assert.equal(
      message(rejected),
      `configmaps "late" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
    );
    assert.equal(at(rejected.body, 'details', 'causes', 0, 'reason'), 'NamespaceTerminating');
    await until('it says what holds it', async () => {
      const conditions = (at((await http.get(`/api/v1/namespaces/${namespace}`)).body, 'status', 'conditions') ?? []) as Fields[];
      const held = conditions.find((condition) => condition['type'] === 'NamespaceFinalizersRemaining');
      return (
        held?.['status'] === 'True' &&
        held['message'] === 'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances'
      );
    });
    await http.patch(`${KITS(namespace)}/held`, 'merge-patch', { metadata: { finalizers: null } });
    await until('the namespace is gone', async () => (await http.get(`/api/v1/namespaces/${namespace}`)).status === 404);
  });

  test('the namespaces of the system cannot be deleted', async () => {
    const { http } = conformance(holder);
    const reply = await http.send('DELETE', '/api/v1/namespaces/default');
    assert.equal(reply.status, 403);
    assert.equal(message(reply), 'namespaces "default" is forbidden: this namespace may not be deleted');
    for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease'])
      await until(`${name} is there`, async () => (await http.get(`/api/v1/namespaces/${name}`)).status === 200);
  });

  test('dependents are deleted after their owner', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const owner = await http.send('POST', KITS(namespace), kit('owner'));
    const reference = { apiVersion: 'lab.example.com/v1', kind: 'Kit', name: 'owner', uid: at(owner.body, 'metadata', 'uid') };
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    await http.send('POST', path, configMap('owned', {}, { ownerReferences: [reference] }));
    await http.send('DELETE', `${KITS(namespace)}/owner`);
    assert.equal((await http.get(`${KITS(namespace)}/owner`)).status, 404);
    await until('the dependent is gone', async () => (await http.get(`${path}/owned`)).status === 404);
  });

  test('orphans stay, without the owner reference', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const owner = await http.send('POST', KITS(namespace), kit('owner'));
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    await http.send(
      'POST',
      path,
      configMap(
        'owned',
        {},
        { ownerReferences: [{ apiVersion: 'lab.example.com/v1', kind: 'Kit', name: 'owner', uid: at(owner.body, 'metadata', 'uid') }] },
      ),
    );
    await untilCollectorKnows(namespace);
    await http.send('DELETE', `${KITS(namespace)}/owner?propagationPolicy=Orphan`);
    await until('the owner is gone', async () => (await http.get(`${KITS(namespace)}/owner`)).status === 404);
    const kept = await http.get(`${path}/owned`);
    assert.equal(kept.status, 200);
    assert.equal(at(kept.body, 'metadata', 'ownerReferences'), undefined);
  });

  test('in the foreground the owner waits for dependents that block', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const owner = await http.send('POST', KITS(namespace), kit('owner'));
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const reference = {
      apiVersion: 'lab.example.com/v1',
      kind: 'Kit',
      name: 'owner',
      uid: at(owner.body, 'metadata', 'uid'),
      blockOwnerDeletion: true,
    };
    await http.send('POST', path, configMap('owned', {}, { ownerReferences: [reference], finalizers: ['example.com/hold'] }));
    await untilCollectorKnows(namespace);
    const asked = await http.send('DELETE', `${KITS(namespace)}/owner?propagationPolicy=Foreground`);
    assert.deepEqual(at(asked.body, 'metadata', 'finalizers'), ['foregroundDeletion']);
    await until(
      'the dependent is being deleted',
      async () => at((await http.get(`${path}/owned`)).body, 'metadata', 'deletionTimestamp') !== undefined,
    );
    assert.equal((await http.get(`${KITS(namespace)}/owner`)).status, 200);
    await http.patch(`${path}/owned`, 'merge-patch', { metadata: { finalizers: null } });
    await until('the owner is gone', async () => (await http.get(`${KITS(namespace)}/owner`)).status === 404);
  });
}
