/** What must hold when a history has ended and everything has converged: the invariants, progress, and after deletion no leftovers. */
import assert from 'node:assert/strict';
import { isKubeError } from '../../src/kube/errors.ts';
import type { ForeignSnapshot } from '../../src/invariants/foreign-rows.ts';
import type { PrintedObject, ScenarioCluster } from '../../src/testing/scenario-cluster.ts';
import { traces } from '../scenarios/northbound.ts';
import type { History, Target } from './history.ts';
import { NAMESPACES } from './history.ts';
import { exists, nameOf } from './player.ts';
import { RESOURCES } from '../../src/world/resources.ts';

/** After the bursts: each pod has its network, or a condition says why not. */
export async function checkConverged(cluster: ScenarioCluster, foreign: ForeignSnapshot): Promise<void> {
  // A pod that gets its node only now would be new to the fresh controller that must plan nothing.
  await cluster.eventually('each pod has a node', async () => {
    const printed = await cluster.kubectl(['get', 'pods', '-A', '-o', 'json']);
    const { items } = JSON.parse(printed) as { readonly items: readonly PrintedObject[] };
    return items.every(({ metadata, spec }) => metadata.deletionTimestamp !== undefined || spec['nodeName'] !== undefined);
  });
  await cluster.converged();
  await cluster.endsWell(foreign);
  for (const namespace of NAMESPACES)
    await cluster.eventually(`each pod of ${namespace} has an address, or a condition reports why not`, async () => {
      const printed = await cluster.kubectl(['get', 'pods', '-n', namespace, '-o', 'json']);
      for (const pod of (JSON.parse(printed) as { readonly items: readonly PrintedObject[] }).items) {
        if (pod.metadata.deletionTimestamp !== undefined || pod.spec['nodeName'] === undefined) continue;
        const bound = pod.metadata.annotations?.['ovn.kubernetes.io/allocated'] === 'true';
        const condition = pod.status?.conditions?.find(({ type }) => type === 'kiln.io/NetworkBound');
        assert.ok(
          bound || condition?.status === 'False',
          `pod ${namespace}/${pod.metadata.name} has no address, and no condition reports why: ${JSON.stringify(pod.status?.conditions)}`,
        );
      }
      return true;
    });
}

/** Deletes everything in the order of the history. Nothing may be left, and no finalizer is removed by hand. */
export async function checkDeletion(
  cluster: ScenarioCluster,
  foreign: ForeignSnapshot,
  { ending, endsUnattended }: History,
): Promise<void> {
  if (endsUnattended) await cluster.controller.kill9();
  for (const target of ending)
    // A request to an API server that does not answer in time may not have arrived, so it is repeated.
    await cluster.eventually(`${target.kind} ${target.key} is to go`, async () => {
      await cluster.client.delete(RESOURCES[target.kind], nameOf(target)).catch((error: unknown) => {
        if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
      });
      return true;
    });
  if (endsUnattended) cluster.startController();
  await cluster.eventually('everything is gone', async () => {
    const left: Target[] = [];
    for (const target of ending) if (await exists(cluster, target)) left.push(target);
    const ips = (await cluster.names('ip')).filter((name) => name.includes('.chaos-'));
    if (left.length + ips.length > 0) throw new Error(`left: ${[...left.map(({ key }) => key), ...ips].join(', ')}`);
    return true;
  });
  await cluster.converged();
  await cluster.endsWell(foreign);
  assert.deepEqual(traces(await cluster.dump(), 'chaos-'), []);
}
