import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkInvariants } from '../../../invariants/check-invariants.ts';
import { permutations } from '../../../testing/permutations.ts';
import { PodScene } from '../../../testing/pod-scene.ts';

const NETWORKS = 'k8s.v1.cni.cncf.io/networks';
const MIGRATION = 'kubevirt.io/migrationJobName';

function scene(settings: ConstructorParameters<typeof PodScene>[0] = {}, annotations: Readonly<Record<string, string>> = {}): PodScene {
  const made = new PodScene(settings);
  made.bench.put('nodes', { metadata: { name: 'n2' }, spec: {}, status: { addresses: [{ type: 'InternalIP', address: '192.168.1.12' }] } });
  made.machine('vm');
  made.pod('virt-launcher-vm-a', { machine: 'vm', annotations, spec: { restartPolicy: 'Never' } });
  made.bench.converge();
  return made;
}

function facts(made: PodScene): readonly unknown[] {
  const { v4IpAddress, macAddress } = made.bench.object('ips', 'vm.shop')?.spec ?? {};
  return [v4IpAddress, macAddress, made.portAddresses('vm.shop')];
}

function using(made: PodScene): bigint | undefined {
  return made.bench.allocation.ledger.usage('ovn-default')?.v4?.using;
}

function ended(made: PodScene, name: string, phase: 'Succeeded' | 'Failed'): void {
  const pod = made.bench.object('pods', `shop/${name}`);
  assert.ok(pod);
  made.bench.put('pods', { metadata: pod.metadata, spec: pod.spec, status: { ...pod.status, phase } });
}

function uidOfRow(made: PodScene, port: string): string | undefined {
  return [...made.bench.northbound.table('Logical_Switch_Port').values()].find((row) => row['name'] === port)?._uuid;
}

test('the IP object, port and annotations of a launcher have the name of its machine', () => {
  const made = scene();
  const ip = made.bench.object('ips', 'vm.shop');
  assert.deepEqual([ip?.spec['podName'], ip?.spec['podType'], ip?.spec['nodeName']], ['vm', 'VirtualMachine', 'n1']);
  assert.equal(made.externalIds('Logical_Switch_Port', 'vm.shop')['pod'], 'shop/vm');
  assert.equal(made.annotations('shop/virt-launcher-vm-a')['ovn.kubernetes.io/virtualmachine'], 'vm');
  assert.deepEqual(made.portAddresses('vm.shop'), [`${String(ip?.spec['macAddress'])} ${made.addressOf('shop/virt-launcher-vm-a')}`]);
  assert.equal(made.bench.object('ips', 'virt-launcher-vm-a.shop'), undefined);
  const fresh = made.bench.restarted();
  fresh.converge();
  assert.equal(fresh.writes, 0);
});

test('without the setting a launcher is a pod like others', () => {
  const made = scene({ keepVmIp: false });
  assert.equal(made.bench.object('ips', 'virt-launcher-vm-a.shop')?.spec['podType'], '');
  made.bench.removeByForce('pods', 'shop/virt-launcher-vm-a');
  made.bench.converge();
  assert.equal(using(made), 0n);
});

test('a stopped machine retains address, MAC and port, over a restart of the controller and after a failure', () => {
  for (const end of ['gone', 'Failed', 'Succeeded'] as const) {
    const made = scene();
    const before = facts(made);
    const row = uidOfRow(made, 'vm.shop');
    const pod = 'shop/virt-launcher-vm-a';
    const address = made.addressOf(pod);
    if (end === 'gone') made.bench.removeByForce('pods', pod);
    else ended(made, 'virt-launcher-vm-a', end);
    made.bench.removeByForce('virtualmachineinstances', 'shop/vm');
    made.bench.converge();
    assert.deepEqual(facts(made), before, end);
    assert.deepEqual(made.bench.row('Port_Group', 'node.n1')?.['ports'], []);

    const fresh = made.bench.restarted();
    fresh.put('pods', { metadata: { name: 'thief', namespace: 'shop' }, spec: { nodeName: 'n1' } });
    fresh.converge();
    assert.notEqual(fresh.object('pods', 'shop/thief')?.metadata.annotations?.['ovn.kubernetes.io/ip_address'], address);
    made.bench.removeByForce('pods', pod);
    made.bench.put('virtualmachineinstances', { metadata: { name: 'vm', namespace: 'shop' }, spec: {} });
    made.pod('virt-launcher-vm-b', { machine: 'vm', node: 'n2' });
    made.bench.converge();
    assert.deepEqual(facts(made), before, `${end}, started again`);
    assert.equal(uidOfRow(made, 'vm.shop'), row);
    assert.equal(made.addressOf('shop/virt-launcher-vm-b'), address);
    assert.deepEqual(made.bench.row('Port_Group', 'node.n2')?.['ports'], ['Logical_Switch_Port/vm.shop']);
  }
});

