/** A real outage: the API server ends and comes back, the Northbound database ends and comes back. What a person reads in the log. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { RULES } from '../compile/rules.ts';
import { KubeClient } from '../kube/client.ts';
import { connectionFromKubeconfig } from '../kube/connection.ts';
import { KubeTransport } from '../kube/transport.ts';
import { LabApiServer } from '../lab/apiserver/server.ts';
import { installCrds } from '../lab/crd-installation.ts';
import { monitoredColumns } from '../nb/tables.ts';
import { OvsdbSession } from '../ovsdb/index.ts';
import { OvsdbServerProcess, until } from '../ovsdb/testing/ovsdb-server-process.ts';
import { jsonLog } from '../runtime/log.ts';
import { DEFAULT_SETTINGS } from '../world/settings.ts';
import { Controller } from './controller.ts';

/** Long enough for every kind to fail several times. */
const OUTAGE_MS = 4_000;

interface Line {
  readonly level: string;
  readonly msg: string;
}

test('when the API server is away for a while the log has one line that it is, and one that it is back', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kiln-outage-'));
  const stateDir = join(directory, 'state');
  const ovn = await OvsdbServerProcess.start();
  let api = new LabApiServer({ stateDir });
  await api.start();
  const port = Number(new URL(api.url).port);
  const path = join(directory, 'kubeconfig');
  await api.writeKubeconfig(path);
  const client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path })));
  const lines: Line[] = [];
  const controller = new Controller({
    client,
    session: new OvsdbSession({ endpoints: [ovn.unix], database: 'OVN_Northbound', tables: monitoredColumns() }),
    rules: RULES,
    settings: DEFAULT_SETTINGS,
    namespace: 'kube-system',
    log: jsonLog('info', (line) => lines.push(JSON.parse(line) as Line)),
    lease: { durationMs: 1_500, renewMs: 1_000, retryMs: 200 },
  });
  try {
    await installCrds(client);
    controller.start();
    await controller.untilQuiet();
    const from = lines.length;
    await api.stop();
    await sleep(OUTAGE_MS);
    api = new LabApiServer({ stateDir, port });
    await api.start();
    await until('it is back', () => Promise.resolve(lines.slice(from).some(({ msg }) => msg === 'the API server is back')), 40_000);
    await controller.untilQuiet();
    const said = lines.slice(from).map(({ msg }) => msg);
    const told = said.filter((msg) => /API server|cache|renewed|refused/.test(msg));
    const begins = told.filter((msg) => msg === 'the API server is in trouble').length;
    const ends = told.filter((msg) => msg === 'the API server is back').length;
    assert.equal(begins + ends, told.length, told.join('\n'));
    // On a starved machine a request may time out once more when all is well again: then that is told, and its end.
    assert.ok(begins === ends && begins <= 2, told.join('\n'));
  } finally {
    await controller.stop();
    await client.close();
    await api.stop();
    await ovn.stop();
    await rm(directory, { recursive: true });
  }
});
