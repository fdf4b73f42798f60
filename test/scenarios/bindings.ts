/** Which Subnet a pod gets: the declared objects decide, not the order in which they were created. */
import assert from 'node:assert/strict';
import { port, rowsNamed, traces } from './northbound.ts';
import { addressOf, condition, untilDeleted, namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

/** Every order of four things. */
function permutations<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((item, index) => permutations(items.filter((_, other) => other !== index)).map((rest) => [item, ...rest]));
}

export const bindings: readonly Scenario[] = [
  {
    name: 'C52 Namespace, Vpc, Subnet and Pod in every order that the API server accepts: the pod is in its own Subnet each time',
    run: async (cluster) => {
      const orders = permutations(['namespace', 'vpc', 'subnet', 'pod'] as const).filter(
        (order) => order.indexOf('namespace') < order.indexOf('pod'),
      );
      assert.equal(orders.length, 12);
      const parts = (i: number): Readonly<Record<'namespace' | 'vpc' | 'subnet' | 'pod', string>> => ({
        namespace: namespaceYaml(`c52-${i}`),
        vpc: vpcYaml(`c52-${i}`, { namespaces: [`c52-${i}`], defaultSubnet: `c52-net-${i}` }),
        subnet: subnetYaml(`c52-net-${i}`, { vpc: `c52-${i}`, cidrBlock: '10.62.0.0/24', namespaces: [`c52-${i}`] }),
        pod: podYaml(`c52-${i}`, 'pod', { annotations: { 'ovn.kubernetes.io/logical_switch': `c52-net-${i}` } }),
      });
      for (const [i, order] of orders.entries()) await cluster.applyAtOnce(order.map((part) => parts(i)[part]).join(''));
      for (const i of orders.keys()) assert.equal(await addressOf(cluster, `c52-${i}`, 'pod'), '10.62.0.2', orders[i]?.join(', '));
      await cluster.converged();
      await cluster.removeAll(orders.map((_, i) => parts(i).vpc + parts(i).subnet + parts(i).namespace).join(''));
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'c52-'), []);
    },
  },
  {
    name: 'C52 the pods of a namespace that a Vpc claims wait for the Subnet and report it; none of them is in ovn-default',
    run: async (cluster) => {
      const vpc = vpcYaml('waits', { namespaces: ['waits'] });
      const subnet = subnetYaml('waits-net', { vpc: 'waits', cidrBlock: '10.63.0.0/24', namespaces: ['waits'] });
      await cluster.apply(vpc + namespaceYaml('waits') + podYaml('waits', 'early'));
      const { reason, message } = await condition(cluster, 'pod', 'early', 'kiln.io/NetworkBound', 'False', 'waits');
      assert.equal(reason, 'WaitingForSubnet');
      assert.match(message, /Vpc waits/);
      await cluster.eventually('an Event reports it', async () =>
        (await cluster.events('Pod', 'early', 'waits')).some((event) => event.reason === 'WaitingForSubnet'),
      );
      await cluster.apply(subnet);
      assert.equal(await addressOf(cluster, 'waits', 'early'), '10.63.0.2');
      await condition(cluster, 'pod', 'early', 'kiln.io/NetworkBound', 'True', 'waits');
      await cluster.removeAll(vpc + subnet + namespaceYaml('waits'));
    },
  },
  {
    name: 'a pod that names a Subnet waits for it, and goes when it is deleted meanwhile',
    run: async (cluster) => {
      await cluster.apply(
        namespaceYaml('named') +
          podYaml('named', 'a', { annotations: { 'ovn.kubernetes.io/logical_switch': 'named-net' } }) +
          podYaml('named', 'b', { annotations: { 'ovn.kubernetes.io/logical_switch': 'named-net' } }),
      );
      const { message } = await condition(cluster, 'pod', 'a', 'kiln.io/NetworkBound', 'False', 'named');
      assert.match(message, /named-net/);
      await cluster.delete('pod', 'b', 'named');
      await untilDeleted(cluster, 'pod', 'b', 'named');
      const network = vpcYaml('named') + subnetYaml('named-net', { vpc: 'named', cidrBlock: '10.64.0.0/24' });
      await cluster.apply(network);
      assert.equal(await addressOf(cluster, 'named', 'a'), '10.64.0.2');
      await cluster.converged();
      assert.equal(await cluster.find('ip', 'b.named'), undefined);
      assert.deepEqual(rowsNamed(await cluster.dump(), 'Logical_Switch_Port', 'b.named'), []);
      await cluster.removeAll(network + namespaceYaml('named'));
    },
  },
  {
    name: "a Subnet's namespaces change under running pods: these keep their Subnet, new pods follow the spec",
    run: async (cluster) => {
      const subnet = (namespaces: readonly string[]): string => subnetYaml('moving-net', { cidrBlock: '10.65.0.0/24', namespaces });
      await cluster.apply(
        subnet(['moving-a']) +
          namespaceYaml('moving-a') +
          namespaceYaml('moving-b') +
          podYaml('moving-a', 'old') +
          podYaml('moving-b', 'old'),
      );
      assert.equal(await addressOf(cluster, 'moving-a', 'old'), '10.65.0.2');
      const elsewhere = await addressOf(cluster, 'moving-b', 'old');
      assert.match(elsewhere, /^10\.16\./);
      await cluster.apply(subnet(['moving-b']));
      await cluster.eventually('the namespaces say so', async () => {
        const say = async (name: string): Promise<string | undefined> =>
          (await cluster.get('namespace', name)).metadata.annotations?.['ovn.kubernetes.io/logical_switch'];
        return (await say('moving-a')) === 'ovn-default' && (await say('moving-b')) === 'moving-net';
      });
      await cluster.apply(podYaml('moving-a', 'new') + podYaml('moving-b', 'new'));
      assert.match(await addressOf(cluster, 'moving-a', 'new'), /^10\.16\./);
      assert.match(await addressOf(cluster, 'moving-b', 'new'), /^10\.65\.0\./);
      assert.equal(await addressOf(cluster, 'moving-a', 'old'), '10.65.0.2');
      assert.equal(await addressOf(cluster, 'moving-b', 'old'), elsewhere);
      await cluster.converged();
      assert.match(String(port(await cluster.dump(), 'old.moving-a')['addresses']), /10\.65\.0\.2$/);
      await cluster.removeAll(subnet([]) + namespaceYaml('moving-a') + namespaceYaml('moving-b'));
      await cluster.converged();
      assert.deepEqual(traces(await cluster.dump(), 'moving'), []);
    },
  },
  {
    name: 'a label binds a namespace to a Subnet, and its removal ends that',
    run: async (cluster) => {
      const all = subnetYaml('labelled-net', { cidrBlock: '10.68.0.0/24', namespaceSelectors: [{ matchLabels: { tier: 'e2e-db' } }] });
      await cluster.apply(all + namespaceYaml('labelled', { tier: 'e2e-db' }) + podYaml('labelled', 'in'));
      assert.equal(await addressOf(cluster, 'labelled', 'in'), '10.68.0.2');
      await cluster.kubectl(['label', 'namespace', 'labelled', 'tier-']);
      await cluster.eventually(
        'the namespace is unbound',
        async () =>
          (await cluster.get('namespace', 'labelled')).metadata.annotations?.['ovn.kubernetes.io/logical_switch'] === 'ovn-default',
      );
      await cluster.apply(podYaml('labelled', 'out'));
      assert.match(await addressOf(cluster, 'labelled', 'out'), /^10\.16\./);
      await cluster.removeAll(all + namespaceYaml('labelled'));
    },
  },
  {
    name: 'a pod of a namespace with several Subnets gets the one it names, or else the first declared',
    run: async (cluster) => {
      const all =
        subnetYaml('many-a', { cidrBlock: '10.67.1.0/24', namespaces: ['many'] }) +
        subnetYaml('many-b', { cidrBlock: '10.67.2.0/24', namespaces: ['many'] });
      await cluster.apply(
        all +
          namespaceYaml('many') +
          podYaml('many', 'first') +
          podYaml('many', 'second', { annotations: { 'ovn.kubernetes.io/logical_switch': 'many-b' } }),
      );
      assert.equal(await addressOf(cluster, 'many', 'first'), '10.67.1.2');
      assert.equal(await addressOf(cluster, 'many', 'second'), '10.67.2.2');
      await running(cluster, 'many', 'second');
      await cluster.removeAll(all + namespaceYaml('many'));
    },
  },
];
