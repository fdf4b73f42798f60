/** Virtual machines of KubeVirt: the machine, its instance and its launcher pods, as KubeVirt's controllers create them. */
import assert from 'node:assert/strict';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { attachmentYaml, NETWORKS } from './attachments.ts';
import { port, rowsNamed, traces } from './northbound.ts';
import { addressOf, condition, untilDeleted, namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

export function kindYaml(kind: string, short: string): string {
  const singular = kind.toLowerCase();
  return `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${singular}s.kubevirt.io}
spec:
  group: kubevirt.io
  scope: Namespaced
  names: {plural: ${singular}s, singular: ${singular}, kind: ${kind}, shortNames: [${short}]}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`;
}

export const KINDS = kindYaml('VirtualMachine', 'vm') + kindYaml('VirtualMachineInstance', 'vmi');
/** @param annotations of the pod template @param networks that the machine is attached to */
export function machineYaml(
  namespace: string,
  annotations: Readonly<Record<string, string>> = {},
  networks: readonly object[] = [],
): string {
  const template = JSON.stringify({ metadata: { annotations }, spec: { networks } });
  return `---\napiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: vm, namespace: ${namespace}}\nspec: {template: ${template}}\n`;
}

export const instanceYaml = (namespace: string): string =>
  `---\napiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: vm, namespace: ${namespace}}\nspec: {}\n`;

const machine = machineYaml('virt');
const instance = instanceYaml('virt');

export async function launch(
  cluster: ScenarioCluster,
  name: string,
  node: string,
  annotations: Readonly<Record<string, string>> = {},
  namespace = 'virt',
): Promise<void> {
  const { uid } = (await cluster.get('vmi', 'vm', namespace)).metadata;
  const owner = [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid }];
  const pod = podYaml(namespace, name, { node, annotations, restartPolicy: 'Never' });
  await cluster.apply(pod.replace('  annotations:', `  ownerReferences: ${JSON.stringify(owner)}\n  annotations:`));
}

export async function installKinds(cluster: ScenarioCluster): Promise<void> {
  await cluster.apply(KINDS);
  const established = ['wait', '--for=condition=Established', '--timeout=120s'];
  // kubectl fails while a definition has no conditions yet.
  await cluster.eventually('the definitions are established', async () => {
    await cluster.kubectl([...established, 'crd/virtualmachines.kubevirt.io', 'crd/virtualmachineinstances.kubevirt.io']);
    return true;
  });
  // The API server serves a kind a moment after its definition is established.
  await cluster.eventually('machines and instances are served', async () => {
    await cluster.kubectl(['get', 'vm,vmi', '-A']);
    return true;
  });
  // A controller checks at its start which kinds are served.
  await cluster.controller.stop();
  cluster.startController();
}

async function stopMachine(cluster: ScenarioCluster, namespace: string, launcher: string): Promise<void> {
  await cluster.delete('vmi', 'vm', namespace);
  await untilDeleted(cluster, 'vmi', 'vm', namespace);
  await cluster.kubectl(['delete', 'pod', launcher, '-n', namespace, '--wait=false', '--ignore-not-found']);
  await untilDeleted(cluster, 'pod', launcher, namespace);
}

