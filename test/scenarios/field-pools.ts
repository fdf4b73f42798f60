/** Histories from the field (docs/evidence/field-histories.md): IPPools that are changed or deleted while pods use them. */
import assert from 'node:assert/strict';
import { poolYaml } from './namespaces.ts';
import { addressOf, condition, podYaml, deletePod, running, subnetYaml, tenantYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const POOL = 'ovn.kubernetes.io/ip_pool';
const usage = async (cluster: Parameters<Scenario['run']>[0], pool: string): Promise<readonly unknown[]> => {
  await cluster.converged();
  const { status } = await cluster.get('ippool', pool);
  return [status?.['v4UsingIPs'], status?.['v4UsingIPRange'], status?.['v4AvailableIPRange']];
};

export const fieldPools: readonly Scenario[] = [
  {
    name: 'H13 a namespace has two Subnets with a pool each: a pod that names the second Subnet has an address of its pool, whichever pool came first',
    run: async (cluster) => {
      const all =
        tenantYaml('h13', '10.222.0.0/28') + subnetYaml('h13-two', { vpc: 'h13', cidrBlock: '10.222.1.0/28', namespaces: ['h13'] });
      const pools = [
        poolYaml('h13-p1', { subnet: 'h13-net', ips: ['10.222.0.8..10.222.0.9'], namespaces: ['h13'] }),
        poolYaml('h13-p2', { subnet: 'h13-two', ips: ['10.222.1.8..10.222.1.9'], namespaces: ['h13'] }),
      ];
      await cluster.apply(all);
      for (const order of [pools, pools.toReversed()]) {
        for (const pool of order) {
          await cluster.apply(pool);
          await cluster.converged();
        }
        await cluster.apply(
          podYaml('h13', 'one', { annotations: { 'ovn.kubernetes.io/logical_switch': 'h13-net' } }) +
            podYaml('h13', 'two', { annotations: { 'ovn.kubernetes.io/logical_switch': 'h13-two' } }),
        );
        assert.match(await addressOf(cluster, 'h13', 'one'), /^10\.222\.0\.[89]$/);
        assert.match(await addressOf(cluster, 'h13', 'two'), /^10\.222\.1\.[89]$/);
        await deletePod(cluster, 'h13', 'one');
        await deletePod(cluster, 'h13', 'two');
        await cluster.kubectl(['delete', 'ippool', 'h13-p1', 'h13-p2', '--timeout=120s']);
      }
      await cluster.removeAll(all);
    },
  },
  {
    name: 'H14 a pool is deleted under pods that name it and created again: they keep their addresses, no new pod gets one meanwhile, and the new pool allocates none of theirs',
    run: async (cluster) => {
      const all = tenantYaml('h14', '10.223.0.0/28');
      const pool = poolYaml('h14-pool', { subnet: 'h14-net', ips: ['10.223.0.8..10.223.0.9'] });
      const named = (name: string): string => podYaml('h14', name, { annotations: { [POOL]: 'h14-pool' } });
      await cluster.apply(all + pool + named('a'));
      const first = await addressOf(cluster, 'h14', 'a');
      assert.match(first, /^10\.223\.0\.[89]$/);
      await cluster.kubectl(['delete', 'ippool', 'h14-pool', '--timeout=120s']);
      await cluster.apply(named('b') + podYaml('h14', 'free'));
      const { reason } = await condition(cluster, 'pod', 'b', 'kiln.io/NetworkBound', 'False', 'h14');
      assert.equal(reason, 'WaitingForIPPool');
      assert.notEqual(await addressOf(cluster, 'h14', 'free'), first);
      await cluster.apply(pool);
      assert.deepEqual([first, await addressOf(cluster, 'h14', 'b')].toSorted(), ['10.223.0.8', '10.223.0.9']);
      assert.equal(await addressOf(cluster, 'h14', 'a'), first);
      assert.deepEqual(await usage(cluster, 'h14-pool'), [2, '10.223.0.8-10.223.0.9', '']);
      await cluster.kubectl(['delete', 'pods', '--all', '-n', 'h14', '--wait=false']);
      await cluster.kubectl(['delete', 'ippool', 'h14-pool', '--timeout=120s']);
      await cluster.removeAll(all);
    },
  },
  {
    name: "H15 a pool's ranges are edited away from its pods and back: these keep their addresses, no other pod gets them, and the counts are those of the ranges",
    run: async (cluster) => {
      const all = tenantYaml('h15', '10.224.0.0/28');
      const pool = (range: string): string => poolYaml('h15-pool', { subnet: 'h15-net', ips: [range] });
      const named = (name: string): string => podYaml('h15', name, { annotations: { [POOL]: 'h15-pool' } });
      await cluster.apply(all + pool('10.224.0.4..10.224.0.5') + named('a'));
      const first = await addressOf(cluster, 'h15', 'a');
      await cluster.apply(pool('10.224.0.9..10.224.0.9'));
      assert.deepEqual(await usage(cluster, 'h15-pool'), [0, '', '10.224.0.9']);
      await cluster.apply(named('b') + podYaml('h15', 'free'));
      assert.equal(await addressOf(cluster, 'h15', 'b'), '10.224.0.9');
      assert.notEqual(await addressOf(cluster, 'h15', 'free'), first);
      assert.equal(await addressOf(cluster, 'h15', 'a'), first);
      await cluster.apply(pool('10.224.0.4..10.224.0.5'));
      assert.equal((await usage(cluster, 'h15-pool'))[0], 1);
      await running(cluster, 'h15', 'b');
      await cluster.kubectl(['delete', 'pods', '--all', '-n', 'h15', '--wait=false']);
      await cluster.kubectl(['delete', 'ippool', 'h15-pool', '--timeout=120s']);
      await cluster.removeAll(all);
    },
  },
];
