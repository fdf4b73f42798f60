import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Delta } from '../../kube/cache/delta.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { eventsOfChange } from './change-events.ts';

function subnet(spec: object): KubeObject {
  return { metadata: { name: 'red', uid: 'u' }, spec } as KubeObject;
}

function edit(before: object, now: object): readonly (readonly [string, string])[] {
  const delta: Delta<KubeObject> = { type: 'upsert', object: subnet(now), before: subnet(before) };
  return eventsOfChange('subnets', delta).map(({ event }) => [event.reason, event.message]);
}

function freed(spec: object, annotations: Readonly<Record<string, string>> = { 'kiln.io/pod-uid': 'p' }): readonly string[] {
  const object = { metadata: { name: 'web.shop', uid: 'i', annotations }, spec } as KubeObject;
  return eventsOfChange('ips', { type: 'delete', object }).map(
    ({ resource, namespace, name, uid, event }) => `${resource} ${namespace}/${name} ${uid} ${event.reason} ${event.message}`,
  );
}

test("a Subnet's other gateway type and nodes, in Kube-OVN's words", () => {
  assert.deepEqual(edit({ gatewayType: 'distributed' }, { gatewayType: 'centralized', gatewayNode: 'a,b' }), [
    ['SubnetGatewayTypeChanged', 'subnet gateway type changes from "distributed" to "centralized"'],
    ['SubnetGatewayNodeChanged', 'gateway node changes from "" to "a,b"'],
  ]);
  assert.deepEqual(edit({ gatewayType: 'centralized', gatewayNode: 'a' }, { gatewayType: 'centralized', gatewayNode: '' }), [
    ['SubnetGatewayNodeChanged', 'gateway node changes from "a" to ""'],
  ]);
});

test('the default that is filled in, other edits and a first list are no change of the gateway', () => {
  assert.deepEqual(edit({}, { gatewayType: 'distributed' }), []);
  assert.deepEqual(edit({ gatewayType: 'distributed' }, { gatewayType: 'distributed', private: true }), []);
  assert.deepEqual(eventsOfChange('subnets', { type: 'upsert', object: subnet({ gatewayNode: 'a' }) }), []);
});

test('an IP object that is deleted is reported on the pod that had it, and on no other object', () => {
  const spec = { podName: 'web', namespace: 'shop', subnet: 'red', ipAddress: '10.0.0.2', macAddress: '0a:00:00:00:00:02' };
  const details = 'provider=ovn subnet=red ip=10.0.0.2 mac=0a:00:00:00:00:02 logicalSwitchPort=web.shop';
  assert.deepEqual(freed(spec), [`pods shop/web p PodNetworkReleased ${details}`]);
  assert.deepEqual(freed(spec, {}), []);
  assert.deepEqual(freed({ ...spec, podName: 'node-1', namespace: '' }), []);
  assert.deepEqual(freed({ ...spec, podType: 'VirtualMachine' }), []);
});
