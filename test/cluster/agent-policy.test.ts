/** deploy/agent.yaml and deploy/agent-policy.yaml on a real API server: an agent writes what its rules emit, and nothing else. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { apiServerMinor, missingClusterPrograms, RealCluster } from '../../lab/real-cluster/real-cluster.ts';
import { undeclared } from '../../src/agent/objects/declared-writes.ts';
import { COMPONENT, EventsTarget } from '../../src/agent/objects/events-target.ts';
import { ObjectsTarget } from '../../src/agent/objects/objects-target.ts';
import { StatusTarget } from '../../src/agent/objects/status-target.ts';
import { Retries } from '../../src/agent/retries.ts';
import type { NodeSettings } from '../../src/agent/rules/node-settings.ts';
import { NodeWorld } from '../../src/agent/world/node-world.ts';
import type { EventReason, NodeOutput, ObjectEventOutput, ObjectMetadataOutput } from '../../src/agent/world/outputs.ts';
import { isOneOf } from '../../src/api/agent-writes.ts';
import { AGENT_WRITES } from '../../src/kinds/generated/agent-writes.ts';
import { nodeBridge } from '../../src/kinds/node/agent-rules/node-bridge.ts';
import { nodeCondition } from '../../src/kinds/node/agent-rules/node-condition.ts';
import { GATEWAY_END, gatewayNode } from '../../src/kinds/ovn-eip/agent-rules/gateway-node.ts';
import { agentTable as subnetTable } from '../../src/kinds/subnet/agent-table.ts';
import { unreadLimits } from '../../src/kinds/pod/agent-rules/limit-events.ts';
import { labels, labelsOfNone, type NetworkState } from '../../src/kinds/provider-network/agent-rules/network-labels.ts';
import { KubeClient } from '../../src/kube/client/client.ts';
import { EventRecorder } from '../../src/kube/events/event-recorder.ts';
import type { KubeObject, Resource } from '../../src/kube/resource.ts';
import { EVENTS } from '../../src/kube/resource.ts';
import { connectionFromKubeconfig } from '../../src/kube/transport/connection.ts';
import { KubeTransport } from '../../src/kube/transport/transport.ts';
import { SILENT } from '../../src/runtime/log.ts';
import { deployed, POLICIES_SINCE } from '../../src/testing/controller-account.ts';
import { eventually } from '../../src/testing/until.ts';
import { systemClock } from '../../src/timing/clock.ts';

const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const EIPS: Resource = { group: 'kubeovn.io', version: 'v1', plural: 'ovn-eips', kind: 'OvnEip', namespaced: false };
const MAC = '00:00:00:00:00:05';
const SETTINGS: NodeSettings = {
  ...({ node: 'node-1', southbound: '', tunnel: 'geneve', datapath: 'system', defaultVpc: 'ovn-cluster', mtu: 1400 } as const),
};
/** Tokens that tell the node of their pod, in the user's extra fields, need no feature gate since 1.32. */
const missing =
  missingClusterPrograms() ?? ((await apiServerMinor()) >= Math.max(POLICIES_SINCE, 32) ? undefined : 'the API server is too old');

/** A pod of an agent on its node, and one beside it. */
const pod = (name: string, serviceAccountName: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'kube-system' },
  spec: { serviceAccountName, nodeName: 'node-1', containers: [{ name: 'a', image: 'a' }] },
});

interface Node extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly labels?: Readonly<Record<string, string>> };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly reason?: string }[] };
}

