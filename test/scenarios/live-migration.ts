/** Live migration of virtual machines to another node, with the objects that KubeVirt writes. */
import assert from 'node:assert/strict';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { attachmentYaml, NETWORKS } from './attachments.ts';
import { port, rowsNamed, traces } from './northbound.ts';
import { addressOf, untilDeleted, namespaceYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';
import { installKinds, instanceYaml, KINDS, kindYaml, launch, machineYaml } from './virtual-machines.ts';

const MIGRATIONS = kindYaml('VirtualMachineInstanceMigration', 'vmim');
const JOB = 'kubevirt.io/migrationJobName';

const migrationYaml = (name: string, phase: string): string =>
  `---\napiVersion: kubevirt.io/v1\nkind: VirtualMachineInstanceMigration\nmetadata: {name: ${name}, namespace: move}\n` +
  `spec: {vmiName: vm}\nstatus: {phase: ${phase}}\n`;

/** Waits until the port of the machine has these options. */
async function untilPortOptions(cluster: ScenarioCluster, options: object, name = 'vm.move'): Promise<void> {
  await cluster.eventually(`the options of port ${name}`, async () => {
    assert.deepEqual(port(await cluster.dump(), name)['options'], options);
    return true;
  });
}

/** Both pods have one address in their annotations, with one IP object and one port. */
async function untilAddressShared(cluster: ScenarioCluster, address: string, pods: readonly string[], node: string): Promise<void> {
  await cluster.converged();
  for (const pod of pods) {
    const { annotations = {} } = (await cluster.get('pod', pod, 'move')).metadata;
    const values = ['ip_address', 'allocated', 'routed', 'virtualmachine', 'logical_switch'].map(
      (key) => annotations[`ovn.kubernetes.io/${key}`],
    );
    assert.deepEqual(values, [address, 'true', 'true', 'vm', 'move-net'], pod);
  }
  const ips = (await cluster.names('ip')).filter((name) => name.includes('.move'));
  assert.deepEqual(ips, ['vm.move']);
  assert.equal((await cluster.get('ip', 'vm.move')).spec['nodeName'], node);
  assert.equal((await cluster.get('subnet', 'move-net')).status?.['v4usingIPs'], 1);
  assert.equal(rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'vm.move').length, 1);
  await cluster.invariantsHold();
}

const NETWORK = vpcYaml('move') + subnetYaml('move-net', { vpc: 'move', cidrBlock: '10.179.0.0/24', namespaces: ['move'] });
const MACHINE = NETWORK + namespaceYaml('move') + machineYaml('move') + instanceYaml('move');

/** The machine runs on the first node. */
async function startMachine(
  cluster: ScenarioCluster,
): Promise<{ readonly first: string; readonly second: string; readonly address: string }> {
  await cluster.apply(MACHINE);
  const [first = '', second = ''] = cluster.nodes;
  await launch(cluster, 'source', first, {}, 'move');
  return { first, second, address: await addressOf(cluster, 'move', 'source') };
}

/** The migration has begun: both pods run, and the port names both nodes. */
async function beginMigration(cluster: ScenarioCluster, job: string, first: string, second: string): Promise<void> {
  // The API server serves a kind a moment after its definition is established.
  await cluster.eventually('its migration is there', async () => {
    await cluster.apply(migrationYaml(job, 'Scheduling'));
    return true;
  });
  await launch(cluster, `target-${job}`, second, { [JOB]: job }, 'move');
  await running(cluster, 'move', `target-${job}`);
  await untilPortOptions(cluster, { 'activation-strategy': 'rarp', 'requested-chassis': `${first},${second}` });
}

/** KubeVirt deletes the target of a migration that failed. */
async function abortMigration(cluster: ScenarioCluster, job: string): Promise<void> {
  await cluster.delete('pod', `target-${job}`, 'move');
  await untilDeleted(cluster, 'pod', `target-${job}`, 'move');
  await untilPortOptions(cluster, {});
}

async function endMachine(cluster: ScenarioCluster, pod: string): Promise<void> {
  await cluster.kubectl(['delete', 'vm/vm', 'vmi/vm', `pod/${pod}`, '-n', 'move', '--wait=false', '--ignore-not-found']);
  await untilDeleted(cluster, 'ip', 'vm.move');
  await cluster.removeAll(NETWORK + namespaceYaml('move') + KINDS + MIGRATIONS);
  // The next scenario creates a namespace of this name; a real API server rejects objects in it while the old one is being deleted.
  await untilDeleted(cluster, 'namespace', 'move');
  await cluster.converged();
  assert.deepEqual(traces(await cluster.dump(), 'move-net'), []);
}

