/**
 * Live migration of a virtual machine: KubeVirt reports it by the migration's phase; without a migration the instance shows it, without an
 * instance the pods.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkInvariants } from '../../../invariants/check-invariants.ts';
import { PodScene } from '../../../testing/pod-scene.ts';

const NAME = 'kubevirt.io/migrationJobName';
const UID = 'kubevirt.io/migrationJobUID';
const PORT = 'vm.shop';

function scene(): PodScene {
  const made = new PodScene();
  for (const [i, name] of ['n2', 'n3'].entries())
    made.bench.put('nodes', { metadata: { name }, spec: {}, status: { addresses: [{ type: 'InternalIP', address: `192.168.1.2${i}` }] } });
  made.machine('vm');
  made.pod('a', { machine: 'vm', spec: { restartPolicy: 'Never' } });
  made.bench.converge();
  return made;
}

/** Creates or updates the migration. */
function migration(made: PodScene, name: string, phase: string): void {
  made.bench.put('virtualmachineinstancemigrations', { metadata: { name, namespace: 'shop' }, spec: { vmiName: 'vm' }, status: { phase } });
}

function uidOf(made: PodScene, name: string): string {
  return made.bench.object('virtualmachineinstancemigrations', `shop/${name}`)?.metadata.uid ?? '';
}

/** The target pod, as KubeVirt creates it: with the migration's name and uid. */
function target(made: PodScene, pod: string, node: string, job: string, uid = uidOf(made, job)): void {
  made.pod(pod, { machine: 'vm', node, annotations: { [NAME]: job }, spec: { restartPolicy: 'Never' } });
  const { metadata, spec } = made.bench.object('pods', `shop/${pod}`) ?? assert.fail();
  made.bench.put('pods', { metadata: { ...metadata, ...(uid !== '' && { labels: { [UID]: uid } }) }, spec });
}

function ended(made: PodScene, name: string, phase: 'Succeeded' | 'Failed'): void {
  const { metadata, spec, status } = made.bench.object('pods', `shop/${name}`) ?? assert.fail();
  made.bench.put('pods', { metadata, spec, status: { ...status, phase } });
}

interface Seen {
  readonly options: object;
  readonly lead: string;
  readonly node: unknown;
}

/** All reports, once converged: one address has one object, one port and no conflict, and a new controller writes nothing. */
function seen(made: PodScene, address: string | undefined): Seen {
  const { bench } = made;
  bench.converge();
  assert.equal(bench.allocation.ledger.usage('ovn-default')?.v4?.using, 1n);
  assert.deepEqual(
    bench.keys('ips').filter((name) => name.startsWith('vm.')),
    [PORT],
  );
  assert.deepEqual(made.portAddresses(PORT), [`${String(bench.object('ips', PORT)?.spec['macAddress'])} ${address}`]);
  assert.deepEqual(checkInvariants({ world: bench.world, plan: { rows: [], objects: [] } }), []);
  for (const pod of bench.keys('pods')) {
    assert.equal(made.addressOf(pod), address, pod);
    assert.equal(bench.condition('pods', pod, 'kiln.io/NetworkBound'), undefined, pod);
  }
  assert.equal(bench.writesAfterRestart(), 0, 'a controller that starts now');
  const lead = made.externalIds('Logical_Switch_Port', PORT)['kiln.io/owner']?.replace('pod/shop/', '') ?? '';
  return { options: bench.map('Logical_Switch_Port', PORT, 'options'), lead, node: bench.object('ips', PORT)?.spec['nodeName'] };
}

const both = { 'requested-chassis': 'n1,n2', 'activation-strategy': 'rarp' };
const only = (chassis: string): object => ({ 'requested-chassis': chassis });
const atSource = { lead: 'a', node: 'n1' };
const atTarget = { lead: 'b', node: 'n2' };

