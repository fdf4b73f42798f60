/** A tenant edits objects faster than rules run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rule } from '../compile/compiler.ts';
import { RULES } from '../compile/rules.ts';
import type { KubeObject } from '../kube/resource.ts';
import { PODS } from '../kube/resource.ts';
import { until } from '../ovsdb/testing/ovsdb-server-process.ts';
import { InProcessCluster } from '../testing/in-process-cluster.ts';
import { keysOf } from '../world/domain.ts';
import { traitsOf } from '../world/resources.ts';

const FLOOD_PODS = 16;
const SLOW_MS = 25;

interface Annotated extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly annotations?: Readonly<Record<string, string>> };
}

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

function pod(namespace: string, name: string): KubeObject {
  const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace }, spec } as unknown as KubeObject;
}

test('while edits of one tenant come faster than rules run, writes for other tenants go on', async () => {
  await using cluster = await InProcessCluster.start();
  const { client } = cluster;
  await client.create(traitsOf('nodes'), {
    metadata: { name: 'n1' },
    status: { addresses: [{ type: 'InternalIP', address: '192.0.2.1' }] },
  } as unknown as KubeObject);
  for (const name of ['flood', 'quiet']) await client.create(traitsOf('namespaces'), { metadata: { name } });
  for (let n = 0; n < FLOOD_PODS; n++) await client.create(PODS, pod('flood', `f-${n}`));
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
      await client.create(PODS, pod('quiet', 'good'));
      await until(
        'the good pod is bound',
        async () =>
          (await client.get<Annotated>(PODS, { namespace: 'quiet', name: 'good' })).metadata.annotations?.[
            'ovn.kubernetes.io/allocated'
          ] === 'true',
      );
    } finally {
      flooding.goes = false;
      await Promise.all(floods);
    }
    await controller.untilQuiet();
    assert.deepEqual(controller.plan(), { rows: [], objects: [] });
  });
});