export const liveMigration: readonly Scenario[] = [
  {
    // It installs kinds and kills controllers.
    alone: true,
    name: 'a migration of a virtual machine fails: the address stays with the source; the kind that reports it came later than the controller',
    run: async (cluster) => {
      await installKinds(cluster);
      const { first, second, address } = await startMachine(cluster);
      // The controller is not restarted for the new kind.
      await cluster.apply(MIGRATIONS);
      await cluster.eventually('moves are served', async () => {
        await cluster.kubectl(['get', 'virtualmachineinstancemigrations', '-A']);
        return true;
      });
      await beginMigration(cluster, 'fails', first, second);
      await untilAddressShared(cluster, address, ['source', 'target-fails'], first);
      await cluster.apply(migrationYaml('fails', 'Failed'));
      await untilPortOptions(cluster, { 'requested-chassis': first });
      await untilAddressShared(cluster, address, ['source', 'target-fails'], first);
      await abortMigration(cluster, 'fails');
      await endMachine(cluster, 'source');
    },
  },
  {
    alone: true,
    name: 'a migration of a virtual machine is aborted, the next one succeeds, each with kill -9 in the middle: one address, one IP object, one port',
    run: async (cluster) => {
      await cluster.apply(MIGRATIONS);
      await installKinds(cluster);
      const { first, second, address } = await startMachine(cluster);
      const station = port(await cluster.dump(), 'vm.move')['addresses'];
      await beginMigration(cluster, 'aborted', first, second);
      await cluster.controller.kill9();
      await cluster.apply(migrationYaml('aborted', 'Failed'));
      cluster.startController();
      await untilPortOptions(cluster, { 'requested-chassis': first });
      await abortMigration(cluster, 'aborted');

      await beginMigration(cluster, 'works', first, second);
      await cluster.controller.kill9();
      cluster.startController();
      await untilAddressShared(cluster, address, ['source', 'target-works'], first);
      await cluster.apply(migrationYaml('works', 'Succeeded'));
      await untilPortOptions(cluster, { 'requested-chassis': second });
      await untilAddressShared(cluster, address, ['source', 'target-works'], second);
      await cluster.delete('pod', 'source', 'move');
      await untilDeleted(cluster, 'pod', 'source', 'move');
      await untilPortOptions(cluster, {});
      await untilAddressShared(cluster, address, ['target-works'], second);
      assert.equal(port(await cluster.dump(), 'vm.move')['addresses'], station);
      await endMachine(cluster, 'target-works');
    },
  },
  {
    alone: true,
    name: 'a running virtual machine gets another network, migrates with it, and loses it again',
    run: async (cluster) => {
      await installKinds(cluster);
      const networks = [{ name: 'fast', multus: { networkName: 'plug/fast' } }];
      const all =
        namespaceYaml('plug') +
        vpcYaml('plug') +
        attachmentYaml('plug', 'fast', '{"cniVersion":"0.3.0","type":"kube-ovn"}') +
        subnetYaml('plug-net', { vpc: 'plug', cidrBlock: '10.181.0.0/24', namespaces: ['plug'] }) +
        subnetYaml('plug-fast', { vpc: 'plug', cidrBlock: '10.181.1.0/24', provider: 'fast.plug.ovn' });
      const FAST = 'vm.plug.fast.plug.ovn';
      await cluster.apply(all + machineYaml('plug') + instanceYaml('plug'));
      const [first = '', second = ''] = cluster.nodes;
      await launch(cluster, 'source', first, {}, 'plug');
      const address = await addressOf(cluster, 'plug', 'source');
      const own = port(await cluster.dump(), 'vm.plug');

      await cluster.apply(machineYaml('plug', {}, networks));
      await cluster.kubectl([
        'annotate',
        'pod',
        'source',
        '-n',
        'plug',
        `${NETWORKS}=[{"name":"fast","namespace":"plug","interface":"pod1"}]`,
      ]);
      const plugged = async (pod: string): Promise<string> =>
        await cluster.eventually(`${pod} is plugged in`, async () => {
          const { annotations = {} } = (await cluster.get('pod', pod, 'plug')).metadata;
          return annotations['fast.plug.ovn.kubernetes.io/routed'] === 'true'
            ? annotations['fast.plug.ovn.kubernetes.io/ip_address']
            : undefined;
        });
      const plugAddress = await plugged('source');
      assert.match(plugAddress, /^10\.181\.1\./);
      const station = port(await cluster.dump(), FAST)['addresses'];

      await launch(cluster, 'target', second, { [JOB]: 'job', [NETWORKS]: 'plug/fast' }, 'plug');
      assert.equal(await plugged('target'), plugAddress);
      assert.equal(await addressOf(cluster, 'plug', 'target'), address);
      for (const name of ['vm.plug', FAST])
        await untilPortOptions(cluster, { 'activation-strategy': 'rarp', 'requested-chassis': `${first},${second}` }, name);
      await cluster.delete('pod', 'source', 'plug');
      await untilDeleted(cluster, 'pod', 'source', 'plug');
      await cluster.converged();
      assert.equal(port(await cluster.dump(), FAST)['addresses'], station);

      await cluster.apply(machineYaml('plug'));
      await cluster.kubectl(['annotate', 'pod', 'target', '-n', 'plug', `${NETWORKS}-`]);
      await untilDeleted(cluster, 'ip', FAST);
      await cluster.converged();
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Switch_Port', FAST), []);
      assert.equal((await cluster.get('subnet', 'plug-fast')).status?.['v4usingIPs'], 0);
      const left = Object.keys((await cluster.get('pod', 'target', 'plug')).metadata.annotations ?? {}).filter((key) =>
        key.startsWith('fast.plug.ovn'),
      );
      assert.deepEqual(left, []);
      const now = port(await cluster.dump(), 'vm.plug');
      assert.deepEqual([now['_uuid'], now['addresses']], [own['_uuid'], own['addresses']]);

      await cluster.kubectl(['delete', 'vm/vm', 'vmi/vm', 'pod/target', '-n', 'plug', '--wait=false', '--ignore-not-found']);
      await untilDeleted(cluster, 'ip', 'vm.plug');
      await cluster.removeAll(all + KINDS);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'plug-net', 'plug-fast'), []);
    },
  },
];
