/**
 * A tenant is deleted in every order, in every manner, at any time, with and without a controller: all of it is deleted, and no leftover
 * remains.
 */
import assert from 'node:assert/strict';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { ProgramError } from '../../lab/programs/run-program.ts';
import { attachmentYaml, NETWORKS } from './attachments.ts';
import { poolYaml } from './namespaces.ts';
import { traces } from './northbound.ts';
import { addressOf, condition, untilDeleted, namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

/** Manifests of a tenant, by kind. Namespaces are not deleted here: the API server deletes their contents in an order of its own. */
function tenant(
  name: string,
  net: number,
  pods: readonly string[] = ['a', 'b'],
): Readonly<Record<'vpc' | 'network' | 'own' | 'second' | 'pool' | 'pods', string>> {
  return {
    vpc: vpcYaml(name),
    network: attachmentYaml(name, 'second', '{"cniVersion":"0.3.0","type":"kube-ovn"}'),
    own: subnetYaml(`${name}-own`, { vpc: name, cidrBlock: `10.${net}.0.0/24`, namespaces: [name] }),
    second: subnetYaml(`${name}-second`, { vpc: name, cidrBlock: `10.${net}.1.0/24`, provider: `second.${name}.ovn` }),
    pool: poolYaml(`${name}-pool`, { subnet: `${name}-own`, ips: [`10.${net}.0.50..10.${net}.0.99`], enableAddressSet: true }),
    pods: pods.map((pod) => podYaml(name, pod, { annotations: { [NETWORKS]: 'second' } })).join(''),
  };
}

type Part = keyof ReturnType<typeof tenant>;

function permutations<T>(some: readonly T[]): readonly (readonly T[])[] {
  if (some.length < 2) return [some];
  return some.flatMap((first, at) => permutations(some.toSpliced(at, 1)).map((rest) => [first, ...rest]));
}

/** Deletes one document after another without waiting, as `kubectl delete -f` of the file does. */
async function deleteInOrder(cluster: ScenarioCluster, documents: readonly string[]): Promise<void> {
  await cluster.kubectl(['delete', '--wait=false', '--ignore-not-found', '-f', '-'], documents.join(''));
}

async function untilAllDeleted(cluster: ScenarioCluster, prefix: string): Promise<void> {
  await cluster.eventually(`everything of ${prefix} is gone`, async () => {
    const left: string[] = [];
    for (const kind of ['vpc', 'subnet', 'ippool', 'ip'])
      left.push(...(await cluster.names(kind)).filter((name) => name.includes(prefix)).map((name) => `${kind} ${name}`));
    if (left.length > 0) throw new Error(`left: ${left.join(', ')}`);
    return true;
  });
  await cluster.converged();
  assert.deepEqual(traces(await cluster.dump(), prefix), []);
}

/** Removes the finalizers, whether the object exists or not. A controller may put them back meanwhile. */
async function removeFinalizers(cluster: ScenarioCluster, kind: string, name: string): Promise<void> {
  try {
    await cluster.patch(kind, name, { metadata: { finalizers: [] } });
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
  }
}

export const anyOrder: readonly Scenario[] = [
  {
    name: 'C09 Vpc, network, Subnet and pods of a tenant are deleted in each of their 24 orders, half of them while no controller runs',
    alone: true,
    run: async (cluster) => {
      const orders = permutations<Part>(['vpc', 'network', 'own', 'pods']);
      assert.equal(orders.length, 24);
      for (const [round, withController] of [true, false].entries()) {
        const tenants = orders
          .filter((_, at) => at % 2 === round)
          .map((order, at) => ({ name: `any-${round}-${at}`, order, net: 60 + round * 12 + at }));
        const all = tenants.map((one) => ({ ...one, parts: tenant(one.name, one.net, ['a']) }));
        await cluster.apply(all.map(({ name }) => namespaceYaml(name)).join(''));
        await cluster.apply(all.map(({ parts }) => Object.values(parts).join('')).join(''));
        for (const { name } of all) await running(cluster, name, 'a');
        if (!withController) await cluster.controller.kill9();
        for (const { order, parts } of all) await deleteInOrder(cluster, [...order.map((part) => parts[part]), parts.pool, parts.second]);
        if (!withController) cluster.startController();
        await untilAllDeleted(cluster, `any-${round}-`);
        await cluster.kubectl(['delete', 'namespace', '--wait=false', ...all.map(({ name }) => name)]);
      }
    },
  },
  {
    name: 'a tenant is created and at once deleted, the Vpc first, again and again while the controller allocates its addresses; the last time it remains',
    run: async (cluster) => {
      const parts = tenant('breath', 85);
      const make = Object.values(parts).join('');
      await cluster.apply(namespaceYaml('breath'));
      for (let round = 0; round < 3; round++) {
        await cluster.apply(make);
        await deleteInOrder(cluster, [parts.vpc, parts.own, parts.second, parts.pods, parts.pool, parts.network]);
        await cluster.eventually('the Vpc is gone', async () => (await cluster.find('vpc', 'breath')) === undefined);
        for (const name of ['breath-own', 'breath-second']) await untilDeleted(cluster, 'subnet', name);
        await untilDeleted(cluster, 'ippool', 'breath-pool');
      }
      await cluster.apply(make);
      assert.match(await addressOf(cluster, 'breath', 'a'), /^10\.85\.0\./);
      assert.match(await addressOf(cluster, 'breath', 'b'), /^10\.85\.0\./);
      await deleteInOrder(cluster, [parts.pods, parts.pool, parts.second, parts.own, parts.vpc, parts.network]);
      await untilAllDeleted(cluster, 'breath');
      await cluster.delete('namespace', 'breath');
    },
  },
  {
    name: 'a user removes the finalizers of every object while pods are bound: objects that are not being deleted keep working, and everything can be deleted',
    run: async (cluster) => {
      const parts = tenant('peel', 86);
      await cluster.apply(namespaceYaml('peel'));
      const objects = [
        ['vpc', 'peel'],
        ['subnet', 'peel-own'],
        ['subnet', 'peel-second'],
        ['ippool', 'peel-pool'],
        ['ip', 'a.peel'],
        ['ip', 'b.peel.second.peel.ovn'],
      ] as const;
      const making = cluster.apply(Object.values(parts).join(''));
      for (const [kind, name] of objects) await removeFinalizers(cluster, kind, name);
      await making;
      const address = await addressOf(cluster, 'peel', 'a');
      await running(cluster, 'peel', 'b');
      await Promise.all(objects.map(([kind, name]) => removeFinalizers(cluster, kind, name)));
      await cluster.converged();
      for (const [kind, name] of objects)
        assert.deepEqual(
          (await cluster.get(kind, name)).metadata.finalizers,
          ['kubeovn.io/kube-ovn-controller'],
          `${kind} ${name} has it again`,
        );
      assert.equal(await addressOf(cluster, 'peel', 'a'), address);
      await cluster.kubectl(['delete', 'vpc/peel', 'subnet/peel-second', 'subnet/peel-own', 'ippool/peel-pool', '--wait=false']);
      await cluster.kubectl(['delete', 'pods', '--all', '-n', 'peel', '--force', '--grace-period=0', '--wait=false']);
      for (const [kind, name] of objects) await removeFinalizers(cluster, kind, name);
      await untilAllDeleted(cluster, 'peel');
      await cluster.delete('namespace', 'peel');
    },
  },
  {
    name: 'objects that are being deleted are edited to invalid values: they stay in effect, and go when their dependents go',
    run: async (cluster) => {
      const parts = tenant('raving', 87);
      await cluster.apply(namespaceYaml('raving'));
      await cluster.apply(Object.values(parts).join(''));
      const address = await addressOf(cluster, 'raving', 'a');
      await running(cluster, 'raving', 'b');
      await deleteInOrder(cluster, [parts.vpc, parts.own, parts.second, parts.pool]);
      await condition(cluster, 'vpc', 'raving', 'DeletionBlocked', 'True');
      await condition(cluster, 'subnet', 'raving-own', 'DeletionBlocked', 'True');
      await cluster.delete('ip', 'a.raving');
      for (const spec of [
        { cidrBlock: 'nonsense', gateway: 'nonsense', excludeIps: ['z..y'] },
        { vpc: 'nowhere', provider: 'nonsense', gatewayType: 'nonsense', gatewayNode: 'nowhere' },
      ]) {
        await cluster.patch('subnet', 'raving-own', { spec });
        await cluster.patch('subnet', 'raving-second', { spec });
      }
      await cluster.patch('vpc', 'raving', {
        spec: { staticRoutes: [{ cidr: 'nonsense' }], namespaces: ['nowhere'], vpcPeerings: [{ remoteVpc: 'raving' }] },
      });
      await cluster.patch('ip', 'a.raving', {
        spec: { subnet: 'nowhere', ipAddress: 'nonsense', v4IpAddress: 'nonsense', namespace: 'nowhere' },
      });
      await cluster.converged();
      const pod = await running(cluster, 'raving', 'a');
      assert.equal(pod.metadata.annotations?.['ovn.kubernetes.io/ip_address'], address);
      assert.match(traces(await cluster.dump(), address).join(), /Logical_Switch_Port a\.raving/, 'the pod keeps its port');
      await cluster.kubectl(['delete', 'pods', '--all', '-n', 'raving', '--wait=false']);
      await untilAllDeleted(cluster, 'raving');
      await cluster.delete('namespace', 'raving');
    },
  },
];
