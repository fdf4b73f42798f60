import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, conformance, fresh, message, since, newNamespace, newNode, pod } from '../context.ts';
import type { Fields } from '../https-client.ts';

function onNode(name: string, node: string, more: Fields = {}): Fields {
  const plain = pod(name);
  return { ...plain, spec: { ...(plain['spec'] as Fields), nodeName: node, ...more } };
}

export function podCases(holder: Holder): void {
  const pods = async (): Promise<string> => `/api/v1/namespaces/${await newNamespace(holder)}/pods`;

  test('defaults', async () => {
    const { http } = conformance(holder);
    const created = await http.send('POST', await pods(), pod('p'));
    assert.equal(created.status, 201, created.text);
    const spec = created.body['spec'] as Fields;
    assert.deepEqual(
      [
        spec['restartPolicy'],
        spec['terminationGracePeriodSeconds'],
        spec['dnsPolicy'],
        spec['schedulerName'],
        spec['securityContext'],
        spec['enableServiceLinks'],
        spec['priority'],
      ],
      ['Always', 30, 'ClusterFirst', 'default-scheduler', {}, true, 0],
    );
    const container = at(spec, 'containers', 0) as Fields;
    assert.deepEqual(
      [container['imagePullPolicy'], container['terminationMessagePath'], container['terminationMessagePolicy'], container['resources']],
      ['IfNotPresent', '/dev/termination-log', 'File', {}],
    );
    assert.deepEqual(created.body['status'], { phase: 'Pending', qosClass: 'BestEffort' });
    assert.equal(at(spec, 'tolerations', 0, 'key'), 'node.kubernetes.io/not-ready');
  });

  test('a pod needs containers with names and images', async () => {
    const { http } = conformance(holder);
    const path = await pods();
    const none = await http.send('POST', path, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [] } });
    assert.equal(none.status, 422);
    assert.equal(message(none), 'Pod "p" is invalid: spec.containers: Required value');
    const nameless = await http.send('POST', path, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ image: 'i' }] },
    });
    assert.match(message(nameless), /spec\.containers\[0\]\.name: Required value/);
    const twice = await http.send('POST', path, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: {
        containers: [
          { name: 'a', image: 'i' },
          { name: 'a', image: 'i' },
        ],
      },
    });
    assert.match(message(twice), /spec\.containers\[1\]\.name: Duplicate value: "a"/);
    const typed = await http.send('POST', path, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: 'none' } });
    assert.equal(typed.status, 400);
    assert.equal(typed.body['reason'], 'BadRequest');
  });

  since(holder, 27, 'unknown fields of a core kind', async () => {
    const { http } = conformance(holder);
    const path = await pods();
    const strict = await http.send('POST', `${path}?fieldValidation=Strict`, {
      ...pod('p'),
      spec: { ...(pod('p')['spec'] as Fields), hostname: 'h', hostnam: 'h' },
    });
    assert.equal(strict.status, 400);
    assert.equal(message(strict), 'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.hostnam"');
  });

  test('a pod without a node is removed at once, one with a node waits for its kubelet', async () => {
    const { http } = conformance(holder);
    const path = await pods();
    await http.send('POST', path, pod('free'));
    const gone = await http.send('DELETE', `${path}/free`);
    assert.equal(gone.status, 200);
    assert.equal(gone.body['kind'], 'Pod');
    assert.equal((await http.get(`${path}/free`)).status, 404);
    await http.send('POST', path, onNode('bound', await newNode(holder), { terminationGracePeriodSeconds: 7 }));
    const before = Date.now();
    const asked = await http.send('DELETE', `${path}/bound`);
    const after = Date.now();
    assert.equal(at(asked.body, 'metadata', 'deletionGracePeriodSeconds'), 7);
    const deadline = Date.parse(String(at(asked.body, 'metadata', 'deletionTimestamp')));
    // The timestamp is in whole seconds.
    assert.ok(deadline >= before + 6_000 && deadline <= after + 8_000, `${deadline - before} ms`);
    const again = await http.send('DELETE', `${path}/bound`);
    assert.equal(at(again.body, 'metadata', 'resourceVersion'), at(asked.body, 'metadata', 'resourceVersion'));
    const shorter = await http.send('DELETE', `${path}/bound?gracePeriodSeconds=2`);
    assert.equal(at(shorter.body, 'metadata', 'deletionGracePeriodSeconds'), 2);
    const confirmed = await http.send('DELETE', `${path}/bound`, {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      gracePeriodSeconds: 0,
      preconditions: { uid: at(asked.body, 'metadata', 'uid') },
    });
    assert.equal(confirmed.status, 200);
    assert.equal((await http.get(`${path}/bound`)).status, 404);
  });

  test('grace and finalizers', async () => {
    const { http } = conformance(holder);
    const path = await pods();
    const held = onNode('held', await newNode(holder));
    await http.send('POST', path, { ...held, metadata: { name: 'held', finalizers: ['example.com/hold'] } });
    await http.send('DELETE', `${path}/held`);
    const zero = await http.send('DELETE', `${path}/held?gracePeriodSeconds=0`);
    assert.equal(zero.status, 200);
    const waiting = await http.get(`${path}/held`);
    assert.equal(at(waiting.body, 'metadata', 'deletionGracePeriodSeconds'), 0);
    await http.patch(`${path}/held`, 'merge-patch', { metadata: { finalizers: null } });
    assert.equal((await http.get(`${path}/held`)).status, 404);
  });

  test('removing the finalizer does not end the grace period', async () => {
    const { http } = conformance(holder);
    const path = await pods();
    await http.send('POST', path, {
      ...onNode('held', await newNode(holder)),
      metadata: { name: 'held', finalizers: ['example.com/hold'] },
    });
    await http.send('DELETE', `${path}/held`);
    await http.patch(`${path}/held`, 'merge-patch', { metadata: { finalizers: null } });
    assert.equal((await http.get(`${path}/held`)).status, 200);
    await http.send('DELETE', `${path}/held?gracePeriodSeconds=0`);
    assert.equal((await http.get(`${path}/held`)).status, 404);
  });

  test('binding', async () => {
    const { http } = conformance(holder);
    const path = await pods();
    await http.send('POST', path, pod('p'));
    const node = await newNode(holder);
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { apiVersion: 'v1', kind: 'Node', name: node } };
    const bound = await http.send('POST', `${path}/p/binding`, binding);
    assert.equal(bound.status, 201);
    assert.equal(bound.body['status'], 'Success');
    const read = await http.get(`${path}/p`);
    assert.equal(at(read.body, 'spec', 'nodeName'), node);
    const scheduled = (at(read.body, 'status', 'conditions') as Fields[]).find((condition) => condition['type'] === 'PodScheduled');
    assert.equal(scheduled?.['status'], 'True');
    const again = await http.send('POST', `${path}/p/binding`, binding);
    assert.equal(again.status, 409);
    assert.match(message(again), new RegExp(`pod p is already assigned to node "${node}"`));
    await http.send('DELETE', `${path}/p?gracePeriodSeconds=0`);
  });

  test('a new node is not ready until its status is, and has no status of its own', async () => {
    const { http, kubectl } = conformance(holder);
    const name = fresh('node');
    const created = await http.send('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name } });
    assert.deepEqual(at(created.body, 'spec'), { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] });
    assert.deepEqual(at(created.body, 'status', 'daemonEndpoints'), { kubeletEndpoint: { Port: 0 } });
    assert.equal(at(created.body, 'status', 'nodeInfo', 'kubeletVersion'), '');
    assert.match(
      await kubectl.ok(['get', 'node', name, '-o', 'wide']),
      /Unknown +<none> +\S+ +<none> +<none> +<unknown> +<unknown> +<unknown>/,
    );
    await http.patch(`/api/v1/nodes/${name}`, 'merge-patch', { spec: { taints: null } });
    assert.equal(at((await http.get(`/api/v1/nodes/${name}`)).body, 'spec', 'taints'), undefined);
    await http.send('DELETE', `/api/v1/nodes/${name}`);
  });

  test('status has a path of its own', async () => {
    const { http } = conformance(holder);
    const path = await pods();
    const created = await http.send('POST', path, pod('p'));
    const status = await http.patch(`${path}/p/status`, 'merge-patch', {
      status: { phase: 'Running', podIP: '10.0.0.5', podIPs: [{ ip: '10.0.0.5' }] },
    });
    assert.equal(status.status, 200, status.text);
    assert.equal(at(status.body, 'status', 'podIP'), '10.0.0.5');
    const ignored = await http.patch(`${path}/p`, 'merge-patch', { status: { phase: 'Failed' }, metadata: { annotations: { a: 'b' } } });
    assert.equal(at(ignored.body, 'status', 'phase'), 'Running');
    assert.equal(at(ignored.body, 'metadata', 'uid'), at(created.body, 'metadata', 'uid'));
  });

  test('an eviction that names another pod, or none, evicts no pod', async () => {
    const { http } = conformance(holder);
    const path = await pods();
    await http.send('POST', path, pod('stays'));
    const eviction = { apiVersion: holder.minor < 22 ? 'policy/v1beta1' : 'policy/v1', kind: 'Eviction' };
    for (const body of [eviction, { ...eviction, metadata: { name: 'other' } }]) {
      const rejected = await http.send('POST', `${path}/stays/eviction`, body);
      assert.deepEqual([rejected.status, message(rejected)], [400, 'name in URL does not match name in Eviction object']);
    }
    assert.equal((await http.get(`${path}/stays`)).status, 200);
  });

  since(holder, 22, 'eviction', async () => {
    const { http } = conformance(holder);
    const path = await pods();
    await http.send('POST', path, pod('free'));
    const tried = await http.send('POST', `${path}/free/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'free' },
      deleteOptions: { dryRun: ['All'] },
    });
    assert.equal(tried.status, 201, tried.text);
    const kept = await http.get(`${path}/free`);
    assert.deepEqual([kept.status, at(kept.body, 'metadata', 'deletionTimestamp')], [200, undefined]);
    const evicted = await http.send('POST', `${path}/free/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'free' },
    });
    assert.equal(evicted.status, 201, evicted.text);
    assert.equal((await http.get(`${path}/free`)).status, 404);
    const guarded = pod('guarded', { labels: { app: 'g' } });
    await http.send('POST', path, guarded);
    await http.patch(`${path}/guarded/status`, 'merge-patch', { status: { phase: 'Running' } });
    await http.send('POST', path.replace('/api/v1', '/apis/policy/v1').replace(/pods$/, 'poddisruptionbudgets'), {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: fresh('b') },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'g' } } },
    });
    const rejected = await http.send('POST', `${path}/guarded/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'guarded' },
    });
    assert.equal(rejected.status, 429);
    assert.equal(rejected.body['reason'], 'TooManyRequests');
    assert.match(message(rejected), /Cannot evict pod as it would violate the pod's disruption budget\./);
  });

  test('one Event, two groups', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const body = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', name: 'p', namespace, apiVersion: 'v1', uid: 'u1' },
      reason: 'Tried',
      message: 'it was tried',
      type: 'Warning',
      source: { component: 'case' },
      count: 2,
      firstTimestamp: '2024-01-01T00:00:00Z',
      lastTimestamp: '2024-01-01T00:00:00Z',
    };
    assert.equal((await http.send('POST', `/api/v1/namespaces/${namespace}/events`, body)).status, 201);
    const other = await http.get(`/apis/events.k8s.io/v1/namespaces/${namespace}/events/e`);
    assert.deepEqual(
      [at(other.body, 'regarding', 'name'), other.body['note'], other.body['deprecatedCount'], other.body['apiVersion']],
      ['p', 'it was tried', 2, 'events.k8s.io/v1'],
    );
    const made = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'f' },
      regarding: { kind: 'Pod', name: 'q', namespace },
      reason: 'Made',
      note: 'so',
      type: 'Normal',
      action: 'Make',
      reportingController: 'kiln.io/case',
      reportingInstance: 'case-1',
      eventTime: '2024-01-01T00:00:00.000001Z',
    };
    const created = await http.send('POST', `/apis/events.k8s.io/v1/namespaces/${namespace}/events`, made);
    assert.equal(created.status, 201, created.text);
    const core = await http.get(`/api/v1/namespaces/${namespace}/events/f`);
    assert.deepEqual(
      [at(core.body, 'involvedObject', 'name'), core.body['message'], core.body['reportingComponent']],
      ['q', 'so', 'kiln.io/case'],
    );
    const selected = await http.get(
      `/api/v1/namespaces/${namespace}/events?fieldSelector=${encodeURIComponent('involvedObject.name=p,involvedObject.kind=Pod,involvedObject.uid=u1')}`,
    );
    assert.equal((selected.body['items'] as Fields[]).length, 1);
  });

  test('the log of a pod without a node is empty, and exec fails', async () => {
    const { http, kubectl } = conformance(holder);
    const namespace = await newNamespace(holder);
    const path = `/api/v1/namespaces/${namespace}/pods`;
    await http.send('POST', path, pod('waiting'));
    assert.equal(await kubectl.ok(['logs', 'waiting', '-n', namespace]), '');
    assert.equal((await http.get(`${path}/nobody/log`)).status, 404);
    for (const [reply, pattern] of [
      [await http.get(`${path}/waiting/log?container=other`), 'container other is not valid for pod waiting'],
      [await http.send('POST', `${path}/waiting/exec?command=ls&stdout=1`), 'pod waiting does not have a host assigned'],
      [await http.send('POST', `${path}/waiting/attach?stdout=1`), 'pod waiting does not have a host assigned'],
    ] as const)
      assert.deepEqual([reply.status, message(reply)], [400, pattern]);
  });

  test('leases keep their micro time', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    const created = await http.send('POST', path, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'l' },
      spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2024-01-01T00:00:00.123456Z' },
    });
    assert.equal(at(created.body, 'spec', 'renewTime'), '2024-01-01T00:00:00.123456Z');
    const first = await http.send('PUT', `${path}/l`, {
      ...created.body,
      spec: { ...(created.body['spec'] as Fields), holderIdentity: 'you' },
    });
    assert.equal(first.status, 200, first.text);
    const late = await http.send('PUT', `${path}/l`, {
      ...created.body,
      spec: { ...(created.body['spec'] as Fields), holderIdentity: 'third' },
    });
    assert.equal(late.status, 409);
  });
}