test('it succeeds: both chassis until then, then the target leads, while the source still runs, has completed, is gone', () => {
  const made = scene();
  const address = made.addressOf('shop/a');
  migration(made, 'move', 'Pending');
  assert.deepEqual(seen(made, address), { options: {}, ...atSource });
  migration(made, 'move', 'Scheduling');
  target(made, 'b', '', 'move');
  assert.deepEqual(seen(made, address).options, {}, 'its target has no node yet');
  target(made, 'b', 'n2', 'move');
  for (const phase of ['Scheduling', 'Scheduled', 'PreparingTarget', 'TargetReady', 'Running']) {
    migration(made, 'move', phase);
    assert.deepEqual(seen(made, address), { options: both, ...atSource }, phase);
  }
  migration(made, 'move', 'Succeeded');
  assert.deepEqual(seen(made, address), { options: only('n2'), ...atTarget });
  ended(made, 'a', 'Succeeded');
  assert.deepEqual(seen(made, address), { options: only('n2'), ...atTarget });
  made.bench.removeByForce('pods', 'shop/a');
  assert.deepEqual(seen(made, address), { options: {}, ...atTarget });
  assert.deepEqual(made.bench.row('Port_Group', 'node.n1')?.['ports'], []);
  assert.deepEqual(made.bench.row('Port_Group', 'node.n2')?.['ports'], [`Logical_Switch_Port/${PORT}`]);
});

test('failed or aborted: the address stays with the source, whose chassis the port has until the target is gone', () => {
  for (const end of ['alive', 'Failed', 'Succeeded'] as const) {
    const made = scene();
    const address = made.addressOf('shop/a');
    migration(made, 'move', 'Running');
    target(made, 'b', 'n2', 'move');
    assert.deepEqual(seen(made, address), { options: both, ...atSource });
    migration(made, 'move', 'Failed');
    if (end !== 'alive') ended(made, 'b', end);
    assert.deepEqual(seen(made, address), { options: only('n1'), ...atSource }, end);
    made.bench.removeByForce('virtualmachineinstancemigrations', 'shop/move');
    if (end !== 'alive') assert.deepEqual(seen(made, address).lead, 'a');
    made.bench.removeByForce('pods', 'shop/b');
    assert.deepEqual(seen(made, address), { options: {}, ...atSource });
    assert.deepEqual(made.bench.row('Port_Group', 'node.n2')?.['ports'], []);
  }
});

test('a target whose pod completes before the migration reports its result leaves the address with the source', () => {
  const made = scene();
  const address = made.addressOf('shop/a');
  migration(made, 'move', 'Running');
  target(made, 'b', 'n2', 'move');
  seen(made, address);
  ended(made, 'b', 'Succeeded');
  assert.deepEqual(seen(made, address), { options: {}, ...atSource });
});

test('one move after the other: each target is the next source', () => {
  const made = scene();
  const address = made.addressOf('shop/a');
  for (const [job, pod, from, on, to] of [
    ['first', 'b', 'a', 'n1', 'n2'],
    ['second', 'c', 'b', 'n2', 'n3'],
  ] as const) {
    migration(made, job, 'Running');
    target(made, pod, to, job);
    assert.deepEqual(seen(made, address), {
      options: { 'requested-chassis': `${on},${to}`, 'activation-strategy': 'rarp' },
      lead: from,
      node: on,
    });
    migration(made, job, 'Succeeded');
    assert.deepEqual(seen(made, address), { options: only(to), lead: pod, node: to });
    ended(made, from, 'Succeeded');
    seen(made, address);
    if (job === 'first') made.bench.removeByForce('pods', 'shop/a');
  }
  made.bench.removeByForce('virtualmachineinstancemigrations', 'shop/first');
  made.bench.removeByForce('pods', 'shop/b');
  assert.deepEqual(seen(made, address), { options: {}, lead: 'c', node: 'n3' });
});

test('a second move fails while the pod that the first one left is still there: the reached target keeps the address', () => {
  const made = scene();
  const address = made.addressOf('shop/a');
  migration(made, 'first', 'Succeeded');
  target(made, 'b', 'n2', 'first');
  assert.deepEqual(seen(made, address), { options: only('n2'), ...atTarget });
  migration(made, 'second', 'Running');
  target(made, 'c', 'n3', 'second');
  assert.deepEqual(seen(made, address), { options: { 'requested-chassis': 'n2,n3', 'activation-strategy': 'rarp' }, ...atTarget });
  migration(made, 'second', 'Failed');
  assert.deepEqual(seen(made, address), { options: only('n2'), ...atTarget });
});

