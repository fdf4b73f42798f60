/** A restart without a change writes nothing except the term. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ControllerProcess } from '../../src/testing/controller-process.ts';
import type { ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { condition, namespaceYaml, podYaml, running, subnetYaml, vpcYaml } from './pods.ts';
import type { Scenario } from './scenario.ts';

const KINDS = 'vpcs,subnets,ips,ippools,nodes,namespaces,pods,events';

/** `<kind>/<namespace>/<name> <resourceVersion>` of every object that the controller writes. */
async function versions(cluster: ScenarioCluster): Promise<readonly string[]> {
  const printed = await cluster.kubectl([
    'get',
    KINDS,
    '-A',
    '-o',
    'jsonpath={range .items[*]}{.kind}/{.metadata.namespace}/{.metadata.name} {.metadata.resourceVersion}{"\\n"}{end}',
  ]);
  return printed
    .split('\n')
    .filter((line) => line !== '')
    .toSorted();
}

/** How often these controllers began to lead. */
async function termsOf(controllers: readonly ControllerProcess[]): Promise<number> {
  return (await Promise.all(controllers.map((one) => one.log()))).flat().filter(({ msg }) => msg === 'writing').length;
}

/** Waits until nothing is written any more: Events about earlier changes may still be sent. */
async function untilNoWrites(cluster: ScenarioCluster): Promise<void> {
  await cluster.eventually('two seconds without a write', async () => {
    const before = await versions(cluster);
    await sleep(2_000);
    return isDeepStrictEqual(await versions(cluster), before);
  });
}

export const restarts: readonly Scenario[] = [
  {
    name: 'C76 a restart with no change writes one row (the term) and no object',
    alone: true,
    run: async (cluster) => {
      const all =
        vpcYaml('still', { staticRoutes: [{ cidr: '192.168.0.0/24', nextHopIP: '10.130.0.7' }] }) +
        subnetYaml('still-net', {
          vpc: 'still',
          cidrBlock: '10.130.0.0/24,fd00:130::/64',
          namespaces: ['still'],
          private: true,
          enableDHCP: true,
        }) +
        subnetYaml('still-bad', { vpc: 'still', cidrBlock: 'nonsense' }) +
        subnetYaml('still-central', { cidrBlock: '10.131.0.0/24', gatewayType: 'centralized', gatewayNode: 'node-1', natOutgoing: true }) +
        namespaceYaml('still');
      await cluster.apply(
        all +
          podYaml('still', 'a') +
          podYaml('still', 'b') +
          podYaml('still', 'waits', { annotations: { 'ovn.kubernetes.io/logical_switch': 'nowhere' } }) +
          podYaml('default', 'still'),
      );
      await running(cluster, 'still', 'b');
      await running(cluster, 'default', 'still');
      await condition(cluster, 'pod', 'waits', 'kiln.io/NetworkBound', 'False', 'still');
      await cluster.converged();
      await untilNoWrites(cluster);
      const started: ControllerProcess[] = [cluster.controller];
      const mark = await termsOf(started);
      const [objects, log] = [await versions(cluster), await cluster.northboundLog()];
      for (const way of ['stop', 'kill9'] as const) {
        await cluster.controller[way]();
        const next = cluster.startController();
        started.push(next);
        await next.untilLogged('writing');
        await sleep(2_000);
      }
      assert.deepEqual(await versions(cluster), objects);
      const since = (await cluster.northboundLog()).slice(log.length).map(({ comment }) => comment);
      // A controller on a stalled machine loses its Lease, and takes the next term.
      assert.equal(since.length, (await termsOf(started)) - mark, `transactions since: ${since.join('; ')}`);
      assert.ok(since.every((comment) => /^kiln: term \d+$/.test(comment)));
      await cluster.removeAll(all + podYaml('default', 'still'));
    },
  },
];
