/**
 * CRDs of an older Kube-OVN lack status fields, which the API server prunes. Kiln must not write them again, and `kiln status` must report
 * it.
 */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { statusOf } from '../explain/status.ts';
import { allCrds } from '../api/kinds/crds.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { DEFINITIONS } from '../kube/cache/definition-watch.ts';
import type { KubeObject } from '../kube/resource.ts';
import { until } from '../testing/until.ts';
import { freshLook } from '../testing/fresh-look.ts';
import { InProcessCluster } from '../testing/in-process-cluster.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import { readOlderDefinitions } from './reading/older-definitions.ts';

/** Long enough to see repeated writes of a pruned status, which came after 0.2, 0.4, 0.8 s and so on. */
const WATCHED_MS = 3_000;

interface Reported extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string }[]; readonly selector?: readonly string[] };
}

/** Fields that Kube-OVN lacks up to 1.15; for the Vip, those that 1.12 lacks. */
const MISSING: Readonly<Partial<Record<ResourceName, readonly string[]>>> = {
  vlans: ['conditions'],
  'switch-lb-rules': ['conditions'],
  vips: ['conditions', 'selector', 'type'],
};

/** Removes the fields from the status of each CRD, or restores them. */
async function setDefinitions(client: KubeClient, missing: typeof MISSING): Promise<void> {
  for (const resource of Object.keys(MISSING)) {
    const crd = structuredClone(allCrds().find(({ spec }) => spec.names.plural === resource));
    assert.ok(crd);
    const status = crd.spec.versions[0]?.schema.openAPIV3Schema.properties?.['status'];
    for (const field of missing[resource as ResourceName] ?? [])
      delete (status?.properties as Record<string, unknown> | undefined)?.[field];
    const name = crd.metadata.name;
    const { metadata } = await client.get(DEFINITIONS, { name });
    await client.update(DEFINITIONS, { ...crd, metadata: { ...metadata, name } });
  }
}

test('what the API server prunes is not written again, is in kiln status, and is written once the definition has it', async () => {
  const patches: string[] = [];
  const onRequest = ({ method, url = '' }: IncomingMessage): void => {
    if (method === 'PATCH' && /\/(vlans|switch-lb-rules|vips)\//.test(url)) patches.push(url);
  };
  await using cluster = await InProcessCluster.start({ onRequest });
  const { client, ovn } = cluster;
  await setDefinitions(client, MISSING);
  await client.create(traitsOf('vlans'), { metadata: { name: 'v10' }, spec: { id: 10, provider: 'net1' } });
  await client.create(traitsOf('switch-lb-rules'), {
    metadata: { name: 'lb1' },
    spec: {
      vip: '10.96.9.9',
      namespace: 'default',
      selector: ['app:x'],
      ports: [{ name: 'a', port: 80, targetPort: 80, protocol: 'TCP' }],
    },
  });
  await client.create(traitsOf('vips'), {
    metadata: { name: 'vip1' },
    spec: { subnet: 'ovn-default', namespace: 'default', selector: ['app:x'] },
  });
  await cluster.withController({}, async (controller) => {
    await until('each was written', () => new Set(patches.map((url) => url.split('/')[5])).size === 3);
    await until('it has converged', () => controller.quiet);
    const before = patches.length;
    await sleep(WATCHED_MS);
    assert.deepEqual(patches.slice(before), []);

    await using look = await freshLook(client, ovn.unix);
    assert.deepEqual(look.plan(), { rows: [], objects: [] });
    await readOlderDefinitions(client, look.world, ['vlans', 'switch-lb-rules', 'vips', 'subnets', 'vpcs']);
    const findings = statusOf(look.world, true).findings.filter(({ what }) => what === 'outdated');
    assert.deepEqual(findings.map(({ key }) => key).toSorted(), ['switch-lb-rules.kubeovn.io', 'vips.kubeovn.io', 'vlans.kubeovn.io']);
    assert.match(
      findings.find(({ key }) => key.startsWith('vips'))?.message ?? '',
      /drops status\.conditions, status\.selector, status\.type of every Vip/,
    );

    await setDefinitions(client, {});
    const conditions = async (resource: ResourceName, name: string): Promise<number> =>
      (await client.get<Reported>(traitsOf(resource), { name })).status?.conditions?.length ?? 0;
    await until(
      'the statuses are there',
      async () => (await conditions('vlans', 'v10')) > 0 && (await conditions('switch-lb-rules', 'lb1')) > 0,
    );
  });
});
