import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReviewedObject } from '../../webhook/protocol/admission-review.ts';
import type { Observed } from '../../webhook/protocol/admission-result.ts';
import { PodScene } from '../../testing/pod-scene.ts';
import { admission as ofVlan } from '../vlan/admission.ts';
import { admission } from './admission.ts';

/** Nodes of the scene: `n1` alone. */
function scene(spec: object = {}, name = 'net1'): PodScene {
  const made = new PodScene();
  made.bench.put('nodes', { metadata: { name: 'n2', labels: { zone: 'b' } }, spec: {}, status: { addresses: [], conditions: [] } });
  made.bench.put('provider-networks', { metadata: { name }, spec: { defaultInterface: 'eth1', ...spec } });
  made.bench.converge();
  return made;
}

function agentSays({ bench }: PodScene, node: string, labels: Record<string, string>, error?: string): void {
  const object = bench.object('nodes', node);
  assert.ok(object);
  const prefix = 'net1.provider-network.kubernetes.io/';
  const annotations = { ...object.metadata.annotations, ...(error !== undefined && { [`${prefix}err_mesg`]: error }) };
  const keyed = Object.fromEntries(Object.entries(labels).map(([key, value]) => [prefix + key, value]));
  bench.put('nodes', { ...object, metadata: { ...object.metadata, annotations, labels: { ...object.metadata.labels, ...keyed } } });
  bench.converge();
}

function status({ bench }: PodScene): readonly unknown[] {
  const { ready, readyNodes, notReadyNodes } = bench.object('provider-networks', 'net1')?.status ?? {};
  return [ready, readyNodes, notReadyNodes];
}

test('the status has what the agents of its nodes wrote: ready when each is, and the cause where one is not', () => {
  const made = scene();
  const { bench } = made;
  const condition = (): string => {
    const found = bench.condition('provider-networks', 'net1', 'Ready');
    return `${found?.status} ${found?.reason} ${found?.message}`;
  };
  assert.deepEqual(status(made), [false, [], ['n1', 'n2']]);
  assert.match(condition(), /^False NodesNotReady .* the node's agent has not reported it yet \(and 1 more node\)/);
  assert.ok(
    bench.events.every(({ reason }) => reason !== 'NodesNotReady'),
    'nodes that begin are no failure',
  );
  agentSays(made, 'n1', { ready: 'true' });
  agentSays(made, 'n2', {}, 'node n2 has no interface eth1');
  assert.deepEqual(status(made), [false, ['n1'], ['n2']]);
  assert.match(
    condition(),
    /^False NodesNotReady ProviderNetwork net1 is not ready on node n2: node n2 has no interface eth1; kubectl describe/,
  );
  assert.ok(bench.events.some(({ object, reason }) => object === 'provider-networks/net1' && reason === 'NodesNotReady'));
  assert.deepEqual(bench.object('provider-networks', 'net1')?.status?.['conditions'], [
    { node: 'n1', type: 'Ready', status: 'True', reason: 'InitOVSBridgeSucceeded', message: '' },
    { node: 'n2', type: 'Ready', status: 'False', reason: 'InitOVSBridgeFailed', message: 'node n2 has no interface eth1' },
  ]);
  agentSays(made, 'n2', { ready: 'true' });
  assert.deepEqual(status(made), [true, ['n1', 'n2'], []]);
  assert.equal(condition(), 'True NodesReady ');
  const node = bench.object('nodes', 'n1');
  assert.ok(node);
  const annotations = { ...node.metadata.annotations, 'net1.provider-network.kubernetes.io/warning': 'address 10.0.0.2/24 had a lifetime' };
  bench.put('nodes', { ...node, metadata: { ...node.metadata, annotations } });
  bench.converge();
  assert.equal(
    condition(),
    'True NodesReadyWithWarning ProviderNetwork net1 is ready; on node n1 address 10.0.0.2/24 had a lifetime; kubectl describe node n1',
  );
  assert.ok(bench.events.some(({ object, reason }) => object === 'provider-networks/net1' && reason === 'NodesReadyWithWarning'));
  bench.put('nodes', node);
  bench.converge();
  assert.equal(bench.writesAfterRestart(), 0);
  bench.removeByForce('nodes', 'n2');
  bench.converge();
  assert.deepEqual(status(made), [true, ['n1'], []]);
});

test('nodes are left out by name, or by a selector that decides alone; a network without nodes is not ready', () => {
  assert.deepEqual(status(scene({ excludeNodes: ['n1'] }))[2], ['n2']);
  assert.deepEqual(status(scene({ excludeNodes: ['n2'], nodeSelector: { matchLabels: { zone: 'b' } } }))[2], ['n2']);
  const none = scene({ nodeSelector: { matchLabels: { zone: 'c' } } });
  assert.deepEqual(status(none), [false, [], []], 'Kube-OVN calls it ready');
  assert.match(none.bench.condition('provider-networks', 'net1', 'Ready')?.message ?? '', /leaves out every node/);
});

test('a name that is too long for a bridge, and a selector that cannot match: on the object, and denied at once', () => {
  const name = 'physical-network';
  const made = scene({}, name);
  const { status: accepted, reason } = made.bench.condition('provider-networks', name, 'Accepted') ?? {};
  assert.deepEqual([accepted, reason], ['False', 'ProviderNetworkNameTooLong']);
  const observed: Observed = { world: made.bench.world, complete: true, checkRequest: () => undefined };
  const object = (named: string, spec: object): ReviewedObject => ({
    metadata: { name: named, uid: 'u', creationTimestamp: '' },
    spec: { defaultInterface: 'eth1', ...spec },
  });
  const codes = (named: string, spec: object): readonly string[] =>
    admission.validateCreate(object(named, spec), observed).denials.map(({ code }) => code);
  assert.deepEqual(codes(name, {}), ['ProviderNetworkNameTooLong']);
  assert.deepEqual(codes('int', {}), ['ProviderNetworkNameReserved'], 'its bridge would be that of OVN');
  assert.deepEqual(codes('net2', { nodeSelector: { matchExpressions: [{ key: 'a', operator: 'Like' }] } }), ['Invalid']);
  assert.deepEqual(codes('net2', {}), []);
  assert.deepEqual(admission.validateUpdate(object(name, {}), object(name, { excludeNodes: ['n1'] }), observed).denials, []);

  const vlan = (named: string, spec: object): ReviewedObject => ({ metadata: { name: named, uid: 'u', creationTimestamp: '' }, spec });
  made.bench.put('vlans', { metadata: { name: 'v10' }, spec: { id: 10, provider: name } });
  made.bench.converge();
  const twin = ofVlan.validateCreate(vlan('twin', { id: 10, provider: name }), observed);
  assert.deepEqual(
    twin.denials.map(({ code }) => code),
    ['VlanConflict'],
  );
  assert.deepEqual(ofVlan.validateCreate(vlan('other', { id: 11, provider: name }), observed).denials, []);
  const edit = ofVlan.validateUpdate(vlan('other', { id: 11, provider: name }), vlan('other', { id: 10, provider: name }), observed);
  assert.deepEqual(
    edit.denials.map(({ code }) => code),
    ['VlanConflict'],
  );
  assert.match(ofVlan.validateCreate(vlan('early', { id: 1, provider: 'later' }), observed).warnings.join(), /does not exist/);
});