describe('the account of the node agent', { skip: missing ?? false }, () => {
  let cluster: RealCluster;
  let client: KubeClient;
  let agentPod: { readonly uid: string };
  before(async () => {
    cluster = new RealCluster();
    await cluster.start();
    for (const name of ['node-1', 'node-2']) await create({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
    await cluster.kubectl(['apply', '--server-side', '-f', '-'], deployed('crds.yaml'));
    for (const file of ['agent.yaml', 'agent-policy.yaml']) await cluster.kubectl(['apply', '-f', '-'], deployed(file));
    await create(pod('kiln-agent-x', 'kiln-agent'));
    const uid = ['get', 'pod', 'kiln-agent-x', '--namespace=kube-system', '--output=jsonpath={.metadata.uid}'];
    agentPod = { uid: (await cluster.kubectl(uid)).trim() };
    // As kubelet asks for the token that it projects into the pod.
    client = await clientOf('of-pod', [
      ...['--bound-object-kind=Pod', '--bound-object-name=kiln-agent-x', `--bound-object-uid=${agentPod.uid}`],
    ]);
    for (const name of ['node-1', 'node-2'])
      await eventually('OvnEips are served', async () =>
        create({ apiVersion: 'kubeovn.io/v1', kind: 'OvnEip', metadata: { name }, spec: { type: 'lsp' } }).then(
          () => true,
          () => false,
        ),
      );
    await eventually('the policies are in effect', async () =>
      /may only change what its rules write/.test(
        await patch('node-2', { metadata: { annotations: { 'ovn.kubernetes.io/chassis': 'x' } } }),
      ),
    );
    await eventually('each of them', async () => /may only/.test(await sendEvent({ reason: 'Killing' })));
  });
  after(async () => {
    await client.close();
    await cluster.stop();
  });

  const create = async (object: object): Promise<void> => {
    await cluster.kubectl(['create', '-f', '-'], JSON.stringify(object));
  };
  const clientOf = async (name: string, bound: readonly string[]): Promise<KubeClient> => {
    const token = await cluster.kubectl(['create', 'token', 'kiln-agent', '--namespace=kube-system', ...bound]);
    const path = `${cluster.kubeconfig}.${name}`;
    await cluster.writeTokenKubeconfig(path, token.trim());
    return new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path })));
  };
  const outcome = async (sent: Promise<unknown>): Promise<string> =>
    await sent.then(
      () => 'done',
      (error: unknown) => String(error),
    );
  const patch = async (node: string, body: object, subresource?: 'status', by = client): Promise<string> =>
    await outcome(by.strategicPatch(NODES, { name: node }, body, subresource === undefined ? {} : { subresource }));
  const report = async (name: string, status: object): Promise<string> =>
    await outcome(client.mergePatch(EIPS, { name }, { status }, { subresource: 'status' }));
  const event = (more: object): KubeObject =>
    ({
      metadata: { name: `e-${Math.random().toString(36).slice(2)}`, namespace: 'kube-system' },
      involvedObject: { kind: 'Pod', apiVersion: 'v1', name: 'kiln-agent-x', namespace: 'kube-system', uid: agentPod.uid },
      ...{ type: 'Warning', reason: 'PodQoSUpdateFailed', message: 'm', source: { component: COMPONENT } },
      ...{ reportingComponent: COMPONENT, reportingInstance: 'node-1', ...more },
    }) as KubeObject;
  const sendEvent = async (more: object): Promise<string> => await outcome(client.create(EVENTS, event(more)));

  test('every output of its rules about objects reaches the API server with the token of its pod', async () => {
    const world = new NodeWorld();
    const log = { ...SILENT };
    const wake = (): void => undefined;
    const retries = new Retries(systemClock, world, wake);
    const shared = { client, node: 'node-1', world, retries, clock: systemClock, log, wake };
    const [objects, status] = [new ObjectsTarget(shared), new StatusTarget(shared)];
    const events = new EventsTarget(new EventRecorder({ client, component: COMPONENT, instance: 'node-1', clock: systemClock }));
    objects.start();
    const written = { annotation: new Set<string>(), label: new Set<string>(), condition: new Set(), status: new Set(), event: new Set() };
    try {
      await eventually('all kinds are listed', async () => Promise.resolve(objects.observed));
      const carriedOut = async (output: NodeOutput): Promise<void> => {
        if (output.kind === 'object-metadata') {
          assert.deepEqual(undeclared(output), []);
          objects.desired.add(output);
          await eventually(`${JSON.stringify(output)} is in effect, and not ${world.failures.peek('nodes/node-1') ?? ''}`, async () => {
            objects.flush();
            return has(await client.get<Node>(NODES, { name: 'node-1' }), output);
          });
          objects.desired.remove(output);
          for (const key of Object.keys(output.annotations)) written.annotation.add(key);
          for (const key of Object.keys(output.labels ?? {})) written.label.add(key);
        } else if (output.kind === 'object-condition' || output.kind === 'object-status') {
          assert.deepEqual(undeclared(output), []);
          status.desired.add(output);
          await eventually(`${JSON.stringify(output)} is in effect`, async () => {
            status.flush();
            return Promise.resolve(status.quiet && status.plan().length === 0);
          });
          const found = await client.get<KubeObject & { readonly status?: Readonly<Record<string, unknown>> }>(
            output.kind === 'object-status' ? EIPS : NODES,
            { name: 'node-1' },
          );
          if (output.kind === 'object-status') assert.partialDeepStrictEqual(found.status, output.fields);
          else assert.match(JSON.stringify(found.status?.['conditions']), new RegExp(output.reason));
          status.desired.remove(output);
          written.condition.add(output.kind === 'object-condition' ? output.type : '');
          for (const field of Object.keys(output.kind === 'object-status' ? output.fields : {})) written.status.add(field);
        } else if (output.kind === 'object-event') {
          assert.deepEqual(undeclared(output), []);
          events.desired.add(output);
          events.flush();
          await eventually(`Event ${output.message}`, async () => (await messages()).includes(output.message));
          written.event.add(output.reason);
        }
      };
      for (const rule of stages(world)) for (const output of rule()) await carriedOut(output);
      // Nothing is admitted that no rule writes.
      for (const { annotations = [], labels: keys = [], conditions = [], status: fields = [], events: reasons = [] } of declared()) {
        for (const one of annotations)
          assert.ok(
            [...written.annotation].some((key) => isOneOf([one], key)),
            `no rule writes ${one}`,
          );
        for (const one of keys)
          assert.ok(
            [...written.label].some((key) => isOneOf([one], key)),
            `no rule writes ${one}`,
          );
        for (const one of conditions) assert.ok(written.condition.has(one), `no rule writes ${one}`);
        for (const one of fields) assert.ok(written.status.has(one), `no rule writes ${one}`);
        for (const one of reasons) assert.ok(written.event.has(one), `no rule writes ${one}`);
      }
    } finally {
      await Promise.all([objects.stop(), status.stop(), events.stop()]);
    }
  });

  const messages = async (): Promise<string> =>
    await cluster.kubectl(['get', 'events', '--all-namespaces', '--output=jsonpath={.items[*].message}']);

  test('of Nodes nothing but that, and no other Node', async () => {
    const network = 'n.provider-network.kubernetes.io';
    assert.equal(
      await patch('node-1', {
        metadata: { labels: { [`${network}/ready`]: 'true' }, annotations: { [`${network}/err_mesg`]: 'no eth1' } },
      }),
      'done',
    );
    for (const body of [
      { spec: { unschedulable: true } },
      { spec: { taints: [{ key: 'a', effect: 'NoExecute' }] } },
      { metadata: { annotations: { other: 'x' } } },
      { metadata: { annotations: { 'ovn.kubernetes.io/ip_address': '100.64.0.9' } } },
      { metadata: { annotations: { [`${network}/other`]: 'x' } } },
      { metadata: { labels: { role: 'x' } } },
      { metadata: { labels: { 'ovn.kubernetes.io/external-gw': 'true' } } },
      { metadata: { labels: { [`${network}/ready`]: 'false', role: 'x' } } },
      { metadata: { finalizers: ['example.com/mine'] } },
    ])
      assert.match(await patch('node-1', body), /may only change what its rules write on its own Node/, JSON.stringify(body));
    for (const body of [
      condition('Ready'),
      { status: { daemonEndpoints: { kubeletEndpoint: { Port: 6666 } } } },
      { status: { nodeInfo: { kernelVersion: '9', machineID: 'x' } } },
      { status: { volumesInUse: ['kubernetes.io/x'] } },
      { status: { volumesAttached: [{ name: 'kubernetes.io/x', devicePath: '/dev/x' }] } },
      { status: { phase: 'Terminated' } },
      { status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] } },
      { status: { capacity: { cpu: '1k' } } },
      { status: { allocatable: { cpu: '1k' } } },
      { status: { images: [{ names: ['x'], sizeBytes: 1 }] } },
      { metadata: { labels: { [`${network}/ready`]: 'false' } } },
      { metadata: { annotations: { other: 'x' } } },
    ])
      assert.match(await patch('node-1', body, 'status'), /may only change condition NetworkUnavailable/, JSON.stringify(body));
    assert.match(await patch('node-2', condition('NetworkUnavailable'), 'status'), /may only/);
    assert.match(await patch('node-2', { metadata: { labels: { [`${network}/ready`]: 'true' } } }), /may only/);
  });

  test('of OvnEips the readiness of the one with the name of its Node', async () => {
    assert.match(await report('node-2', { ready: true }), /may only change ready in the status of its own OvnEip/);
    for (const status of [{ v4Ip: '10.0.0.1' }, { type: 'nat' }, { conditions: [{ type: 'X', status: 'True' }] }])
      assert.match(await report('node-1', status), /may only change ready/, JSON.stringify(status));
    await cluster.kubectl([
      'create',
      'clusterrolebinding',
      'too-much',
      '--clusterrole=cluster-admin',
      '--serviceaccount=kube-system:kiln-agent',
    ]);
    await eventually('the right is in effect', async () =>
      /may only/.test(await outcome(client.mergePatch(EIPS, { name: 'node-1' }, { spec: { v4Ip: '1.1.1.1' } }))),
    );
  });

  // From here on every Role allows everything: the policies alone deny.
  test('Events in its own name, of its own node, with reasons of its rules', async () => {
    assert.equal(await sendEvent({}), 'done');
    for (const more of [
      { reportingComponent: 'kubelet', source: { component: 'kubelet' } },
      { reportingComponent: 'kiln-controller', source: { component: 'kiln-controller' } },
      { source: { component: 'kubelet' } },
      { reportingInstance: 'node-2' },
      { reason: 'Killing' },
      { involvedObject: { kind: 'Node', name: 'node-1' }, metadata: { name: 'of-node', namespace: 'default' } },
      {
        ...{ involvedObject: { kind: 'Node', name: 'node-2' }, reason: 'TunnelAddress' },
        metadata: { name: 'of-another', namespace: 'default' },
      },
    ])
      assert.match(await sendEvent(more), /may only create Events in the name of the agent of its own node/, JSON.stringify(more));
    const theirs = { ...event({ reportingComponent: 'kubelet', source: { component: 'kubelet' } }), apiVersion: 'v1', kind: 'Event' };
    await create(theirs);
    const changed = client.mergePatch(EVENTS, { name: theirs.metadata.name, namespace: 'kube-system' }, { message: 'no' });
    assert.match(await outcome(changed), /may only create Events/);
  });

  test('nothing else, whatever the Roles grant', async () => {
    const config: Resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
    const key = { metadata: { name: 'mine', namespace: 'kube-system' } };
    assert.match(await outcome(client.create(config, key)), /may only change what its rules write/);
    const pods: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
    const own = { name: 'kiln-agent-x', namespace: 'kube-system' };
    assert.match(await outcome(client.mergePatch(pods, own, { metadata: { labels: { a: 'b' } } })), /may only change what its rules write/);
    assert.match(await outcome(client.delete(NODES, { name: 'node-1' })), /may only/);
  });

  test('a token without a node changes no Node, by the rule and not by an error of it', async () => {
    const unbound = await clientOf('unbound', []);
    try {
      const said = await patch('node-1', { metadata: { annotations: { 'ovn.kubernetes.io/chassis': 'y' } } }, undefined, unbound);
      assert.match(said, /may only change what its rules write/);
      assert.doesNotMatch(said, /no such key|resulted in error/);
      // A user of that name without any extra field.
      const impersonated = ['patch', 'node', 'node-1', '--as=system:serviceaccount:kube-system:kiln-agent', '--patch'];
      await assert.rejects(
        cluster.kubectl([...impersonated, '{"metadata":{"annotations":{"ovn.kubernetes.io/chassis":"y"}}}']),
        (error) => {
          assert.match(String(error), /may only change what its rules write/);
          assert.doesNotMatch(String(error), /no such key|resulted in error/);
          return true;
        },
      );
    } finally {
      await unbound.close();
    }
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

function declared(): readonly { readonly [K in 'annotations' | 'labels' | 'conditions' | 'status' | 'events']?: readonly string[] }[] {
  return Object.values(AGENT_WRITES);
}

function condition(type: string): object {
  return { status: { conditions: [{ type, status: 'False', reason: 'R', message: 'm' }] } };
}

function has({ metadata }: Node, output: ObjectMetadataOutput): boolean {
  const same = (wanted: Readonly<Record<string, string | null>>, present: Readonly<Record<string, string>> | null | undefined): boolean =>
    Object.entries(wanted).every(([key, value]) => (present?.[key] ?? null) === value);
  return same(output.annotations, metadata.annotations) && same(output.labels ?? {}, metadata.labels);
}

/** The rules in states in which they write, one after the other. */
function stages(world: NodeWorld): readonly (() => readonly NodeOutput[])[] {
  const node = (): NonNullable<ReturnType<NodeWorld['nodes']['peek']>> => world.nodes.peek('node-1') ?? assert.fail('no node');
  const network =
    (state: NetworkState): (() => readonly NodeOutput[]) =>
    () =>
      labels(SETTINGS, node(), 'net1', state);
  const limits = (): ObjectEventOutput =>
    unreadLimits(
      { pod: { namespace: 'kube-system', name: 'kiln-agent-x' } } as Parameters<typeof unreadLimits>[0],
      { uid: 'u', annotations: {} },
      'no number',
    );
  // The types of outputs hold each of them to what its record declares.
  const reasons = (): readonly ObjectEventOutput[] =>
    Object.entries(AGENT_WRITES).flatMap(([resource, writes]) =>
      'events' in writes
        ? (writes.events as readonly EventReason[]).map((reason) => ({
            ...limits(),
            ...{ resource: resource as 'pods', reason, message: `about ${resource}: ${reason}` },
            ...(resource !== 'pods' && { namespace: '', name: 'node-1' }),
          }))
        : [],
    );
  const ready = { kind: 'ready', uplink: 'eth1', mtu: 1500, vlanInterfaces: true } as const;
  return [
    () => {
      world.settings.set('system-id', 'c-1');
      world.nodes.set('node-1', { ...node(), addresses: ['172.18.0.2'] });
      return world.glance(() => nodeBridge(SETTINGS).run(world, ''));
    },
    () => world.glance(() => nodeCondition(SETTINGS).run(world, '')),
    network({ kind: 'failed', why: 'interface eth1 is not there; ip link' }),
    network({ ...ready, warnings: ['eth1 has addresses by DHCP, which the bridge takes over', 'another'] }),
    network({ ...ready, vlanInterfaces: false, warnings: [] }),
    network({ kind: 'excluded' }),
    () => labelsOfNone(new Set(), SETTINGS, node()),
    () => {
      const spec = { cidrBlock: '172.31.0.0/24', gateway: '172.31.0.1' };
      world.subnets.set('external', subnetTable.view({ metadata: { name: 'external' }, spec }, 'node-1'));
      const eip = world.ovnEips.peek('node-1') ?? assert.fail('no OvnEip');
      world.ovnEips.set('node-1', { ...eip, subnet: 'external', addresses: ['172.31.0.5'], mac: MAC });
      return world.glance(() => gatewayNode(SETTINGS).run(world, ''));
    },
    () => {
      const eip = world.ovnEips.peek('node-1') ?? assert.fail('no OvnEip');
      world.ovnEips.set('node-1', { ...eip, subnet: 'external', addresses: ['172.31.0.5'], mac: MAC });
      world.gatewayNamespaces.set('ovnext', { complete: true });
      world.bfdResponders.set('/run/netns/ovnext', { sessions: {} });
      world.ports.set(GATEWAY_END, { externalIds: { 'ovn-installed': 'true' }, error: '' });
      world.devices.set(GATEWAY_END, { kind: 'present', mac: MAC, mtu: 1500, up: true, addresses: ['172.31.0.5/24'], routes: [] });
      const outputs = world.glance(() => gatewayNode(SETTINGS).run(world, ''));
      assert.ok(outputs.some((output) => output.kind === 'object-status' && output.fields['ready'] === true));
      return outputs;
    },
    () => [limits(), ...reasons()],
  ];
}
