import assert from 'node:assert/strict';
import { test } from 'node:test';
import { permutations } from '../../../testing/permutations.ts';
import { PodScene } from '../../../testing/pod-scene.ts';

const NETWORKS = 'k8s.v1.cni.cncf.io/networks';
const attached = { annotations: { [NETWORKS]: 'infra/fast@net1,infra/fast@net2,infra/wide' } };

/** A Vpc with the Subnet of an attached network, a Subnet for addresses only, and a pod in both. */
function scene(): PodScene {
  const made = new PodScene();
  made.attachment('infra/fast', 'kube-ovn');
  made.attachment('infra/wide', 'ipam-only');
  made.bench.put('vpcs', { metadata: { name: 'blue' }, spec: {} });
  made.subnet('fast', { cidrBlock: '10.50.0.0/24', provider: 'fast.infra.ovn', vpc: 'blue' });
  made.subnet('wide', { cidrBlock: '10.60.0.0/29', provider: 'wide.infra' });
  made.pod('web', attached);
  made.bench.converge();
  assert.equal(made.bench.keys('ips').filter((name) => name.startsWith('web.')).length, 4);
  return made;
}

function left(made: PodScene): string[] {
  return [
    ...made.bench.keys('ips').filter((name) => !name.startsWith('node-')),
    ...made.bench.rowIds('Logical_Switch_Port').filter((name) => name.startsWith('web') || name.startsWith('fast')),
    ...made.bench.keys('subnets').filter((name) => name === 'fast' || name === 'wide'),
    ...made.bench.keys('vpcs').filter((name) => name === 'blue'),
    ...made.bench.rowIds('Logical_Switch').filter((name) => name === 'fast'),
    ...made.bench.rowIds('Logical_Router').filter((name) => name === 'blue'),
  ];
}

const DELETIONS: Readonly<Record<string, (made: PodScene) => void>> = {
  networks: ({ bench }) => {
    bench.removeByForce('network-attachment-definitions', 'infra/fast');
    bench.removeByForce('network-attachment-definitions', 'infra/wide');
  },
  vpc: ({ bench }) => bench.delete('vpcs', 'blue'),
  subnets: ({ bench }) => {
    bench.delete('subnets', 'fast');
    bench.delete('subnets', 'wide');
  },
  pod: ({ bench }) => bench.removeByForce('pods', 'shop/web'),
};

test('deletion in every order ends in nothing: networks, Subnets, Vpc and pod', () => {
  for (const order of permutations(Object.keys(DELETIONS))) {
    for (const atOnce of [false, true]) {
      const made = scene();
      for (const step of order) {
        DELETIONS[step]?.(made);
        if (!atOnce) made.bench.converge();
      }
      made.bench.converge();
      assert.deepEqual(left(made), [], `${order.join(', ')}${atOnce ? ', at once' : ''}`);
    }
  }
});

test('with its networks deleted the pod keeps running, over a restart of the controller too', () => {
  const made = scene();
  const before = made.annotations('shop/web');
  DELETIONS['networks']?.(made);
  made.bench.converge();
  assert.deepEqual(made.annotations('shop/web'), before);
  const fresh = made.bench.restarted();
  fresh.converge();
  assert.equal(fresh.writes, 0);
  fresh.removeByForce('pods', 'shop/web');
  fresh.converge();
  assert.deepEqual(
    fresh.keys('ips').filter((name) => name.startsWith('web.')),
    [],
  );
});

test('the Subnet of the first interface, removed by force, does not retain the addresses of the others', () => {
  const made = scene();
  made.subnet('own', { cidrBlock: '10.70.0.0/24' });
  made.pod('two', { annotations: { [NETWORKS]: 'infra/fast,infra/wide', 'ovn.kubernetes.io/logical_switch': 'own' } });
  made.bench.converge();
  made.bench.removeByForce('subnets', 'own');
  made.bench.converge();
  made.bench.removeByForce('pods', 'shop/two');
  made.bench.converge();
  assert.deepEqual(
    [...made.bench.keys('ips'), ...made.bench.rowIds('Logical_Switch_Port')].filter((name) => name.startsWith('two.')),
    [],
  );
  assert.equal(made.bench.allocation.ledger.usage('fast')?.v4?.using, 2n);
});

test('pods that are created and deleted do not use up a Subnet for addresses only', () => {
  const made = scene();
  for (let i = 0; i < 16; i++) {
    made.bench.removeByForce('pods', 'shop/web');
    made.pod('web', attached);
    made.bench.converge();
    assert.equal(made.annotations('shop/web')['wide.infra.kubernetes.io/allocated'], 'true');
    assert.equal(made.bench.allocation.ledger.usage('wide')?.v4?.using, 1n);
  }
  made.bench.removeByForce('pods', 'shop/web');
  made.bench.converge();
  assert.equal(made.bench.allocation.ledger.usage('wide')?.v4?.using, 0n);
});

test('a completed pod releases the addresses of all its interfaces', () => {
  const made = scene();
  made.bench.put('pods', {
    metadata: { name: 'web', namespace: 'shop' },
    spec: { nodeName: 'n1', restartPolicy: 'Never' },
    status: { phase: 'Succeeded' },
  });
  made.bench.converge();
  assert.deepEqual(
    [...made.bench.keys('ips'), ...made.bench.rowIds('Logical_Switch_Port')].filter((name) => name.startsWith('web.')),
    [],
  );
});
