/** The stand-in kubelet with sandboxes: a fake container runtime, and the embedded API server. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { KubeClient } from '../../src/kube/client/client.ts';
import { EVENTS, type KubeObject, PODS } from '../../src/kube/resource.ts';
import { connectionFromKubeconfig } from '../../src/kube/transport/connection.ts';
import { KubeTransport } from '../../src/kube/transport/transport.ts';
import { until } from '../../src/testing/until.ts';
import { LabApiServer } from '../apiserver/server.ts';
import { makeTemporaryFolder } from '../temporary-folder.ts';
import type { ObservedPod } from './observed-pod.ts';
import { SandboxError, type Sandboxes } from './sandboxes.ts';
import { StandInKubelet } from './stand-in-kubelet.ts';

/** Pods named `stuck` never get a network; the first attempts for others fail as many times as `failures` says. */
class FakeSandboxes implements Sandboxes {
  readonly present = new Map<string, readonly string[]>();
  readonly tornDown: string[] = [];
  failures = 0;

  addressesOf({ metadata: { uid = '' } }: ObservedPod): readonly string[] | undefined {
    return this.present.get(uid);
  }

  async setUp(pod: ObservedPod, _node: object, signal: AbortSignal): Promise<void> {
    if (pod.metadata.name === 'stuck') await new Promise((aborted) => signal.addEventListener('abort', aborted));
    if (signal.aborted) throw new SandboxError(pod, 'set up', 'interrupted');
    if (this.failures-- > 0) throw new SandboxError(pod, 'set up', 'plugin type="kube-ovn" failed (add): the node agent does not run');
    this.present.set(pod.metadata.uid ?? '', ['10.16.0.9']);
  }

  tearDown({ metadata: { name, uid = '' } }: ObservedPod): Promise<void> {
    this.present.delete(uid);
    this.tornDown.push(name);
    return Promise.resolve();
  }
}

const sandboxes = new FakeSandboxes();
const api = new LabApiServer();
let folder: string;
let client: KubeClient;
let kubelet: StandInKubelet;

before(async () => {
  folder = await makeTemporaryFolder('kiln-sandboxes-');
  await api.start();
  await api.writeKubeconfig(join(folder, 'kubeconfig'));
  client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: join(folder, 'kubeconfig') })));
  kubelet = new StandInKubelet({ client, sandboxes, nodes: 1 });
  await kubelet.start();
});
after(async () => {
  await kubelet.stop();
  await client.close();
  await api.stop();
  await rm(folder, { recursive: true });
});

interface Pod extends KubeObject {
  readonly status?: { readonly phase?: string; readonly podIP?: string };
}

const create = (name: string, more: object = {}): Promise<unknown> =>
  client.create<KubeObject>(PODS, {
    metadata: { name, namespace: 'default' },
    spec: { containers: [{ name: 'main', image: 'busybox' }], ...more },
  } as KubeObject);
const find = (name: string): Promise<Pod | undefined> => client.find<Pod>(PODS, { namespace: 'default', name });

test("a failed network is an Event of its pod and tried again; the pod runs with the network's address", async () => {
  sandboxes.failures = 1;
  await create('web');
  await until('web runs', async () => (await find('web'))?.status?.phase === 'Running');
  assert.equal((await find('web'))?.status?.podIP, '10.16.0.9');
  let events: readonly (KubeObject & { readonly reason: string; readonly message: string; readonly type: string })[] = [];
  await until('its Event', async () => {
    events = await client.listAll(EVENTS);
    return events.length > 0;
  });
  assert.deepEqual(
    events.map(({ type, reason, message }) => [type, reason, message]),
    [
      [
        ...['Warning', 'FailedCreatePodSandBox'],
        'Failed to create pod sandbox: plugin type="kube-ovn" failed (add): the node agent does not run',
      ],
    ],
  );
});

test('the network of a pod is removed before its deletion is confirmed, at its end, and after a deletion without grace', async () => {
  await client.delete(PODS, { namespace: 'default', name: 'web' });
  await until('web is gone', async () => (await find('web')) === undefined);
  assert.ok(sandboxes.tornDown.includes('web'));
  await create('job');
  await until('job runs', async () => (await find('job'))?.status?.phase === 'Running');
  await client.mergePatch(PODS, { namespace: 'default', name: 'job' }, { status: { phase: 'Succeeded' } }, { subresource: 'status' });
  await until('the network of job is gone', () => sandboxes.tornDown.includes('job'));
  await create('hasty', { terminationGracePeriodSeconds: 0 });
  await until('hasty runs', async () => (await find('hasty'))?.status?.phase === 'Running');
  await client.delete(PODS, { namespace: 'default', name: 'hasty' }, { gracePeriodSeconds: 0 });
  await until('the network of hasty is gone', () => sandboxes.tornDown.includes('hasty'));
  assert.equal(sandboxes.present.size, 0);
});

test('a pod that is deleted while it waits for its network goes at once', async () => {
  await create('stuck');
  await until('stuck has a node', async () => ((await find('stuck')) as { spec?: { nodeName?: string } }).spec?.nodeName === 'node-1');
  await client.delete(PODS, { namespace: 'default', name: 'stuck' });
  await until('stuck is gone', async () => (await find('stuck')) === undefined);
});
