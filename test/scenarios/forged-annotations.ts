/** A tenant who may write only the pods of its own namespace copies addresses of other pods into their annotations. */
import assert from 'node:assert/strict';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { port, rowsNamed } from './northbound.ts';
import { addressOf, condition, podYaml, deletePod, running, tenantYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const key = (suffix: string): string => `ovn.kubernetes.io/${suffix}`;

async function forge(cluster: ScenarioCluster, namespace: string, name: string, values: Readonly<Record<string, string>>): Promise<void> {
  const annotations = Object.entries({ allocated: 'true', routed: 'true', ...values }).map(([suffix, value]) => `${key(suffix)}=${value}`);
  await cluster.kubectl(['annotate', 'pod', name, '-n', namespace, '--overwrite', ...annotations]);
}

async function portsWith(cluster: ScenarioCluster, address: string): Promise<readonly string[]> {
  const rows = await cluster.rows('Logical_Switch_Port');
  return rows
    .filter(({ addresses }) =>
      String(addresses)
        .split(/[\s",]+/)
        .includes(address),
    )
    .map(({ name }) => String(name));
}

export const forgedAnnotations: readonly Scenario[] = [
  {
    name: "a tenant's pods have forged annotations with another tenant's address and a node's: none has a port with them, through a restart, and the victim's successor gets the address",
    alone: true,
    run: async (cluster) => {
      const all = tenantYaml('honest', '10.77.0.0/24') + tenantYaml('forging', '10.78.0.0/24');
      const waits = { annotations: { [key('logical_switch')]: 'nosuch' } };
      await cluster.apply(all + podYaml('honest', 'victim') + podYaml('forging', 'pod', waits) + podYaml('forging', 'gate', waits));
      const victim = await running(cluster, 'honest', 'victim');
      const [address = '', mac = ''] = ['ip_address', 'mac_address'].map((suffix) => victim.metadata.annotations?.[key(suffix)]);
      const [node = ''] = cluster.nodes;
      const nodeAnnotations = (await cluster.get('node', node)).metadata.annotations ?? {};
      const [join = '', joinMac = ''] = ['ip_address', 'mac_address'].map((suffix) => nodeAnnotations[key(suffix)]);
      const forgeBoth = async (): Promise<void> => {
        await forge(cluster, 'forging', 'pod', { logical_switch: 'honest-net', ip_address: address, mac_address: mac });
        await forge(cluster, 'forging', 'gate', { logical_switch: 'join', ip_address: join, mac_address: joinMac });
      };
      const checkIsolation = async (): Promise<void> => {
        const { reason, message } = await condition(cluster, 'pod', 'pod', 'kiln.io/NetworkBound', 'False', 'forging');
        assert.equal(reason, 'AddressConflict', message);
        await cluster.converged();
        assert.deepEqual(await portsWith(cluster, address), ['victim.honest']);
        assert.deepEqual(await portsWith(cluster, join), [`node-${node}`]);
        const dump = await cluster.dump();
        for (const name of ['pod.forging', 'gate.forging']) {
          assert.deepEqual(rowsNamed(dump, 'Logical_Switch_Port', name), []);
          assert.equal(await cluster.find('ip', name), undefined);
        }
        assert.equal((await cluster.get('pod', 'pod', 'forging')).metadata.annotations?.[key('allocated')], undefined);
        assert.equal(port(dump, 'victim.honest')['addresses'], `${mac} ${address}`);
      };
      await condition(cluster, 'pod', 'pod', 'kiln.io/NetworkBound', 'False', 'forging');
      await forgeBoth();
      await cluster.eventually('the condition reports the conflict', async () => {
        const { reason } = await condition(cluster, 'pod', 'pod', 'kiln.io/NetworkBound', 'False', 'forging');
        return reason === 'AddressConflict';
      });
      await checkIsolation();

      // The new process knows of the pods only what their annotations contain.
      await cluster.controller.kill9();
      await forgeBoth();
      cluster.startController();
      await checkIsolation();

      await cluster.kubectl(['delete', 'pod', 'gate', '-n', 'forging', '--wait']);
      await deletePod(cluster, 'forging', 'pod');
      await deletePod(cluster, 'honest', 'victim');
      await cluster.apply(podYaml('honest', 'successor', { annotations: { [key('ip_address')]: address } }));
      assert.equal(await addressOf(cluster, 'honest', 'successor'), address);
      await cluster.removeAll(all);
    },
  },
];
