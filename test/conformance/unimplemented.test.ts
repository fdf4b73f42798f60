/** Counts the writes for objects that are not implemented: one condition each, one annotation for each NAT rule, and no further write. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../src/testing/until.ts';
import { InProcessCluster } from '../../src/testing/in-process-cluster.ts';
import { conditionsOf } from '../../src/world/conditions.ts';
import { isNatRule } from '../../src/world/nat-rules.ts';
import type { ResourceName } from '../../src/world/resources.ts';
import { RESOURCES } from '../../src/world/resources.ts';
import { UNIMPLEMENTED_SPECS } from '../scenarios/unimplemented-specs.ts';

const KINDS = Object.keys(UNIMPLEMENTED_SPECS) as readonly ResourceName[];
const NAME = 'untold';

function placeOf(resource: ResourceName): { readonly name: string; readonly namespace?: string } {
  return { name: NAME, ...(RESOURCES[resource].namespaced ? { namespace: 'default' } : {}) };
}

test('an object of every kind that is not implemented is written once after its creation and once after an edit', async () => {
  await using cluster = await InProcessCluster.start();
  const { client } = cluster;
  await cluster.withController({}, async (controller) => {
    await controller.untilQuiet();
    const allReportIt = (): Promise<boolean> =>
      until('every object reports NotCarriedOut', async () => {
        for (const resource of KINDS) {
          const object = await client.get(RESOURCES[resource], placeOf(resource));
          const ready = conditionsOf(resource, object as never).find(({ type }) => type === 'Ready');
          if (
            ready?.reason !== 'NotCarriedOut' ||
            ready.observedGeneration !== (object as { readonly metadata: { readonly generation?: number } }).metadata.generation
          )
            return false;
        }
        return true;
      });
    const before = controller.status.objectsWritten;
    for (const resource of KINDS) {
      const { group, version, kind } = RESOURCES[resource];
      const [spec] = UNIMPLEMENTED_SPECS[resource] ?? [{}];
      await client.create(RESOURCES[resource], { apiVersion: `${group}/${version}`, kind, metadata: placeOf(resource), spec } as never);
    }
    await allReportIt();
    await sleep(500);
    await controller.untilQuiet();
    // A NAT rule also gets the EIP that it names, in a separate write, since its condition is in its status.
    const marks = KINDS.filter(isNatRule).length;
    assert.equal(controller.status.objectsWritten - before, KINDS.length + marks);
    const edited = KINDS.filter((resource) => Object.keys(UNIMPLEMENTED_SPECS[resource]?.[1] ?? {}).length > 0);
    for (const resource of edited)
      await client.mergePatch(RESOURCES[resource], placeOf(resource), { spec: UNIMPLEMENTED_SPECS[resource]?.[1] });
    await allReportIt();
    await sleep(500);
    await controller.untilQuiet();
    assert.equal(controller.status.objectsWritten - before, KINDS.length + marks + edited.length);
    assert.deepEqual(controller.plan(), { rows: [], objects: [] });
  });
});
