/** A pod that is bound keeps the network of its own interface, whatever `v1.multus-cni.io/default-network` says later. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../../testing/pod-scene.ts';

const DEFAULT = 'v1.multus-cni.io/default-network';
const NETWORKS = 'k8s.v1.cni.cncf.io/networks';
const INEFFECTIVE = 'kiln.io/WithoutEffect';
const ALLOCATED = 'ovn.kubernetes.io/allocated';

function scene(settings: ConstructorParameters<typeof PodScene>[0] = {}): PodScene {
  const made = new PodScene(settings);
  for (const [i, name] of ['fast', 'slow'].entries()) {
    made.attachment(`shop/${name}`, 'kube-ovn');
    made.subnet(name, { cidrBlock: `10.${101 + i}.0.0/24`, provider: `${name}.shop.ovn` });
  }
  made.attachment('shop/wide', 'ipam-only');
  made.subnet('wide', { cidrBlock: '10.103.0.0/24', provider: 'wide.shop' });
  made.bench.converge();
  return made;
}

/** Ports with their addresses, and IP objects, of pod shop/web. */
function has({ bench }: PodScene): readonly unknown[] {
  const ports = bench.rowIds('Logical_Switch_Port').filter((id) => id.includes('web.shop'));
  const ips = bench.keys('ips').filter((name) => name.startsWith('web.shop'));
  return [
    ...ports.map((id) => [id, bench.rows('Logical_Switch_Port').find(({ name }) => id.includes(String(name)))?.['addresses']]),
    ...ips.map((name) => [name, bench.object('ips', name)?.spec]),
  ];
}

function edit(made: PodScene, edits: Readonly<Record<string, string | undefined>>): void {
  const next = { ...made.annotations('shop/web'), ...edits };
  made.pod('web', { annotations: JSON.parse(JSON.stringify(next)) as Record<string, string> });
  made.bench.converge();
}

const NO_NETWORK = ['', ' ', '[]', '[ ]', '{', 'nope', 'shop/nope@eth1'];
const BEFORE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'with its own interface': {},
  'with an attached network': { [NETWORKS]: 'fast' },
  'with addresses alone': { [NETWORKS]: 'wide' },
  'with another network instead': { [DEFAULT]: 'fast' },
  'with addresses alone instead': { [DEFAULT]: 'wide' },
  'with others instead and beside': { [DEFAULT]: 'fast', [NETWORKS]: 'wide' },
};

for (const [how, annotations] of Object.entries(BEFORE))
  test(`a pod that runs ${how} keeps every port and address when its default network is edited, and is told`, () => {
    for (const text of [...NO_NETWORK, 'slow', undefined]) {
      if (text === annotations[DEFAULT]) continue;
      const made = scene();
      made.pod('web', { annotations });
      made.bench.converge();
      const before = has(made);
      assert.ok(before.length > 0);
      // Also if whoever edits it takes the proof out of the annotations.
      for (const more of [{}, { [ALLOCATED]: undefined }]) {
        edit(made, { [DEFAULT]: text, ...more });
        assert.deepEqual(has(made), before, `${text}`);
        assert.match(
          made.bench.conditionText('pods', 'shop/web'),
          /default-network\] ".*" is not in effect; the own interface of a pod that runs stays/,
        );
        assert.equal(made.bench.condition('pods', 'shop/web', 'kiln.io/NetworkBound')?.status ?? 'True', 'True');
        assert.equal(made.bench.writesAfterRestart(), 0);
      }
      edit(made, { [DEFAULT]: annotations[DEFAULT] });
      assert.deepEqual(has(made), before);
      assert.equal(made.bench.condition('pods', 'shop/web', INEFFECTIVE)?.status ?? 'False', 'False');
    }
  });

test('beside another primary plugin, too', () => {
  const made = scene({ nonPrimaryCni: true });
  made.pod('web', { annotations: { [DEFAULT]: 'fast', [NETWORKS]: 'slow' } });
  made.bench.converge();
  const before = has(made);
  for (const text of [undefined, '', 'wide']) {
    edit(made, { [DEFAULT]: text });
    assert.deepEqual(has(made), before, `${text}`);
  }
});

test('networks beside the own interface are plugged and unplugged while the pod runs', () => {
  const made = scene();
  made.pod('web', { annotations: { [DEFAULT]: 'fast' } });
  made.bench.converge();
  edit(made, { [NETWORKS]: 'slow' });
  assert.deepEqual(
    made.bench.keys('ips').filter((name) => name.startsWith('web')),
    ['web.shop.fast.shop.ovn', 'web.shop.slow.shop.ovn'],
  );
  edit(made, { [NETWORKS]: undefined });
  assert.deepEqual(
    made.bench.keys('ips').filter((name) => name.startsWith('web')),
    ['web.shop.fast.shop.ovn'],
  );
});

test('the next pod of the name has the network of its own annotation', () => {
  const made = scene();
  made.statefulSet('db', 1);
  made.pod('db-0', { statefulSet: 'db', annotations: { [DEFAULT]: 'fast' } });
  made.bench.converge();
  assert.equal(made.bench.object('ips', 'db-0.shop.fast.shop.ovn')?.metadata.annotations?.['kiln.io/replaces-own-interface'], 'true');
  made.bench.removeByForce('pods', 'shop/db-0');
  made.bench.converge();
  made.pod('db-0', { statefulSet: 'db', annotations: { [NETWORKS]: 'fast' } });
  made.bench.converge();
  assert.match(made.addressOf('shop/db-0') ?? '', /^10\.16\./);
  const marks = made.bench.object('ips', 'db-0.shop.fast.shop.ovn')?.metadata.annotations ?? {};
  assert.equal(marks['kiln.io/replaces-own-interface'], undefined);
});

test('a pod whose default network names none waits, and says so', () => {
  for (const text of ['', '  ', '[]', '[ ]']) {
    const made = scene();
    made.pod('web', { annotations: { [DEFAULT]: text } });
    made.bench.converge();
    const condition = made.bench.condition('pods', 'shop/web', 'kiln.io/NetworkBound');
    assert.deepEqual([condition?.status, condition?.reason], ['False', 'InvalidAnnotation'], text);
    assert.match(condition?.message ?? '', /names no network for the pod's own interface; .*kubectl edit pod -n shop web/);
    edit(made, { [DEFAULT]: 'fast' });
    assert.deepEqual(
      made.bench.keys('ips').filter((name) => name.startsWith('web')),
      ['web.shop.fast.shop.ovn'],
    );
  }
});
