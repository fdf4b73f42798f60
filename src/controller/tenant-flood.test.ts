/** One tenant edits its unbindable pods without end: meanwhile the controller still serves another tenant. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeClient } from '../kube/client/client.ts';
import type { KubeObject } from '../kube/resource.ts';
import { EVENTS, PODS } from '../kube/resource.ts';
import { KubeTransport } from '../kube/transport/transport.ts';
import { until } from '../testing/until.ts';
import { createFloodTenants, podOnNode, untilGoodPodIsBound } from '../testing/flood-tenant.ts';
import { InProcessCluster } from '../testing/in-process-cluster.ts';

const SWITCH = 'ovn.kubernetes.io/logical_switch';
const FLOOD_PODS = 300;
/** Edits per second; the original attack had 258. */
const PACE = 300;

interface Told extends KubeObject {
  readonly involvedObject: { readonly name: string };
}

test("258 edits a second on pods that cannot be bound: another tenant's broken pods have their Events, and its good pod its address, within seconds", async () => {
  await using cluster = await InProcessCluster.start();
  const { client } = cluster;
  // A client with its own connections, as a tenant has.
  const tenant = new KubeClient(new KubeTransport(cluster.connection));
  await createFloodTenants(client, FLOOD_PODS, { [SWITCH]: 'nosuch' });
  await cluster.withController({}, async (controller) => {
    await until('it leads', () => controller.status.phase === 'leading' && controller.status.transactions > 0);
    let edits = 0;
    const flooding = { goes: true };
    const began = performance.now();
    const flood = async (): Promise<void> => {
      while (flooding.goes) {
        if (edits > ((performance.now() - began) / 1_000) * PACE) await sleep(2);
        else {
          const name = `f-${edits % FLOOD_PODS}`;
          edits++;
          await tenant.mergePatch(PODS, { namespace: 'flood', name }, { metadata: { annotations: { [SWITCH]: `nosuch-${edits}` } } });
        }
      }
    };
    const floods = Array.from({ length: 8 }, flood);
    try {
      await until('more Events wait than can be sent', () => controller.status.eventsWaiting >= 300);
      const at = edits;
      for (let n = 0; n < 10; n++) await client.create(PODS, podOnNode('quiet', `broken-${n}`, { [SWITCH]: 'nosuch' }));
      await client.create(PODS, podOnNode('quiet', 'good'));
      await untilGoodPodIsBound(client);
      const bound = edits - at;
      const podsWithEvents = async (): Promise<number> =>
        new Set(
          (await client.listAll<Told>(EVENTS, { namespace: 'quiet' }))
            .map(({ involvedObject: { name } }) => name)
            .filter((name) => name.startsWith('broken-')),
        ).size;
      await until('each broken pod has an Event', async () => (await podsWithEvents()) === 10);
      const reported = edits - at;
      assert.ok(controller.status.eventsWaiting >= 300, 'the flood went on meanwhile');
      // At most ten seconds of the flood, counted in edits: a slow machine slows the flood, too.
      assert.ok(bound < 10 * PACE && reported < 10 * PACE, `bound after ${bound} edits, reported after ${reported}`);
      const own = (await client.listAll<Told>(EVENTS, { namespace: 'flood' })).length;
      assert.ok(own > 0, 'the flood is slowed, not silenced');
    } finally {
      flooding.goes = false;
      await Promise.all(floods);
      await tenant.close();
    }
  });
});