test('address and port are deleted with the machine, in whatever order machine, instance and pod are deleted', () => {
  const deletions = [
    ({ bench }: PodScene): void => bench.removeByForce('virtualmachines', 'shop/vm'),
    ({ bench }: PodScene): void => bench.removeByForce('virtualmachineinstances', 'shop/vm'),
    ({ bench }: PodScene): void => bench.removeByForce('pods', 'shop/virt-launcher-vm-a'),
  ];
  for (const order of ['012', '021', '102', '120', '201', '210']) {
    const made = scene();
    for (const [i, step] of order.split('').entries()) {
      deletions[Number(step)]?.(made);
      made.bench.converge();
      if (i < 2) assert.notEqual(made.portAddresses('vm.shop'), undefined, `${order}: while one of them is there`);
    }
    assert.deepEqual([facts(made), using(made)], [[undefined, undefined, undefined], 0n], order);
  }
});

test("deletion of a stopped machine's IP object frees the address, and the machine gets another one", () => {
  const made = scene();
  made.bench.removeByForce('pods', 'shop/virt-launcher-vm-a');
  made.bench.converge();
  made.bench.delete('ips', 'vm.shop');
  made.bench.converge();
  assert.deepEqual([facts(made), using(made)], [[undefined, undefined, undefined], 0n]);
  made.pod('virt-launcher-vm-b', { machine: 'vm' });
  made.bench.converge();
  assert.equal(made.bench.object('ips', 'vm.shop')?.spec['v4IpAddress'], made.addressOf('shop/virt-launcher-vm-b'));
});

test('a machine that is being deleted gives its address up when its pod is gone', () => {
  const made = scene();
  made.bench.put('virtualmachines', {
    metadata: { name: 'vm', namespace: 'shop', finalizers: ['kubevirt.io/virtualMachineControllerFinalize'] },
  });
  made.bench.delete('virtualmachines', 'shop/vm');
  made.bench.removeByForce('virtualmachineinstances', 'shop/vm');
  made.bench.converge();
  assert.notEqual(made.portAddresses('vm.shop'), undefined, 'while its pod runs');
  made.bench.removeByForce('pods', 'shop/virt-launcher-vm-a');
  made.bench.converge();
  assert.deepEqual(facts(made), [undefined, undefined, undefined]);
});

test('a machine recreated while it was stopped gets an address of its own', () => {
  const made = scene();
  const first = made.bench.object('ips', 'vm.shop')?.metadata.uid;
  made.bench.removeByForce('pods', 'shop/virt-launcher-vm-a');
  made.bench.removeByForce('virtualmachines', 'shop/vm');
  made.bench.removeByForce('virtualmachineinstances', 'shop/vm');
  made.machine('vm');
  made.pod('virt-launcher-vm-b', { machine: 'vm' });
  made.bench.converge();
  assert.notEqual(made.bench.object('ips', 'vm.shop')?.metadata.uid, first);
  assert.deepEqual(made.portAddresses('vm.shop'), [
    `${String(made.bench.object('ips', 'vm.shop')?.spec['macAddress'])} ${made.addressOf('shop/virt-launcher-vm-b')}`,
  ]);
});

function migrating(): PodScene {
  const made = scene();
  made.pod('virt-launcher-vm-b', { machine: 'vm', node: 'n2', annotations: { [MIGRATION]: 'job' }, spec: { restartPolicy: 'Never' } });
  made.bench.converge();
  return made;
}

