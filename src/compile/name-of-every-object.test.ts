/** `constructor` is a valid name in Kubernetes, and a property of every JavaScript object. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diffKeys } from '../diff/column-diff.ts';
import { sameJson } from '../diff/json-equal.ts';
import { PodScene } from '../testing/pod-scene.ts';
import type { ResourceName } from '../world/resources.ts';

const NAME = 'constructor';
const KINDS: readonly ResourceName[] = ['vpcs', 'subnets', 'ips', 'ippools', 'vips', 'pods', 'namespaces', 'nodes'];

/** The result of a small network in which objects of one kind have this name, with the name replaced. */
function outcome(kind: ResourceName, name: string): unknown {
  const called = (one: ResourceName, other: string): string => (one === kind ? name : other);
  const [vpc, subnet, namespace, pool] = [
    called('vpcs', 'blue'),
    called('subnets', 'red'),
    called('namespaces', 'shop'),
    called('ippools', 'gold'),
  ];
  const scene = new PodScene();
  const { bench } = scene;
  bench.put('nodes', {
    metadata: { name: called('nodes', 'n1') },
    status: { addresses: [{ type: 'InternalIP', address: '192.168.1.1' }] },
  });
  bench.put('vpcs', { metadata: { name: vpc } });
  bench.put('subnets', { metadata: { name: 'wide' }, spec: { vpc, cidrBlock: '10.0.0.0/16', namespaces: ['other'] } });
  bench.put('subnets', { metadata: { name: subnet }, spec: { vpc, cidrBlock: '10.9.0.0/24,fd00:9::/64', namespaces: [namespace] } });
  bench.put('namespaces', { metadata: { name: namespace } });
  bench.put('ippools', { metadata: { name: pool }, spec: { subnet, ips: ['10.9.0.20..10.9.0.29'] } });
  bench.put('ippools', { metadata: { name: 'later' }, spec: { subnet, ips: ['10.9.0.40'] } });
  bench.put('vips', { metadata: { name: called('vips', 'front') }, spec: { subnet } });
  bench.put('pods', {
    metadata: { name: called('pods', 'web'), namespace, annotations: { 'ovn.kubernetes.io/ip_pool': pool } },
    spec: { nodeName: called('nodes', 'n1') },
  });
  bench.converge();
  bench.put('subnets', { metadata: { name: 'narrow' }, spec: { vpc, cidrBlock: '10.9.0.0/28' } });
  bench.converge();
  const objects = KINDS.map((one) => bench.keys(one).map((key) => ({ ...bench.object(one, key), metadata: { name: key } })));
  const rows = ['Logical_Switch', 'Logical_Switch_Port', 'Logical_Router_Port'].map((table) => bench.rowIds(table));
  const text = JSON.stringify({ objects, rows }, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  // MACs are derived from names.
  return JSON.parse(text.replaceAll(name, '<name>').replaceAll(/([0-9a-f]{2}:){5}[0-9a-f]{2}/g, '<mac>'));
}

for (const kind of KINDS.filter((one) => one !== 'ips'))
  test(`${kind} give the same result under every name`, () => {
    assert.deepEqual(outcome(kind, NAME), outcome(kind, 'constructos'));
  });

test('the diff sees a key of that name that another program wrote', () => {
  assert.deepEqual(
    diffKeys(new Map([[NAME, 'x']]), {}, 'map', () => false),
    { set: {}, remove: [NAME] },
  );
  assert.equal(sameJson({}, { [NAME]: 'x' }), false);
  assert.equal(sameJson({ [NAME]: 'x' }, {}), false);
});
