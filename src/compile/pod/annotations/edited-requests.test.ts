/** Each annotation that a rule reads as a request, edited on a pod that runs: the pod keeps its ports and addresses, and is told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';

const NETWORKS = 'k8s.v1.cni.cncf.io/networks';
const REQUESTS: Readonly<Record<string, readonly (string | undefined)[]>> = {
  logical_switch: ['other', 'nope', '', undefined],
  ip_address: ['10.16.7.7', 'x', '', undefined],
  mac_address: ['0a:00:00:00:00:09', 'x', undefined],
  ip_pool: ['pool', 'nope', '10.16.9.4'],
  ip_family: ['ipv6'],
};

function scene(): PodScene {
  const made = new PodScene();
  made.attachment('shop/fast', 'kube-ovn');
  made.subnet('fast', { cidrBlock: '10.101.0.0/24', provider: 'fast.shop.ovn' });
  made.subnet('other', { cidrBlock: '10.104.0.0/24' });
  made.bench.put('ippools', { metadata: { name: 'pool' }, spec: { subnet: 'ovn-default', ips: ['10.16.9.1..10.16.9.9'] } });
  made.bench.put('vips', { metadata: { name: 'vip' }, spec: { subnet: 'ovn-default', namespace: 'shop' } });
  made.pod('web', { annotations: { [NETWORKS]: 'fast' } });
  made.bench.converge();
  return made;
}

const has = ({ bench }: PodScene): readonly unknown[] => [
  ...['web.shop', 'web.shop.fast.shop.ovn'].map((port) => bench.row('Logical_Switch_Port', port)),
  ...bench.keys('ips').map((name) => [name, bench.object('ips', name)?.spec]),
];

function keepsAndIsTold(key: string, text: string | undefined, more: Readonly<Record<string, undefined>> = {}): void {
  const made = scene();
  const [before, annotations] = [has(made), made.annotations('shop/web')];
  assert.ok(annotations['fast.shop.ovn.kubernetes.io/allocated'] === 'true' && annotations['ovn.kubernetes.io/allocated'] === 'true');
  made.pod('web', { annotations: JSON.parse(JSON.stringify({ ...annotations, [key]: text, ...more })) as Record<string, string> });
  made.bench.converge();
  assert.deepEqual(has(made), before, `${key}=${text}`);
  const isCorrected = made.annotations('shop/web')[key] === annotations[key];
  assert.ok(isCorrected || made.bench.conditionText('pods', 'shop/web').includes(key), `${key}=${text} is not told`);
  assert.equal(made.bench.writesAfterRestart(), 0);
}

for (const provider of ['ovn', 'fast.shop.ovn'])
  for (const [suffix, texts] of Object.entries(REQUESTS))
    test(`${suffix} of provider ${provider}`, () => {
      for (const text of texts) {
        keepsAndIsTold(`${provider}.kubernetes.io/${suffix}`, text);
        keepsAndIsTold(`${provider}.kubernetes.io/${suffix}`, text, { [`${provider}.kubernetes.io/allocated`]: undefined });
      }
    });

test('a Vip as its address', () => {
  for (const name of ['vip', 'nope']) keepsAndIsTold('ovn.kubernetes.io/vip', name);
});

test('annotations of its Namespace are no request at all', () => {
  const made = scene();
  const before = has(made);
  for (const annotations of [
    { 'ovn.kubernetes.io/logical_switch': 'other' },
    { 'ovn.kubernetes.io/ip_pool': 'pool', 'ovn.kubernetes.io/cidr': '10.104.0.0/24' },
  ]) {
    made.namespace('shop', { annotations });
    made.bench.converge();
    assert.deepEqual(has(made), before);
    assert.equal(made.bench.object('namespaces', 'shop')?.metadata.annotations?.['ovn.kubernetes.io/logical_switch'], 'ovn-default');
  }
});