export const virtualMachines: readonly Scenario[] = [
  {
    alone: true,
    name: 'C23, C59 an interface of a virtual machine moves to another Subnet, by way of a missing one: the other interface keeps address and MAC, the old Subnet is empty',
    run: async (cluster) => {
      await installKinds(cluster);
      const [node = ''] = cluster.nodes;
      const all =
        namespaceYaml('c23') +
        vpcYaml('c23') +
        attachmentYaml('c23', 'second', '{"cniVersion":"0.3.0","type":"kube-ovn"}') +
        subnetYaml('c23-one', { vpc: 'c23', cidrBlock: '10.177.0.0/24', namespaces: ['c23'] }) +
        subnetYaml('c23-two', { vpc: 'c23', cidrBlock: '10.177.1.0/24', provider: 'second.c23.ovn' }) +
        subnetYaml('c23-three', { vpc: 'c23', cidrBlock: '10.177.2.0/24' });
      const SWITCH = 'ovn.kubernetes.io/logical_switch';
      const networks = [{ name: 'second', multus: { networkName: 'c23/second' } }];
      const start = async (launcher: string, subnet: string): Promise<void> => {
        await cluster.apply(machineYaml('c23', { [SWITCH]: subnet }, networks) + instanceYaml('c23'));
        await launch(cluster, launcher, node, { [SWITCH]: subnet, [NETWORKS]: 'c23/second' }, 'c23');
      };
      const using = async (subnet: string): Promise<unknown> => (await cluster.get('subnet', subnet)).status?.['v4usingIPs'];
      await cluster.apply(all);
      await start('launcher-a', 'c23-one');
      const first = await addressOf(cluster, 'c23', 'launcher-a');
      assert.match(first, /^10\.177\.0\./);
      await cluster.converged();
      const second = port(await cluster.dump(), 'vm.c23.second.c23.ovn');
      await stopMachine(cluster, 'c23', 'launcher-a');
      await start('launcher-b', 'c23-wrong');
      const { message } = await condition(cluster, 'pod', 'launcher-b', 'kiln.io/NetworkBound', 'False', 'c23');
      assert.match(message, /c23-wrong/);
      await stopMachine(cluster, 'c23', 'launcher-b');
      await start('launcher-c', 'c23-three');
      assert.match(await addressOf(cluster, 'c23', 'launcher-c'), /^10\.177\.2\./);
      await cluster.converged();
      const kept = port(await cluster.dump(), 'vm.c23.second.c23.ovn');
      assert.deepEqual([kept['_uuid'], kept['addresses']], [second['_uuid'], second['addresses']]);
      assert.deepEqual([await using('c23-one'), await using('c23-two'), await using('c23-three')], [0, 1, 1]);
      assert.equal((await cluster.get('ip', 'vm.c23')).spec['subnet'], 'c23-three');
      await cluster.delete('vm', 'vm', 'c23');
      await stopMachine(cluster, 'c23', 'launcher-c');
      await untilDeleted(cluster, 'ip', 'vm.c23');
      await untilDeleted(cluster, 'ip', 'vm.c23.second.c23.ovn');
      await cluster.removeAll(all + KINDS);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'c23'), []);
    },
  },
  {
    alone: true,
    name: 'C11, C24 a running virtual machine and its Subnet are deleted together, in both orders: both go without a restart, and the address is free',
    run: async (cluster) => {
      await installKinds(cluster);
      const [node = ''] = cluster.nodes;
      const subnet = (cidrBlock = ''): string => subnetYaml('c11-net', { vpc: 'c11', cidrBlock, namespaces: ['c11'] });
      for (const first of ['machine', 'subnet'] as const) {
        await cluster.apply(namespaceYaml('c11') + vpcYaml('c11') + subnet('10.178.0.0/24') + machineYaml('c11') + instanceYaml('c11'));
        await launch(cluster, 'launcher', node, {}, 'c11');
        await running(cluster, 'c11', 'launcher');
        const { pid } = cluster.controller;
        if (first === 'subnet') await cluster.delete('subnet', 'c11-net');
        await cluster.kubectl(['delete', 'vm/vm', 'vmi/vm', 'pod/launcher', '-n', 'c11', '--wait=false', '--ignore-not-found']);
        if (first === 'machine') await cluster.delete('subnet', 'c11-net');
        await untilDeleted(cluster, 'subnet', 'c11-net');
        assert.equal(await cluster.find('ip', 'vm.c11'), undefined);
        assert.equal(cluster.controller.pid, pid);
        await cluster.converged();
        assert.deepEqual(traces(await cluster.dump(), 'c11-net', 'vm.c11'), []);
      }
      await cluster.removeAll(vpcYaml('c11') + namespaceYaml('c11') + KINDS);
    },
  },
  {
    // It kills controllers and checks the whole cluster.
    alone: true,
    name: 'C24, C34, C39 a virtual machine keeps its address while it is stopped and while it migrates, through restarts, and releases it when it is deleted while stopped',
    run: async (cluster) => {
      const network = vpcYaml('virt') + subnetYaml('virt-net', { vpc: 'virt', cidrBlock: '10.165.0.0/24', namespaces: ['virt'] });
      await installKinds(cluster);
      await cluster.apply(network + namespaceYaml('virt') + machine + instance);
      const nodes = cluster.nodes;
      const [first = '', second = ''] = nodes;
      await launch(cluster, 'launcher-a', first);
      const address = await addressOf(cluster, 'virt', 'launcher-a');
      const station = port(await cluster.dump(), 'vm.virt')['addresses'];

      await launch(cluster, 'launcher-b', second, { 'kubevirt.io/migrationJobName': 'move' });
      assert.equal(await addressOf(cluster, 'virt', 'launcher-b'), address);
      await cluster.converged();
      const moving = port(await cluster.dump(), 'vm.virt');
      assert.equal(moving['addresses'], station);
      assert.deepEqual(moving['options'], { 'activation-strategy': 'rarp', 'requested-chassis': `${first},${second}` });
      await cluster.invariantsHold();
      await cluster.delete('pod', 'launcher-a', 'virt');
      await untilDeleted(cluster, 'pod', 'launcher-a', 'virt');
      await cluster.converged();
      const moved = port(await cluster.dump(), 'vm.virt');
      assert.deepEqual([moved['addresses'], moved['options'], moved['_uuid']], [station, {}, moving['_uuid']]);

      await stopMachine(cluster, 'virt', 'launcher-b');
      await cluster.controller.kill9();
      cluster.startController();
      await cluster.apply(podYaml('virt', 'other'));
      assert.notEqual(await addressOf(cluster, 'virt', 'other'), address);
      assert.equal(port(await cluster.dump(), 'vm.virt')['addresses'], station, 'while it is stopped');
      await cluster.apply(instance);
      await launch(cluster, 'launcher-c', first);
      await running(cluster, 'virt', 'launcher-c');
      assert.equal(await addressOf(cluster, 'virt', 'launcher-c'), address);

      await stopMachine(cluster, 'virt', 'launcher-c');
      await cluster.delete('vm', 'vm', 'virt');
      await untilDeleted(cluster, 'ip', 'vm.virt');
      await cluster.converged();
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'vm.virt'), []);
      await cluster.removeAll(podYaml('virt', 'other') + network + namespaceYaml('virt') + KINDS);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'virt-net'), []);
    },
  },
];
