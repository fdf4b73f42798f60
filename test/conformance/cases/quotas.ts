import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, conformance, message, newNamespace, pod } from '../context.ts';
import type { Fields } from '../https-client.ts';
import { until } from '../kubectl.ts';

const asking = (name: string, resources: Fields): Fields => {
  const body = pod(name);
  const [container] = at(body, 'spec', 'containers') as Fields[];
  return { ...body, spec: { ...(body['spec'] as Fields), containers: [{ ...container, resources }] } };
};

export function quotaCases(holder: Holder): void {
  const send = async (namespace: string, plural: string, body: Fields): Promise<{ status: number; said: string; body: Fields }> => {
    const reply = await conformance(holder).http.send('POST', `/api/v1/namespaces/${namespace}/${plural}`, body);
    return { status: reply.status, said: message(reply), body: reply.body };
  };
  const used = async (namespace: string): Promise<unknown> =>
    at((await conformance(holder).http.get(`/api/v1/namespaces/${namespace}/resourcequotas/q`)).body, 'status', 'used');

  test('a quota tells what is used, and refuses what would be more', async () => {
    const { kubectl, http } = conformance(holder);
    const namespace = await newNamespace(holder);
    await kubectl.ok(['create', 'quota', 'q', '-n', namespace, '--hard=pods=2,requests.cpu=1,services.nodeports=0,count/secrets=1']);
    await until('the quota is counted', async () => at(await used(namespace), 'pods') === '0');
    const silent = await send(namespace, 'pods', pod('silent'));
    assert.equal(silent.status, 403);
    assert.match(silent.said, /^pods "silent" is forbidden: failed quota: q: must specify requests\.cpu/);
    assert.equal((await send(namespace, 'pods', asking('one', { requests: { cpu: '700m' } }))).status, 201);
    await until('the pod is counted', async () => at(await used(namespace), 'requests.cpu') === '700m');
    const much = await send(namespace, 'pods', asking('two', { requests: { cpu: '0.5' } }));
    assert.deepEqual(
      [much.status, much.said],
      [403, 'pods "two" is forbidden: exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=700m, limited: requests.cpu=1'],
    );
    const invalid = await send(namespace, 'pods', asking('Two', { requests: { cpu: '9' } }));
    assert.equal(invalid.status, 422, 'what is wrong in itself is said first');
    assert.equal((await send(namespace, 'pods', asking('two', { requests: { cpu: '300m' } }))).status, 201);
    const third = await send(namespace, 'pods', asking('three', { requests: { cpu: '1m' } }));
    assert.match(
      third.said,
      /exceeded quota: q, requested: pods=1,requests\.cpu=1m, used: pods=2,requests\.cpu=1, limited: pods=2,requests\.cpu=1$/,
    );
    const port = await send(namespace, 'services', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'np' },
      spec: { type: 'NodePort', ports: [{ port: 80 }] },
    });
    assert.match(
      port.said,
      /exceeded quota: q, requested: services\.nodeports=1, used: services\.nodeports=0, limited: services\.nodeports=0$/,
    );
    assert.equal(
      (await send(namespace, 'services', { apiVersion: 'v1', kind: 'Service', metadata: { name: 'ip' }, spec: { ports: [{ port: 80 }] } }))
        .status,
      201,
    );
    assert.match(await kubectl.ok(['describe', 'quota', 'q', '-n', namespace]), /^pods +2 +2$/m);
    await http.send('DELETE', `/api/v1/namespaces/${namespace}/pods/one?gracePeriodSeconds=0`);
    await until('what is gone counts no more', async () => at(await used(namespace), 'pods') === '1', 30_000);
    assert.equal((await send(namespace, 'pods', asking('four', { requests: { cpu: '1m' } }))).status, 201);
  });

  test('a limit range fills in what a container may have, and holds it to that', async () => {
    const namespace = await newNamespace(holder);
    const range = await send(namespace, 'limitranges', {
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: 'l' },
      spec: {
        limits: [
          { type: 'Container', default: { cpu: '200m' }, max: { cpu: '500m', memory: '1Gi' }, min: { cpu: '50m' } },
          { type: 'Pod', max: { memory: '1Gi' } },
        ],
      },
    });
    assert.equal(range.status, 201, range.said);
    assert.deepEqual(at(range.body, 'spec', 'limits', 0, 'defaultRequest'), { cpu: '200m', memory: '1Gi' });
    // A server hears of a new range by a watch of its own.
    await new Promise((resolve) => void setTimeout(resolve, 300));
    const plain = await send(namespace, 'pods', pod('plain'));
    assert.equal(plain.status, 201, plain.said);
    assert.deepEqual(at(plain.body, 'spec', 'containers', 0, 'resources'), {
      limits: { cpu: '200m', memory: '1Gi' },
      requests: { cpu: '200m', memory: '1Gi' },
    });
    assert.equal(at(plain.body, 'status', 'qosClass'), 'Guaranteed');
    assert.equal(
      at(plain.body, 'metadata', 'annotations', 'kubernetes.io/limit-ranger'),
      'LimitRanger plugin set: cpu, memory request for container main; cpu, memory limit for container main',
    );
    const greedy = await send(
      namespace,
      'pods',
      asking('greedy', { limits: { cpu: '2', memory: '2Gi' }, requests: { cpu: '10m', memory: '1' } }),
    );
    assert.equal(greedy.status, 403);
    for (const problem of [
      'minimum cpu usage per Container is 50m, but request is 10m',
      'maximum cpu usage per Container is 500m, but limit is 2',
      'maximum memory usage per Container is 1Gi, but limit is 2Gi',
      'maximum memory usage per Pod is 1Gi, but limit is 2',
    ])
      assert.ok(greedy.said.includes(problem), `${problem}: ${greedy.said}`);
  });

  test('what a template may have at most is not what it asks for: that is filled in with the pod', async () => {
    const { http, kubectl } = conformance(holder);
    const namespace = await newNamespace(holder);
    await kubectl.ok(['create', 'deployment', 'web', '-n', namespace, '--image=registry.example/app:1', '--replicas=0']);
    await kubectl.ok(['set', 'resources', 'deployment', 'web', '-n', namespace, '--limits=cpu=200m']);
    const deployment = await http.get(`/apis/apps/v1/namespaces/${namespace}/deployments/web`);
    assert.deepEqual(at(deployment.body, 'spec', 'template', 'spec', 'containers', 0, 'resources'), { limits: { cpu: '200m' } });
    const made = await send(namespace, 'pods', asking('limited', { limits: { cpu: '200m' } }));
    assert.deepEqual(at(made.body, 'spec', 'containers', 0, 'resources', 'requests'), { cpu: '200m' });
  });
}
