/** deploy/agent.yaml and deploy/agent-policy.yaml on a real API server: an agent changes what is its own, and nothing else. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { apiServerMinor, missingClusterPrograms, RealCluster } from '../../lab/real-cluster/real-cluster.ts';
import { KubeClient } from '../../src/kube/client/client.ts';
import type { Resource } from '../../src/kube/resource.ts';
import { connectionFromKubeconfig } from '../../src/kube/transport/connection.ts';
import { KubeTransport } from '../../src/kube/transport/transport.ts';
import { deployed, POLICIES_SINCE } from '../../src/testing/controller-account.ts';
import { eventually } from '../../src/testing/until.ts';

const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
/** Tokens for a node, which tell it in the user's extra fields as those of pods do, need no feature gate since 1.32. */
const missing =
  missingClusterPrograms() ?? ((await apiServerMinor()) >= Math.max(POLICIES_SINCE, 32) ? undefined : 'the API server is too old');

describe('the account of the node agent', { skip: missing ?? false }, () => {
  let cluster: RealCluster;
  let client: KubeClient;
  before(async () => {
    cluster = new RealCluster();
    await cluster.start();
    for (const name of ['node-1', 'node-2']) {
      const object = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
      await cluster.kubectl(['create', '-f', '-'], JSON.stringify(object));
    }
    for (const file of ['agent.yaml', 'agent-policy.yaml']) await cluster.kubectl(['apply', '-f', '-'], deployed(file));
    const bound = ['--bound-object-kind=Node', '--bound-object-name=node-1'];
    const token = await cluster.kubectl(['create', 'token', 'kiln-agent', '--namespace=kube-system', ...bound]);
    const path = `${cluster.kubeconfig}.agent`;
    await cluster.writeTokenKubeconfig(path, token.trim());
    client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path })));
  });
  after(async () => {
    await client.close();
    await cluster.stop();
  });

  const patch = async (node: string, body: object, subresource?: 'status'): Promise<string> =>
    await client.strategicPatch(NODES, { name: node }, body, subresource === undefined ? {} : { subresource }).then(
      () => 'done',
      (error: unknown) => String(error),
    );
  const condition = (type: string): object => ({ status: { conditions: [{ type, status: 'False', reason: 'R', message: 'm' }] } });

  test('its own Node: chassis, labels of networks and the condition, and nothing else; no other Node', async () => {
    await eventually('the policy is in effect', async () =>
      /only change its own Node/.test(await patch('node-2', { metadata: { annotations: { 'ovn.kubernetes.io/chassis': 'x' } } })),
    );
    assert.equal(await patch('node-1', { metadata: { annotations: { 'ovn.kubernetes.io/chassis': 'x' } } }), 'done');
    assert.equal(await patch('node-1', { metadata: { labels: { 'n.provider-network.kubernetes.io/ready': 'true' } } }), 'done');
    assert.equal(await patch('node-1', condition('NetworkUnavailable'), 'status'), 'done');
    for (const body of [
      { spec: { unschedulable: true } },
      { metadata: { annotations: { other: 'x' } } },
      { metadata: { labels: { role: 'x' } } },
    ])
      assert.match(await patch('node-1', body), /may only change its chassis/, JSON.stringify(body));
    assert.match(await patch('node-1', condition('Ready'), 'status'), /may only change condition NetworkUnavailable/);
    assert.match(await patch('node-2', condition('NetworkUnavailable'), 'status'), /may only change its own Node/);
  });

  test('of OvnEips the readiness of the one with the name of its Node, and nothing else', async () => {
    await cluster.kubectl(['apply', '--server-side', '-f', '-'], deployed('crds.yaml'));
    for (const name of ['node-1', 'node-2']) {
      const object = { apiVersion: 'kubeovn.io/v1', kind: 'OvnEip', metadata: { name }, spec: { type: 'lsp' } };
      await eventually('its kind is served', async () =>
        cluster.kubectl(['create', '-f', '-'], JSON.stringify(object)).then(
          () => true,
          () => false,
        ),
      );
    }
    const eips: Resource = { group: 'kubeovn.io', version: 'v1', plural: 'ovn-eips', kind: 'OvnEip', namespaced: false };
    const report = async (name: string, status: object): Promise<string> =>
      await client.mergePatch(eips, { name }, { status }, { subresource: 'status' }).then(
        () => 'done',
        (error: unknown) => String(error),
      );
    await eventually('the policy is in effect', async () => /with the name of its Node/.test(await report('node-2', { ready: true })));
    assert.equal(await report('node-1', { ready: true }), 'done');
    assert.equal(await report('node-1', { ready: false }), 'done');
    for (const status of [{ v4Ip: '10.0.0.1' }, { type: 'nat' }, { conditions: [{ type: 'X', status: 'True' }] }])
      assert.match(await report('node-1', status), /may only change whether an OvnEip is ready/, JSON.stringify(status));
    assert.equal(await patch('node-1', { metadata: { labels: { 'ovn.kubernetes.io/node-ext-gw': 'true' } } }), 'done');
  });

  test('kubectl apply -f deploy/ makes all objects, and a second time leaves what members filled in', async () => {
    const folder = join(import.meta.dirname, '../../deploy');
    const first = await cluster.kubectl(['apply', '-f', folder]);
    for (const name of [
      'daemonset.apps/kiln-agent',
      'daemonset.apps/kiln-ovs',
      'daemonset.apps/kiln-ovn-central',
      'deployment.apps/kiln-controller',
    ])
      assert.match(first, new RegExp(`^${name} (created|configured|unchanged)$`, 'm'));
    const key = ['-n', 'kube-system', 'get', 'secret', 'kiln-ovn-node-tls', '--output=jsonpath={.data.key}'];
    const data = { data: { key: Buffer.from('k').toString('base64') } };
    await cluster.kubectl(['-n', 'kube-system', 'patch', 'secret', 'kiln-ovn-node-tls', '--patch', JSON.stringify(data)]);
    const second = await cluster.kubectl(['apply', '-f', folder]);
    assert.doesNotMatch(second, / created$/m);
    const filled = second.split('\n').filter((line) => /^(secret|configmap)\//.test(line));
    assert.ok(filled.length >= 4 && filled.every((line) => line.endsWith(' unchanged')), filled.join('\n'));
    assert.equal(await cluster.kubectl(key), data.data.key);
  });
});
