/** How often the controller writes of what it does not carry out, counted: a condition each, and nothing again. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { RULES } from '../../src/compile/rules.ts';
import { Controller } from '../../src/controller/controller.ts';
import { KubeClient } from '../../src/kube/client.ts';
import { connectionFromKubeconfig } from '../../src/kube/connection.ts';
import { KubeTransport } from '../../src/kube/transport.ts';
import { LabApiServer } from '../../src/lab/apiserver/server.ts';
import { installCrds } from '../../src/lab/crd-installation.ts';
import { monitoredColumns } from '../../src/nb/tables.ts';
import { OvsdbSession } from '../../src/ovsdb/index.ts';
import { OvsdbServerProcess, until } from '../../src/ovsdb/testing/ovsdb-server-process.ts';
import { SILENT } from '../../src/runtime/log.ts';
import { conditionsOf } from '../../src/world/conditions.ts';
import type { ResourceName } from '../../src/world/resources.ts';
import { RESOURCES } from '../../src/world/resources.ts';
import { DEFAULT_SETTINGS } from '../../src/world/settings.ts';
import { UNSERVED_SPECS } from '../scenarios/unserved-specs.ts';

const KINDS = Object.keys(UNSERVED_SPECS) as readonly ResourceName[];
const NAME = 'untold';

function placeOf(resource: ResourceName): { readonly name: string; readonly namespace?: string } {
  return { name: NAME, ...(RESOURCES[resource].namespaced ? { namespace: 'default' } : {}) };
}

test('an object of every kind that is not carried out is written once when it is made and once when it is edited', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kiln-told-'));
  const api = new LabApiServer({ dataDir: directory });
  const ovn = await OvsdbServerProcess.start();
  await api.start();
  const path = join(directory, 'kubeconfig');
  await api.writeKubeconfig(path);
  const client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path })));
  await installCrds(client);
  const controller = new Controller({
    client,
    session: new OvsdbSession({ endpoints: [ovn.unix], database: 'OVN_Northbound', tables: monitoredColumns() }),
    rules: RULES,
    settings: DEFAULT_SETTINGS,
    namespace: 'kube-system',
    log: SILENT,
  });
  controller.start();
  try {
    await controller.untilQuiet();
    const allSaySo = (): Promise<void> =>
      until(
        'all say so',
        async () => {
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
        },
        20_000,
      );
    const before = controller.status.objectsWritten;
    for (const resource of KINDS) {
      const { group, version, kind } = RESOURCES[resource];
      const [spec] = UNSERVED_SPECS[resource] ?? [{}];
      await client.create(RESOURCES[resource], { apiVersion: `${group}/${version}`, kind, metadata: placeOf(resource), spec } as never);
    }
    await allSaySo();
    await sleep(500);
    await controller.untilQuiet();
    assert.equal(controller.status.objectsWritten - before, KINDS.length);
    const edited = KINDS.filter((resource) => Object.keys(UNSERVED_SPECS[resource]?.[1] ?? {}).length > 0);
    for (const resource of edited) await client.mergePatch(RESOURCES[resource], placeOf(resource), { spec: UNSERVED_SPECS[resource]?.[1] });
    await allSaySo();
    await sleep(500);
    await controller.untilQuiet();
    assert.equal(controller.status.objectsWritten - before, KINDS.length + edited.length);
    assert.deepEqual(controller.plan(), { rows: [], objects: [] });
  } finally {
    await controller.stop();
    await client.close();
    await api.stop();
    await ovn.stop();
    await rm(directory, { recursive: true });
  }
});