test('in a live migration two pods share one address and one port, and it is freed when the machine is deleted', () => {
  const made = scene();
  const before = facts(made);
  const row = uidOfRow(made, 'vm.shop');
  made.pod('virt-launcher-vm-b', { machine: 'vm', node: 'n2', annotations: { [MIGRATION]: 'job' }, spec: { restartPolicy: 'Never' } });
  made.bench.converge();
  assert.deepEqual(facts(made), before);
  assert.equal(using(made), 1n);
  for (const pod of ['shop/virt-launcher-vm-a', 'shop/virt-launcher-vm-b']) {
    assert.equal(made.addressOf(pod), before[0]);
    assert.equal(made.annotations(pod)['ovn.kubernetes.io/routed'], 'true');
    assert.equal(made.bench.condition('pods', pod, 'kiln.io/NetworkBound'), undefined);
  }
  assert.equal(made.bench.object('ips', 'vm.shop')?.spec['nodeName'], 'n1');
  assert.deepEqual(made.bench.map('Logical_Switch_Port', 'vm.shop', 'options'), {
    'requested-chassis': 'n1,n2',
    'activation-strategy': 'rarp',
  });
  assert.deepEqual(checkInvariants({ world: made.bench.world, plan: { rows: [], objects: [] } }), []);
  const fresh = made.bench.restarted();
  fresh.converge();
  assert.equal(fresh.writes, 0);

  ended(made, 'virt-launcher-vm-a', 'Succeeded');
  made.bench.converge();
  assert.deepEqual(facts(made), before, 'the source has completed');
  assert.equal(made.bench.object('ips', 'vm.shop')?.spec['nodeName'], 'n2');
  assert.deepEqual(made.bench.map('Logical_Switch_Port', 'vm.shop', 'options'), {});
  assert.deepEqual(made.bench.row('Port_Group', 'node.n1')?.['ports'], []);
  made.bench.removeByForce('pods', 'shop/virt-launcher-vm-a');
  made.bench.converge();
  assert.deepEqual([facts(made), uidOfRow(made, 'vm.shop'), using(made)], [before, row, 1n], 'the source is gone');

  made.bench.removeByForce('virtualmachines', 'shop/vm');
  made.bench.removeByForce('virtualmachineinstances', 'shop/vm');
  made.bench.converge();
  assert.deepEqual(facts(made), before, 'while its pod runs');
  made.bench.removeByForce('pods', 'shop/virt-launcher-vm-b');
  made.bench.converge();
  assert.equal(using(made), 0n);
});

test('a migration that is aborted leaves the source untouched', () => {
  for (const end of ['gone', 'Failed'] as const) {
    const made = migrating();
    const before = facts(made);
    if (end === 'gone') made.bench.removeByForce('pods', 'shop/virt-launcher-vm-b');
    else ended(made, 'virt-launcher-vm-b', 'Failed');
    made.bench.converge();
    assert.deepEqual(facts(made), before);
    assert.equal(made.externalIds('Logical_Switch_Port', 'vm.shop')['kiln.io/owner'], 'pod/shop/virt-launcher-vm-a');
    assert.deepEqual(made.bench.map('Logical_Switch_Port', 'vm.shop', 'options'), {});
    assert.deepEqual(made.bench.row('Port_Group', 'node.n1')?.['ports'], ['Logical_Switch_Port/vm.shop']);
    assert.deepEqual(made.bench.row('Port_Group', 'node.n2')?.['ports'], []);
  }
});

test('source and target that are deleted in either order, machine first or last, leave nothing', () => {
  const names = [
    'virtualmachines shop/vm',
    'virtualmachineinstances shop/vm',
    'pods shop/virt-launcher-vm-a',
    'pods shop/virt-launcher-vm-b',
  ];
  for (const order of permutations(names)) {
    const made = migrating();
    for (const name of order) {
      const [resource, key] = name.split(' ') as ['pods', string];
      made.bench.removeByForce(resource, key);
      made.bench.converge();
    }
    assert.deepEqual([facts(made), using(made)], [[undefined, undefined, undefined], 0n], order.join(', '));
  }
});

test('attached networks of a machine are retained while it is stopped, and released when it is detached from them', () => {
  const made = new PodScene();
  made.attachment('shop/fast', 'kube-ovn');
  made.subnet('fast', { cidrBlock: '10.50.0.0/24', provider: 'fast.shop.ovn' });
  const template = {
    spec: {
      networks: [
        { name: 'default', pod: {} },
        { name: 'fast', multus: { networkName: 'fast' } },
      ],
    },
  };
  made.machine('vm', template);
  const input = { machine: 'vm', annotations: { [NETWORKS]: '[{"name":"fast","namespace":"shop","interface":"pod37a8eec1ce1"}]' } };
  made.pod('virt-launcher-vm-a', input);
  made.bench.converge();
  const portAddress = made.portAddresses('vm.shop.fast.shop.ovn');
  assert.ok(portAddress);
  made.bench.removeByForce('pods', 'shop/virt-launcher-vm-a');
  made.bench.converge();
  assert.deepEqual(made.portAddresses('vm.shop.fast.shop.ovn'), portAddress);
  made.bench.edit('virtualmachines', 'shop/vm', { template: {} });
  made.bench.converge();
  assert.equal(made.portAddresses('vm.shop.fast.shop.ovn'), undefined);
  assert.notEqual(made.portAddresses('vm.shop'), undefined);
});

