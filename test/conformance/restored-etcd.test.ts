/**
 * A real etcd whose data is put back to an earlier state, under a kube-apiserver, with a controller and an agent's caches that have observed
 * newer versions: a watch from those is answered and stays silent.
 */
import assert from 'node:assert/strict';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { installCrds } from '../../lab/crd-installation.ts';
import { missingClusterPrograms, RealCluster } from '../../lab/real-cluster/real-cluster.ts';
import { ObjectsTarget } from '../../src/agent/objects/objects-target.ts';
import { Retries } from '../../src/agent/retries.ts';
import { NodeWorld } from '../../src/agent/world/node-world.ts';
import { RULES } from '../../src/compile/rules.ts';
import { Controller } from '../../src/controller/controller.ts';
import { KubeClient } from '../../src/kube/client/client.ts';
import { connectionFromKubeconfig } from '../../src/kube/transport/connection.ts';
import { KubeTransport } from '../../src/kube/transport/transport.ts';
import type { KubeObject } from '../../src/kube/resource.ts';
import { PODS } from '../../src/kube/resource.ts';
import { monitoredColumns } from '../../src/nb/tables.ts';
import { OvsdbSession } from '../../src/ovsdb/index.ts';
import { OvsdbServerProcess } from '../../src/ovsdb/testing/ovsdb-server-process.ts';
import type { Log } from '../../src/runtime/log.ts';
import { until } from '../../src/testing/until.ts';
import { systemClock } from '../../src/timing/clock.ts';
import { traitsOf } from '../../src/world/resources.ts';
import { DEFAULT_SETTINGS } from '../../src/world/settings.ts';

interface Annotated extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly annotations?: Readonly<Record<string, string>> };
}

const pod = (name: string): KubeObject & { readonly spec: unknown } => ({
  metadata: { name, namespace: 'default' },
  spec: { nodeName: 'n1', terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'busybox' }] },
});
/** Objects that exist only after the backup. */
const LATER = Array.from({ length: 20 }, (_, at) => `later-${at}`);

describe('after a restore of etcd', { skip: missingClusterPrograms() ?? false }, () => {
  test('controller and agent see what the restored server has, in a minute, and go on', { timeout: 600_000 }, async () => {
    await using real = new RealCluster({ controllerManager: false });
    await real.start();
    await using stack = new AsyncDisposableStack();
    const ovn = await OvsdbServerProcess.start({});
    stack.defer(() => ovn.stop());
    const client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: real.kubeconfig })));
    stack.defer(() => client.close());
    await installCrds(client);
    await client.create(traitsOf('nodes'), { metadata: { name: 'n1' } });

    const logged: string[] = [];
    const note = (message: string): void => void logged.push(message);
    const log: Log = { debug: () => undefined, info: note, warn: note, error: note };
    const controller = new Controller({
      client,
      session: new OvsdbSession({ endpoints: [ovn.unix], database: 'OVN_Northbound', tables: monitoredColumns() }),
      rules: RULES,
      settings: DEFAULT_SETTINGS,
      namespace: 'kube-system',
      collectionLimit: false,
      log,
    });
    controller.start();
    stack.defer(() => controller.stop());
    const world = new NodeWorld();
    const retries = new Retries(systemClock, world, () => undefined);
    const agent = new ObjectsTarget({ client, node: 'n1', world, retries, clock: systemClock, log, wake: () => undefined });
    agent.start();
    stack.defer(() => agent.stop());

    const isBound = async (name: string): Promise<boolean> => {
      const { metadata } = await client.get<Annotated>(PODS, { namespace: 'default', name });
      return metadata.annotations?.['ovn.kubernetes.io/ip_address'] !== undefined;
    };
    const ports = (): Promise<string> => ovn.nbctl('--bare', '--columns=name', 'list', 'Logical_Switch_Port');
    const data = join(real.directory, 'etcd');
    const backup = join(real.directory, 'backup');
    const whileStopped = async (run: () => Promise<void>): Promise<void> => {
      await real.kill('kube-apiserver');
      await real.kill('etcd', 'SIGTERM');
      await run();
      await real.restart('etcd');
      await real.restart('kube-apiserver');
    };

    await client.create(PODS, pod('kept'));
    await until('the pod is bound', () => isBound('kept'));
    await controller.untilQuiet();
    await whileStopped(() => cp(data, backup, { recursive: true }));
    await until('the controller leads again', () => controller.status.phase === 'leading' && controller.status.stale.length === 0);
    for (const name of LATER) await client.create(PODS, pod(name));
    for (const name of LATER) await until(`${name} is bound`, () => isBound(name));
    await until('the agent has observed them', () => LATER.every((name) => world.pods.peek(`default/${name}`) !== undefined));
    await controller.untilQuiet();

    await whileStopped(async () => {
      await rm(data, { recursive: true });
      await cp(backup, data, { recursive: true });
    });
    const began = performance.now();
    const isGone = (): boolean => LATER.every((name) => controller.world.pods.peek(`default/${name}`) === undefined);
    await until('the controller lacks what the server lacks', isGone, 120_000, () => logged.slice(-5).join('; '));
    await until('the agent too', () => LATER.every((name) => world.pods.peek(`default/${name}`) === undefined), 120_000);
    assert.ok(performance.now() - began < 90_000, `after ${Math.round(performance.now() - began)} ms`);
    assert.ok(
      logged.some((line) => line.includes('its data was restored')),
      logged.slice(-20).join('\n'),
    );
    await until('their ports are gone', async () => !(await ports()).includes('later-'));
    assert.match(await ports(), /kept\.default/);
    await client.create(PODS, pod('afterwards'));
    await until(
      'a new pod is bound',
      () => isBound('afterwards'),
      60_000,
      () => logged.slice(-5).join('; '),
    );
    await controller.untilQuiet();
    assert.deepEqual(controller.status.stale, []);
    await until('the agent goes on', () => !agent.busy, 60_000);
  });
});