test('when the migration is gone its instance has the result; an instance of another uid does not count', () => {
  const made = scene();
  const address = made.addressOf('shop/a');
  migration(made, 'move', 'Running');
  const uid = uidOf(made, 'move');
  target(made, 'b', 'n2', 'move');
  made.bench.removeByForce('virtualmachineinstancemigrations', 'shop/move');
  assert.deepEqual(seen(made, address), { options: both, ...atSource }, 'pods alone');
  migration(made, 'move', 'Failed');
  assert.notEqual(uidOf(made, 'move'), uid);
  assert.deepEqual(seen(made, address), { options: both, ...atSource }, 'another migration under its name');
  const state = (migrationUid: string, end: object): void => {
    const { metadata, spec } = made.bench.object('virtualmachineinstances', 'shop/vm') ?? assert.fail();
    made.bench.put('virtualmachineinstances', { metadata, spec, status: { migrationState: { migrationUid, ...end } } });
  };
  state('another', { failed: true, completed: true });
  assert.deepEqual(seen(made, address), { options: both, ...atSource });
  state(uid, { failed: true, completed: true });
  assert.deepEqual(seen(made, address), { options: only('n1'), ...atSource });
  state(uid, { completed: true });
  assert.deepEqual(seen(made, address), { options: only('n2'), ...atTarget });
});

/** The Subnet of the machine is being deleted; the target of a migration is created before or after that. */
function leaving(targetComes: 'before' | 'after'): { readonly made: PodScene; readonly converge: () => void } {
  const made = new PodScene();
  const { bench } = made;
  bench.put('nodes', { metadata: { name: 'n2' }, spec: {} });
  made.subnet('red', { cidrBlock: '10.40.0.0/24', namespaces: ['shop'] });
  made.machine('vm');
  made.pod('a', { machine: 'vm' });
  bench.converge();
  const before = made.portAddresses(PORT);
  assert.match(String(before), / 10\.40\.0\.2$/);
  if (targetComes === 'before') target(made, 'b', 'n2', 'move', '');
  bench.converge();
  bench.delete('subnets', 'red');
  bench.converge();
  if (targetComes === 'after') target(made, 'b', 'n2', 'move', '');
  const converge = (): void => {
    do assert.deepEqual(made.portAddresses(PORT), before);
    while (bench.step());
  };
  return { made, converge };
}

test('a machine whose source is about to end when its target comes keeps its port in a Subnet that is being deleted, which is deleted after it', () => {
  const { made, converge } = leaving('after');
  const { bench } = made;
  const { metadata, spec } = bench.object('pods', 'shop/a') ?? assert.fail();
  const ending = { ...metadata, deletionTimestamp: '2026-03-01T00:00:00Z', deletionGracePeriodSeconds: 30 };
  bench.put('pods', { metadata: ending, spec });
  converge();
  bench.removeByForce('pods', 'shop/a');
  converge();
  assert.deepEqual([made.addressOf('shop/b'), bench.keys('subnets').includes('red')], ['10.40.0.2', true]);
  bench.removeByForce('virtualmachines', 'shop/vm');
  bench.removeByForce('virtualmachineinstances', 'shop/vm');
  bench.removeByForce('pods', 'shop/b');
  bench.converge();
  assert.deepEqual([made.portAddresses(PORT), bench.object('subnets', 'red')], [undefined, undefined]);
});

test('a machine whose source pod is recreated keeps its port in a Subnet that is being deleted, where its target has it', () => {
  const { made, converge } = leaving('before');
  made.bench.removeByForce('pods', 'shop/a');
  made.pod('a', { machine: 'vm' });
  converge();
  assert.deepEqual([made.addressOf('shop/a'), made.addressOf('shop/b')], ['10.40.0.2', '10.40.0.2']);
});

