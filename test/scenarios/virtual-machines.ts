/** Virtual machines of KubeVirt, as its controllers make their objects: the machine, its instance, pods that run it. */
import assert from 'node:assert/strict';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { port, rowsNamed, traces } from './northbound.ts';
import { addressOf, gone, namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

function kindYaml(kind: string, short: string): string {
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

const kinds = kindYaml('VirtualMachine', 'vm') + kindYaml('VirtualMachineInstance', 'vmi');
const machine = '---\napiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: vm, namespace: virt}\nspec: {}\n';
const instance = '---\napiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: vm, namespace: virt}\nspec: {}\n';

async function launch(
  cluster: ScenarioCluster,
  name: string,
  node: string,
  annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { uid } = (await cluster.get('vmi', 'vm', 'virt')).metadata;
  const owner = [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid }];
  const pod = podYaml('virt', name, { node, annotations, restartPolicy: 'Never' });
  await cluster.apply(pod.replace('  annotations:', `  ownerReferences: ${JSON.stringify(owner)}\n  annotations:`));
}

export const virtualMachines: readonly Scenario[] = [
  {
    // It ends controllers and looks at the whole cluster.
    alone: true,
    name: 'C24, C34, C39 a virtual machine keeps its address while stopped and while it moves, through restarts, and gives it up when it is deleted stopped',
    run: async (cluster) => {
      const network = vpcYaml('virt') + subnetYaml('virt-net', { vpc: 'virt', cidrBlock: '10.165.0.0/24', namespaces: ['virt'] });
      await cluster.apply(kinds);
      await cluster.kubectl([
        'wait',
        '--for=condition=Established',
        'crd/virtualmachines.kubevirt.io',
        'crd/virtualmachineinstances.kubevirt.io',
      ]);
      await cluster.controller.stop();
      await cluster.apply(network + namespaceYaml('virt') + machine + instance);
      cluster.startController();
      const nodes = (await cluster.names('node')).toSorted();
      const [first = '', second = ''] = nodes;
      await launch(cluster, 'launcher-a', first);
      const address = await addressOf(cluster, 'virt', 'launcher-a');
      const station = port(await cluster.dump(), 'vm.virt')['addresses'];

      await launch(cluster, 'launcher-b', second, { 'kubevirt.io/migrationJobName': 'move' });
      assert.equal(await addressOf(cluster, 'virt', 'launcher-b'), address);
      await cluster.settled();
      const moving = port(await cluster.dump(), 'vm.virt');
      assert.equal(moving['addresses'], station);
      assert.deepEqual(moving['options'], { 'activation-strategy': 'rarp', 'requested-chassis': `${first},${second}` });
      await cluster.invariantsHold();
      await cluster.delete('pod', 'launcher-a', 'virt');
      await gone(cluster, 'pod', 'launcher-a', 'virt');
      await cluster.settled();
      const moved = port(await cluster.dump(), 'vm.virt');
      assert.deepEqual([moved['addresses'], moved['options'], moved['_uuid']], [station, {}, moving['_uuid']]);

      await cluster.delete('vmi', 'vm', 'virt');
      await gone(cluster, 'pod', 'launcher-b', 'virt');
      await cluster.controller.kill9();
      cluster.startController();
      await cluster.apply(podYaml('virt', 'other'));
      assert.notEqual(await addressOf(cluster, 'virt', 'other'), address);
      assert.equal(port(await cluster.dump(), 'vm.virt')['addresses'], station, 'while it is stopped');
      await gone(cluster, 'vmi', 'vm', 'virt');
      await cluster.apply(instance);
      await launch(cluster, 'launcher-c', first);
      await running(cluster, 'virt', 'launcher-c');
      assert.equal(await addressOf(cluster, 'virt', 'launcher-c'), address);

      await cluster.delete('vmi', 'vm', 'virt');
      await gone(cluster, 'pod', 'launcher-c', 'virt');
      await cluster.delete('vm', 'vm', 'virt');
      await gone(cluster, 'ip', 'vm.virt');
      await cluster.settled();
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'vm.virt'), []);
      await cluster.removeAll(podYaml('virt', 'other') + network + namespaceYaml('virt') + kinds);
      await cluster.settled();
      assert.deepEqual(traces(await cluster.dump(), 'virt-net'), []);
    },
  },
];
