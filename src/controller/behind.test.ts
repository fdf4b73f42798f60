/** A tenant edits objects faster than rules run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rule } from '../compile/rule.ts';
import { RULES } from '../compile/rules.ts';
import { PODS } from '../kube/resource.ts';
import { until } from '../testing/until.ts';
import { createFloodTenants, podOnNode, untilGoodPodIsBound } from '../testing/flood-tenant.ts';
import { InProcessCluster } from '../testing/in-process-cluster.ts';
import { keysOf } from '../engine/domain.ts';

const FLOOD_PODS = 16;
const SLOW_MS = 25;

/** A slow rule, like the rules for an edit on which very many objects depend. */
const SLOW: Rule = {
  name: 'slow',
  over: (world) => keysOf(world.pods, ({ metadata }) => metadata.namespace === 'flood'),
  run: (world, key) => {
    world.pods.get(key);
    for (const end = performance.now() + SLOW_MS; performance.now() < end;);
    return [];
  },
};

test('while edits of one tenant come faster than rules run, writes for other tenants continue', async () => {
  await using cluster = await InProcessCluster.start();
  const { client } = cluster;
  await createFloodTenants(client, FLOOD_PODS);
  await cluster.withController({ rules: [...RULES, SLOW] }, async (controller) => {
    await until('it leads', () => controller.status.phase === 'leading' && controller.status.transactions > 0);
    await controller.untilQuiet();
    const flooding = { goes: true };
    let edits = 0;
    const flood = async (one: number): Promise<void> => {
      for (let n = one; flooding.goes; n = (n + 1) % FLOOD_PODS) {
        edits++;
        await client.mergePatch(PODS, { namespace: 'flood', name: `f-${n}` }, { metadata: { annotations: { edited: `${edits}` } } });
      }
    };
    const floods = Array.from({ length: FLOOD_PODS }, (_, n) => flood(n));
    try {
      await until('edits have come', () => edits >= 10 * FLOOD_PODS);
      await client.create(PODS, podOnNode('quiet', 'good'));
      await untilGoodPodIsBound(client);
    } finally {
      flooding.goes = false;
      await Promise.all(floods);
    }
    await controller.untilQuiet();
    assert.deepEqual(controller.plan(), { rows: [], objects: [] });
  });
});
