/** How traffic leaves a Subnet of the default Vpc: through the node of each pod, or through chosen gateway nodes. */
import assert from 'node:assert/strict';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { entries, members } from '../../src/testing/northbound-dump.ts';
import { policiesOf, rowsNamed, traces } from './northbound.ts';
import { addressOf, condition, namespaceYaml, deletePod, podYaml, running, subnetYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

async function joined(cluster: ScenarioCluster, node: string): Promise<string> {
  return (await cluster.get('node', node)).metadata.annotations?.['ovn.kubernetes.io/ip_address'] ?? '';
}

async function gatewayPolicies(cluster: ScenarioCluster, speaks: string): Promise<readonly string[]> {
  return policiesOf(await cluster.dump(), 'ovn-cluster').filter((policy) => policy.startsWith('29000 ') && policy.includes(speaks));
}

export const gateways: readonly Scenario[] = [
  {
    name: 'centralized gateway: one active node, all of them with ECMP, by name and by label',
    run: async (cluster) => {
      const all = subnetYaml('central', { cidrBlock: '10.50.0.0/24', gatewayType: 'centralized', gatewayNode: 'node-1' });
      await cluster.apply(all);
      await condition(cluster, 'subnet', 'central', 'Ready', 'True');
      await cluster.converged();
      const [one, two] = [await joined(cluster, 'node-1'), await joined(cluster, 'node-2')];
      assert.deepEqual(await gatewayPolicies(cluster, '10.50.0.0/24'), [`29000 ip4.src == 10.50.0.0/24 reroute ${one}`]);
      const policy = (await cluster.rows('Logical_Router_Policy')).find(({ match }) => match === 'ip4.src == 10.50.0.0/24');
      const { vendor, subnet, 'node-1': nextHop } = entries(policy?.['external_ids']);
      assert.deepEqual({ vendor, subnet, nextHop }, { vendor: 'kube-ovn', subnet: 'central', nextHop: one });
      assert.deepEqual(
        policiesOf(await cluster.dump(), 'ovn-cluster').filter((each) => each.startsWith('31000 ip4.dst == 10.50.')),
        ['31000 ip4.dst == 10.50.0.0/24 allow'],
      );
      assert.equal((await cluster.get('subnet', 'central')).status?.['activateGateway'], 'node-1');

      await cluster.patch('subnet', 'central', { spec: { gatewayNode: 'node-1,node-2', enableEcmp: true } });
      await cluster.converged();
      assert.deepEqual(await gatewayPolicies(cluster, '10.50.0.0/24'), [
        `29000 ip4.src == 10.50.0.0/24 reroute ${[one, two].toSorted().join(',')}`,
      ]);

      await cluster.kubectl(['label', 'node', 'node-2', 'e2e-role=gateway']);
      await cluster.patch('subnet', 'central', {
        spec: { gatewayNode: '', enableEcmp: false, gatewayNodeSelectors: [{ matchLabels: { 'e2e-role': 'gateway' } }] },
      });
      await cluster.converged();
      assert.deepEqual(await gatewayPolicies(cluster, '10.50.0.0/24'), [`29000 ip4.src == 10.50.0.0/24 reroute ${two}`]);
      assert.equal((await cluster.get('subnet', 'central')).status?.['activateGateway'], 'node-2');
      await cluster.kubectl(['label', 'node', 'node-2', 'e2e-role-']);
      await condition(cluster, 'subnet', 'central', 'Ready', 'False');
      assert.deepEqual(await gatewayPolicies(cluster, '10.50.0.0/24'), []);
      await cluster.removeAll(all);
    },
  },
  {
    name: 'a Subnet turns from distributed to centralized and back under a running pod',
    run: async (cluster) => {
      const all = subnetYaml('turning', { cidrBlock: '10.51.0.0/24', namespaces: ['turning'] }) + namespaceYaml('turning');
      await cluster.apply(all + podYaml('turning', 'pod', { node: 'node-1' }));
      await running(cluster, 'turning', 'pod');
      await cluster.converged();
      const distributed = async (): Promise<void> => {
        const dump = await cluster.dump();
        for (const node of ['node-1', 'node-2']) {
          const group = `turning.${node.replaceAll('-', '.')}`;
          const [row] = rowsNamed(dump, 'Port_Group', group);
          assert.equal(members(row?.['ports']).length, node === 'node-1' ? 1 : 0);
          const { np, subnet, node: named } = entries(row?.['external_ids']);
          assert.deepEqual({ np, subnet, named }, { np: `turning/${node}`, subnet: 'turning', named: node });
          assert.deepEqual(await gatewayPolicies(cluster, `$${group}_ip4`), [
            `29000 ip4.src == $${group}_ip4 reroute ${await joined(cluster, node)}`,
          ]);
        }
      };
      await distributed();
      await cluster.patch('subnet', 'turning', { spec: { gatewayType: 'centralized', gatewayNode: 'node-2' } });
      await cluster.converged();
      await cluster.eventually("Kube-OVN's Events report the change", async () => {
        const events = (await cluster.events('Subnet', 'turning')).map(({ type, reason, message }) => `${type} ${reason} ${message}`);
        return [
          'Normal SubnetGatewayTypeChanged subnet gateway type changes from "distributed" to "centralized"',
          'Normal SubnetGatewayNodeChanged gateway node changes from "" to "node-2"',
        ].every((event) => events.includes(event));
      });
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Port_Group', 'turning.node.1'), []);
      assert.deepEqual(await gatewayPolicies(cluster, '10.51.0.0/24'), [
        `29000 ip4.src == 10.51.0.0/24 reroute ${await joined(cluster, 'node-2')}`,
      ]);
      await cluster.patch('subnet', 'turning', { spec: { gatewayType: 'distributed' } });
      await cluster.converged();
      await distributed();
      assert.deepEqual(await gatewayPolicies(cluster, '10.51.0.0/24'), []);
      const address = await addressOf(cluster, 'turning', 'pod');
      await deletePod(cluster, 'turning', 'pod');
      await cluster.eventually('an Event reports that the address is free', async () =>
        (await cluster.events('Pod', 'pod', 'turning')).some(
          ({ reason, message }) => reason === 'PodNetworkReleased' && message.includes(` subnet=turning ip=${address} `),
        ),
      );
      await cluster.removeAll(all);
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'turning'), []);
    },
  },
];