test('a machine that is stopped during a migration keeps its address and has no chassis', () => {
  const made = scene();
  const portAddress = made.portAddresses(PORT);
  migration(made, 'move', 'Running');
  target(made, 'b', 'n2', 'move');
  made.bench.converge();
  assert.deepEqual(made.bench.map('Logical_Switch_Port', PORT, 'options'), both);
  for (const pod of ['shop/a', 'shop/b']) made.bench.removeByForce('pods', pod);
  made.bench.removeByForce('virtualmachineinstances', 'shop/vm');
  made.bench.converge();
  assert.deepEqual([made.portAddresses(PORT), made.bench.map('Logical_Switch_Port', PORT, 'options')], [portAddress, {}]);
});

test('activation_strategy: the port of that interface is inactive on its node until it announces itself; without the annotation it is active', () => {
  const made = new PodScene();
  made.pod('web', { annotations: { 'ovn.kubernetes.io/activation_strategy': 'rarp' } });
  made.bench.converge();
  assert.deepEqual(made.bench.map('Logical_Switch_Port', 'web.shop', 'options'), {
    'requested-chassis': 'n1,n1',
    'activation-strategy': 'rarp',
  });
  assert.deepEqual(
    made.bench.events.filter(({ reason }) => reason === 'NotCarriedOut'),
    [],
  );
  const { metadata, spec } = made.bench.object('pods', 'shop/web') ?? assert.fail();
  const annotations = Object.fromEntries(
    Object.entries(metadata.annotations ?? {}).filter(([key]) => !key.endsWith('activation_strategy')),
  );
  made.bench.put('pods', { metadata: { ...metadata, annotations }, spec });
  made.bench.converge();
  assert.deepEqual(made.bench.map('Logical_Switch_Port', 'web.shop', 'options'), {});
});

test('nodes whose chassis have other names, as by the packages of a host: the port has these, and an edit of one is followed', () => {
  const made = scene();
  const address = made.addressOf('shop/a');
  const named = (node: string, chassis: string): void => {
    const { metadata, spec, status } = made.bench.object('nodes', node) ?? assert.fail(node);
    made.bench.put('nodes', {
      metadata: { ...metadata, annotations: { ...metadata.annotations, 'ovn.kubernetes.io/chassis': chassis } },
      spec,
      ...(status !== undefined && { status }),
    });
  };
  named('n1', 'c7a5');
  named('n2', 'n2.example.org');
  migration(made, 'move', 'Running');
  target(made, 'b', 'n2', 'move');
  const options = (requested: string): object => ({ 'requested-chassis': requested, 'activation-strategy': 'rarp' });
  assert.deepEqual(seen(made, address), { options: options('c7a5,n2.example.org'), ...atSource });
  named('n2', 'b8b8');
  assert.deepEqual(seen(made, address), { options: options('c7a5,b8b8'), ...atSource });
  migration(made, 'move', 'Succeeded');
  assert.deepEqual(seen(made, address), { options: only('b8b8'), ...atTarget });
});

test('a pod that is silent at first has the chassis of its node', () => {
  const made = scene();
  const { metadata, spec, status } = made.bench.object('nodes', 'n2') ?? assert.fail();
  made.bench.put('nodes', {
    metadata: { ...metadata, annotations: { ...metadata.annotations, 'ovn.kubernetes.io/chassis': 'c9' } },
    spec,
    ...(status !== undefined && { status }),
  });
  for (const [node, chassis] of [
    ['n2', 'c9'],
    ['n3', 'n3'],
  ] as const) {
    made.pod(`quiet-${node}`, { node, annotations: { 'ovn.kubernetes.io/activation_strategy': 'rarp' } });
    made.bench.converge();
    const options = made.bench.map('Logical_Switch_Port', `quiet-${node}.shop`, 'options');
    assert.deepEqual(options, { 'requested-chassis': `${chassis},${chassis}`, 'activation-strategy': 'rarp' });
  }
});
