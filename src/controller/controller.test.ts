import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { RULES } from '../compile/rules.ts';
import { KubeClient } from '../kube/client.ts';
import { connectionFromKubeconfig } from '../kube/connection.ts';
import { KubeTransport } from '../kube/transport.ts';
import { LabApiServer } from '../lab/apiserver/server.ts';
import { installCrds } from '../lab/crd-installation.ts';
import { monitoredColumns } from '../nb/tables.ts';
import { OvsdbSession } from '../ovsdb/index.ts';
import { OvsdbServerProcess, until } from '../ovsdb/testing/ovsdb-server-process.ts';
import { SILENT } from '../runtime/log.ts';
import { DEFAULT_SETTINGS } from '../world/settings.ts';
import type { ControllerOptions } from './controller.ts';
import { Controller } from './controller.ts';

const run = promisify(execFile);

let directory: string;
let api: LabApiServer;
let ovn: OvsdbServerProcess;
let client: KubeClient;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kiln-controller-'));
  api = new LabApiServer({ dataDir: directory });
  ovn = await OvsdbServerProcess.start();
  await api.start();
  const path = join(directory, 'kubeconfig');
  await api.writeKubeconfig(path);
  client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path })));
  await installCrds(client);
});

after(async () => {
  await client.close();
  await api.stop();
  await ovn.stop();
  await rm(directory, { recursive: true });
});

async function nbctl(...args: string[]): Promise<string> {
  const { stdout } = await run('ovn-nbctl', ['--no-leader-only', `--db=${ovn.unix}`, ...args]);
  return stdout.trim();
}

async function withController(more: Partial<ControllerOptions>, use: (controller: Controller) => Promise<void>): Promise<void> {
  const controller = new Controller({
    client,
    session: new OvsdbSession({ endpoints: [ovn.unix], database: 'OVN_Northbound', tables: monitoredColumns() }),
    rules: RULES,
    settings: DEFAULT_SETTINGS,
    namespace: 'kube-system',
    log: SILENT,
    lease: { durationMs: 1_500, renewMs: 1_000, retryMs: 200 },
    ...more,
  });
  controller.start();
  try {
    await use(controller);
  } finally {
    await controller.stop();
  }
}

test('a leader whose term another wrote over, and who keeps the Lease, takes the next term and goes on', async () => {
  await withController({}, async (controller) => {
    await controller.untilQuiet();
    const term = Number((await nbctl('get', 'NB_Global', '.', 'external_ids:kiln.io/term')).replaceAll('"', ''));
    await nbctl('set', 'NB_Global', '.', `external_ids:kiln.io/term="${term + 7}"`);
    await nbctl('lr-del', 'ovn-cluster');
    await until('the router is back', async () => (await nbctl('lr-list')).includes('ovn-cluster'), 10_000);
    await controller.untilQuiet();
    assert.deepEqual(controller.plan(), { rows: [], objects: [] });
  });
});

test('one that only observes is quiet when it has derived everything, and writes nothing', async () => {
  const before = await nbctl('list', 'Logical_Router');
  await withController({ readOnly: true }, async (controller) => {
    await Promise.race([
      controller.untilQuiet(),
      new Promise((_, reject) => setTimeout(() => reject(new Error('never quiet')), 10_000).unref()),
    ]);
    assert.deepEqual(controller.plan(), { rows: [], objects: [] });
    assert.equal(controller.status.transactions + controller.status.objectsWritten, 0);
  });
  assert.equal(await nbctl('list', 'Logical_Router'), before);
});
