import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { KubeClient } from '../../src/kube/client/client.ts';
import { connectionTo } from '../../src/kube/transport/connection.ts';
import { KubeTransport } from '../../src/kube/transport/transport.ts';
import { until } from '../../src/testing/until.ts';
import { missingClusterPrograms, RealCluster } from '../real-cluster/real-cluster.ts';
import { StandInKubelet } from './stand-in-kubelet.ts';

interface PodOutput {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly phase: string;
    readonly podIP?: string;
    readonly podIPs?: readonly { readonly ip: string }[];
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly ready: boolean }[];
  };
}

describe('stand-in kubelet on a real API server', { skip: missingClusterPrograms() ?? false }, () => {
  let cluster: RealCluster;
  let kubelet: StandInKubelet;
  let client: KubeClient;

  before(async () => {
    cluster = new RealCluster();
    await cluster.start();
    const connection = connectionTo({ server: cluster.server, ca: await cluster.caCertificate(), token: cluster.adminToken });
    client = new KubeClient(new KubeTransport(connection));
    kubelet = new StandInKubelet({ client, nodes: 2, onError: (error) => assert.fail(error.message) });
    await kubelet.start();
  });
  after(async () => {
    await kubelet?.stop();
    await client?.close();
    await cluster?.stop();
  });

  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'none' }] } };
  const selector = { matchLabels: { app: 'a' } };
  const create = async (object: object): Promise<void> => {
    await cluster.kubectl(['create', '-f', '-'], JSON.stringify(object));
  };
  const pods = async (): Promise<readonly PodOutput[]> =>
    (JSON.parse(await cluster.kubectl(['get', 'pods', '-o', 'json'])) as { readonly items: readonly PodOutput[] }).items;
  /** Does the part of the controller. */
  const connect = async (pod: string, addresses: string): Promise<void> => {
    const keys = { allocated: 'true', routed: 'true', ip_address: addresses };
    const annotations = Object.entries(keys).map(([key, value]) => `ovn.kubernetes.io/${key}=${value}`);
    await cluster.kubectl(['annotate', '--overwrite', 'pod', pod, ...annotations]);
  };
  const one = async (name: string): Promise<PodOutput> =>
    (await pods()).find(({ metadata }) => metadata.name === name) ?? assert.fail(`no pod ${name}`);

  test('its nodes are ready and untainted, also after a second start', async () => {
    await kubelet.start();
    await cluster.kubectl(['wait', '--for=condition=Ready', 'nodes', '--all', '--timeout=120s']);
    assert.equal(await cluster.kubectl(['get', 'nodes', '-o', 'jsonpath={.items[*].spec.taints}']), '');
    const addresses = 'jsonpath={.items[*].status.addresses[?(@.type=="InternalIP")].address}';
    assert.equal(await cluster.kubectl(['get', 'nodes', '-o', addresses]), '172.18.0.2 172.18.0.3');
  });

  test('pods of a StatefulSet start in order, as their networks come', async () => {
    const spec = { serviceName: 'db', replicas: 2, selector, template };
    await create({ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'db' }, spec });
    await until('db-0 has a node', async () => (await pods())[0]?.spec.nodeName !== undefined);
    assert.equal((await one('db-0')).status.phase, 'Pending');
    await connect('db-0', '10.16.0.2,fd00::2');
    await until('db-1 has a node', async () => (await pods())[1]?.spec.nodeName !== undefined);
    const { spec: first, status } = await one('db-0');
    assert.equal(status.phase, 'Running');
    assert.deepEqual(status.podIPs, [{ ip: '10.16.0.2' }, { ip: 'fd00::2' }]);
    assert.deepEqual(
      status.containerStatuses?.map(({ ready }) => ready),
      [true],
    );
    assert.notEqual(first.nodeName, (await one('db-1')).spec.nodeName, 'nodes are given in turn');
  });

  test('a new address replaces the old one, and conditions of other writers stay', async () => {
    const patch = { status: { conditions: [{ type: 'kiln.io/NetworkBound', status: 'True' }] } };
    await client.strategicPatch(
      { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true },
      { namespace: 'default', name: 'db-0' },
      patch,
      { subresource: 'status' },
    );
    await connect('db-0', '10.16.0.77');
    await until('the new address', async () => (await one('db-0')).status.podIP === '10.16.0.77');
    const { podIPs, conditions } = (await one('db-0')).status;
    assert.deepEqual(podIPs, [{ ip: '10.16.0.77' }]);
    assert.ok(conditions?.some(({ type }) => type === 'kiln.io/NetworkBound'));
  });

  test('a DaemonSet with host networking runs on every node at once', async () => {
    const labels = { app: 'agent' };
    const spec = {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { ...template.spec, hostNetwork: true } },
    };
    await create({ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'agent' }, spec });
    await cluster.kubectl(['rollout', 'status', 'daemonset/agent', '--timeout=120s']);
    const agents = (await pods()).filter(({ metadata }) => metadata.name.startsWith('agent'));
    assert.deepEqual(agents.map(({ status }) => status.podIP ?? '').sort(), ['172.18.0.2', '172.18.0.3']);
    await cluster.kubectl(['delete', 'daemonset', 'agent', '--timeout=120s']);
  });

  test('a deleted pod is gone long before its grace period ends', async () => {
    await cluster.kubectl(['delete', 'statefulset', 'db', '--cascade=foreground', '--timeout=120s']);
    await until('no pods', async () => (await pods()).length === 0);
  });
});
