/** Networks that a Subnet may not claim: those of a Vpc with other namespaces, and the API server's address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';
import { API_SERVER } from '../../../world/world.ts';

const BOUND = 'kiln.io/NetworkBound';

function blue(namespaces: readonly string[], listed: readonly string[], annotations: Readonly<Record<string, string>> = {}): PodScene {
  const scene = new PodScene();
  scene.namespace('other');
  scene.bench.put('vpcs', { metadata: { name: 'blue' }, spec: { namespaces } });
  scene.bench.put('subnets', {
    metadata: { name: 'net', annotations },
    spec: { vpc: 'blue', cidrBlock: '10.0.0.0/24', namespaces: listed },
  });
  scene.bench.converge();
  return scene;
}

test('a namespace that the Vpc of a Subnet does not list is not served: its pods wait, those of the others are bound', () => {
  const scene = blue(['shop'], ['shop', 'other']);
  const accepted = scene.bench.condition('subnets', 'net', 'Accepted');
  assert.deepEqual([accepted?.status, accepted?.reason], ['False', 'SubnetNamespaceNotOfVpc']);
  assert.match(
    accepted?.message ?? '',
    /spec\.namespaces\[1\] "other" is not a namespace of Vpc blue; .*kubectl edit vpc blue.*all else is in effect/,
  );
  assert.equal(scene.bench.condition('subnets', 'net', 'Ready')?.status, 'True');
  scene.pod('in');
  scene.pod('out', { namespace: 'other' });
  scene.bench.converge();
  assert.match(scene.addressOf('shop/in') ?? '', /^10\.0\.0\./);
  assert.equal(scene.addressOf('other/out'), undefined);
  const { status, reason, message = '' } = scene.bench.condition('pods', 'other/out', BOUND) ?? {};
  assert.deepEqual([status, reason], ['False', 'WaitingForSubnet']);
  assert.match(message, /"other" is not a namespace of Vpc blue/);
  assert.equal(scene.bench.object('namespaces', 'other')?.metadata.annotations?.['ovn.kubernetes.io/logical_switch'], undefined);
  scene.bench.edit('vpcs', 'blue', { namespaces: ['shop', 'other'] });
  scene.bench.converge();
  assert.match(scene.addressOf('other/out') ?? '', /^10\.0\.0\./);
  assert.equal(scene.bench.condition('subnets', 'net', 'Accepted')?.status, 'True');
});

test('a namespace with another Subnet is served by that', () => {
  const scene = blue(['shop'], ['other']);
  scene.subnet('fine', { cidrBlock: '10.9.0.0/24', namespaces: ['other'] });
  scene.pod('web', { namespace: 'other' });
  scene.bench.converge();
  assert.match(scene.addressOf('other/web') ?? '', /^10\.9\.0\./);
});

test('a Vpc that lists no namespaces is for all, and a Subnet may admit others by its annotation', () => {
  for (const scene of [blue([], ['other']), blue(['shop'], ['other'], { 'kiln.io/admit-namespaces': 'other' })]) {
    scene.pod('web', { namespace: 'other' });
    scene.bench.converge();
    assert.match(scene.addressOf('other/web') ?? '', /^10\.0\.0\./);
    assert.equal(scene.bench.condition('subnets', 'net', 'Accepted')?.status, 'True');
  }
});

test('a pod that runs when the Vpc drops its namespace keeps its network', () => {
  const scene = blue(['shop', 'other'], ['shop', 'other']);
  scene.pod('web', { namespace: 'other' });
  scene.bench.converge();
  const address = scene.addressOf('other/web');
  scene.bench.edit('vpcs', 'blue', { namespaces: ['shop'] });
  scene.bench.converge();
  assert.equal(scene.addressOf('other/web'), address);
  assert.notEqual(scene.portAddresses('web.other'), undefined);
  assert.equal(scene.bench.condition('subnets', 'net', 'Accepted')?.reason, 'SubnetNamespaceNotOfVpc');
});

const TEAM = 'team';
const SELECTORS: Readonly<Record<string, object>> = {
  'by a label': { matchLabels: { [TEAM]: 'a' } },
  'by a value of several': { matchExpressions: [{ key: TEAM, operator: 'In', values: ['a', 'b'] }] },
  'by a key': { matchExpressions: [{ key: TEAM, operator: 'Exists' }] },
  'by what it is not': { matchExpressions: [{ key: TEAM, operator: 'NotIn', values: ['c'] }] },
};
for (const [how, selector] of Object.entries(SELECTORS))
  test(`a namespace that a Subnet selects ${how} and its Vpc does not list is not served: its pods wait`, () => {
    const scene = new PodScene();
    scene.namespace('shop', { labels: { [TEAM]: 'a' } });
    scene.namespace('other', { labels: { [TEAM]: 'a' } });
    scene.namespace('away', { labels: { [TEAM]: 'c' } });
    scene.bench.put('vpcs', { metadata: { name: 'blue' }, spec: { namespaces: ['shop', 'away'] } });
    scene.subnet('net', { vpc: 'blue', cidrBlock: '10.0.0.0/24', namespaceSelectors: [selector] });
    scene.bench.converge();
    const accepted = scene.bench.condition('subnets', 'net', 'Accepted');
    assert.deepEqual([accepted?.status, accepted?.reason], ['False', 'SubnetNamespaceNotOfVpc']);
    assert.match(
      accepted?.message ?? '',
      /spec\.namespaceSelectors "other" is selected, and is not of Vpc blue; .*kubectl edit vpc blue.*all else is in effect/,
    );
    assert.equal(scene.bench.condition('subnets', 'net', 'Ready')?.status, 'True');
    scene.pod('in');
    scene.pod('out', { namespace: 'other' });
    scene.bench.converge();
    assert.match(scene.addressOf('shop/in') ?? '', /^10\.0\.0\./);
    assert.equal(scene.addressOf('other/out'), undefined);
    const { status, reason, message = '' } = scene.bench.condition('pods', 'other/out', BOUND) ?? {};
    assert.deepEqual([status, reason], ['False', 'WaitingForSubnet']);
    assert.match(message, /"other" is selected, and is not of Vpc blue/);
    assert.equal(scene.bench.object('namespaces', 'other')?.metadata.annotations?.['ovn.kubernetes.io/logical_switch'], undefined);
    scene.namespace('other', { labels: { [TEAM]: 'c' } });
    scene.bench.converge();
    if (how !== 'by a key') assert.equal(scene.bench.condition('subnets', 'net', 'Accepted')?.status, 'True');
    scene.namespace('other', { labels: { [TEAM]: 'a' } });
    scene.bench.edit('vpcs', 'blue', { namespaces: ['shop', 'away', 'other'] });
    scene.bench.converge();
    assert.equal(scene.bench.condition('subnets', 'net', 'Accepted')?.status, 'True');
    scene.pod('late', { namespace: 'other' });
    scene.bench.converge();
    assert.match(scene.addressOf('other/late') ?? '', /^10\.0\.0\./);
  });

test('a selected namespace: the Subnet may admit it, another Subnet may serve it, and a pod that runs keeps its network', () => {
  const scene = new PodScene();
  scene.namespace('other', { labels: { [TEAM]: 'a' } });
  scene.bench.put('vpcs', { metadata: { name: 'blue' }, spec: { namespaces: ['shop', 'other'] } });
  const net = { vpc: 'blue', cidrBlock: '10.0.0.0/24', namespaceSelectors: [{ matchLabels: { [TEAM]: 'a' } }] };
  scene.subnet('net', net);
  scene.pod('web', { namespace: 'other' });
  scene.bench.converge();
  const address = scene.addressOf('other/web');
  assert.match(address ?? '', /^10\.0\.0\./);
  scene.bench.edit('vpcs', 'blue', { namespaces: ['shop'] });
  scene.subnet('fine', { cidrBlock: '10.9.0.0/24', namespaces: ['other'] });
  scene.pod('late', { namespace: 'other' });
  scene.bench.converge();
  assert.deepEqual([scene.addressOf('other/web'), scene.portAddresses('web.other') !== undefined], [address, true]);
  assert.match(scene.addressOf('other/late') ?? '', /^10\.9\.0\./);
  assert.equal(scene.bench.condition('subnets', 'net', 'Accepted')?.reason, 'SubnetNamespaceNotOfVpc');
  scene.bench.put('subnets', { metadata: { name: 'net', annotations: { 'kiln.io/admit-namespaces': 'other' } }, spec: net });
  scene.bench.converge();
  assert.equal(scene.bench.condition('subnets', 'net', 'Accepted')?.status, 'True');
});

test('a Subnet of the default Vpc with an address of the API server is invalid; in another Vpc, or beside that address, it is accepted', () => {
  const scene = new PodScene();
  scene.bench.put('vpcs', { metadata: { name: 'blue' } });
  scene.bench.put('services', {
    metadata: { name: 'kubernetes', namespace: 'default' },
    spec: { clusterIPs: ['172.30.0.1', 'fd30::1'], ports: [{ port: 443 }] },
  });
  const subnets = {
    v4: { cidrBlock: '172.30.0.0/24' },
    v6: { cidrBlock: 'fd30::/112' },
    beside: { cidrBlock: '172.30.1.0/24' },
    elsewhere: { vpc: 'blue', cidrBlock: '172.30.0.0/24' },
  };
  for (const [name, spec] of Object.entries(subnets)) scene.subnet(name, spec);
  scene.bench.converge();
  assert.deepEqual(
    Object.keys(subnets).map((name) => scene.bench.condition('subnets', name, 'Accepted')?.reason),
    ['SubnetHoldsApiServer', 'SubnetHoldsApiServer', 'Accepted', 'Accepted'],
  );
  assert.match(scene.bench.condition('subnets', 'v4', 'Accepted')?.message ?? '', /holds 172\.30\.0\.1, an address of the API server/);
  assert.equal(scene.bench.row('Logical_Switch', 'v4'), undefined);
  scene.bench.removeByForce('services', API_SERVER);
  scene.bench.converge();
  assert.equal(scene.bench.condition('subnets', 'v4', 'Accepted')?.reason, 'Accepted');
});