test('an interface that only the target of a migration has is made before the migration ends', () => {
  const made = scene();
  made.attachment('shop/fast', 'kube-ovn');
  made.subnet('fast', { cidrBlock: '10.50.0.0/24', provider: 'fast.shop.ovn' });
  made.pod('virt-launcher-vm-b', { machine: 'vm', node: 'n2', annotations: { [MIGRATION]: 'job', [NETWORKS]: 'fast' } });
  made.bench.converge();
  assert.equal(made.annotations('shop/virt-launcher-vm-b')['fast.shop.ovn.kubernetes.io/allocated'], 'true');
  assert.equal(made.annotations('shop/virt-launcher-vm-b')['ovn.kubernetes.io/allocated'], 'true');
  assert.equal(made.annotations('shop/virt-launcher-vm-a')['fast.shop.ovn.kubernetes.io/allocated'], undefined);
});

test('the target of a migration reports what the source waits for', () => {
  const made = scene({}, { [NETWORKS]: 'shop/nowhere' });
  made.pod('virt-launcher-vm-b', { machine: 'vm', node: 'n2', annotations: { [MIGRATION]: 'job' }, spec: { restartPolicy: 'Never' } });
  made.bench.converge();
  const annotationsOf = (pod: string): readonly (string | undefined)[] => {
    const one = made.bench.condition('pods', pod, 'kiln.io/NetworkBound');
    return [one?.status, one?.reason, one?.message];
  };
  const [, reason, message = ''] = annotationsOf('shop/virt-launcher-vm-a');
  assert.match(message, /nowhere/);
  const target = annotationsOf('shop/virt-launcher-vm-b');
  assert.deepEqual(target.slice(0, 2), ['False', reason]);
  assert.match(target[2] ?? '', /Pod shop\/virt-launcher-vm-a, which runs the same virtual machine .*nowhere/);
});

test('a machine that is declared in another Subnet while it is stopped moves there', () => {
  const made = scene();
  made.subnet('red', { cidrBlock: '10.40.0.0/24' });
  made.bench.removeByForce('pods', 'shop/virt-launcher-vm-a');
  made.bench.edit('virtualmachines', 'shop/vm', { template: { metadata: { annotations: { 'ovn.kubernetes.io/logical_switch': 'red' } } } });
  made.bench.converge();
  assert.equal(using(made), 0n);
  made.pod('virt-launcher-vm-b', { machine: 'vm', annotations: { 'ovn.kubernetes.io/logical_switch': 'red' } });
  made.bench.converge();
  assert.equal(made.addressOf('shop/virt-launcher-vm-b'), '10.40.0.2');
  assert.equal(made.bench.keys('ips').filter((name) => name.startsWith('vm.')).length, 1);
});

test('a machine that names another address releases the old one: at once while it is stopped, else with the next launcher', () => {
  const made = scene();
  const named = (address: string): Record<string, string> => ({ 'ovn.kubernetes.io/ip_address': address });
  const declare = (address: string): void => {
    made.bench.edit('virtualmachines', 'shop/vm', { template: { metadata: { annotations: named(address) } } });
  };
  made.bench.removeByForce('pods', 'shop/virt-launcher-vm-a');
  declare('10.16.0.50');
  made.bench.converge();
  assert.equal(using(made), 0n);
  made.pod('virt-launcher-vm-b', { machine: 'vm', annotations: named('10.16.0.50') });
  made.bench.converge();
  assert.match(String(made.portAddresses('vm.shop')), / 10\.16\.0\.50$/);
  declare('10.16.0.51');
  made.pod('virt-launcher-vm-c', { machine: 'vm', node: 'n2', annotations: { ...named('10.16.0.51'), [MIGRATION]: 'job' } });
  made.bench.converge();
  assert.equal(made.addressOf('shop/virt-launcher-vm-c'), '10.16.0.50', 'a machine that moves keeps what it has');
  made.bench.removeByForce('pods', 'shop/virt-launcher-vm-b');
  made.bench.removeByForce('pods', 'shop/virt-launcher-vm-c');
  made.pod('virt-launcher-vm-d', { machine: 'vm', annotations: named('10.16.0.51') });
  made.bench.converge();
  assert.match(String(made.portAddresses('vm.shop')), / 10\.16\.0\.51$/);
  assert.equal(using(made), 1n);
});
