import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, conformance, fresh, message, newNamespace, pod } from '../context.ts';
import type { Fields } from '../https-client.ts';
import { until } from '../../../src/testing/until.ts';

const asking = (name: string, resources: Fields): Fields => {
  const body = pod(name);
  const [container] = at(body, 'spec', 'containers') as Fields[];
  return { ...body, spec: { ...(body['spec'] as Fields), containers: [{ ...container, resources }] } };
};

export function quotaCases(holder: Holder): void {
  const send = async (namespace: string, plural: string, body: Fields): Promise<{ status: number; text: string; body: Fields }> => {
    const reply = await conformance(holder).http.send('POST', `/api/v1/namespaces/${namespace}/${plural}`, body);
    return { status: reply.status, text: message(reply), body: reply.body };
  };
  /** Waits until the API server applies a quota and the usage by other requests: it observes both by watches, a moment later. */
  const untilTold = async (namespace: string, plural: string, body: Fields, isTaken = false): Promise<boolean> =>
    until("the server's admission knows the quota", async () => {
      const { status, text } = await send(namespace, `${plural}?dryRun=All`, body);
      return isTaken ? status === 201 : status === 403 && text.includes('exceeded quota');
    });
  const used = async (namespace: string): Promise<unknown> =>
    at((await conformance(holder).http.get(`/api/v1/namespaces/${namespace}/resourcequotas/q`)).body, 'status', 'used');

  test('a quota reports what is used, and the server rejects what would exceed it', async () => {
    const { kubectl, http } = conformance(holder);
    const namespace = await newNamespace(holder);
    await kubectl.ok(['create', 'quota', 'q', '-n', namespace, '--hard=pods=2,requests.cpu=1,services.nodeports=0,count/secrets=1']);
    await until('the quota is counted', async () => at(await used(namespace), 'pods') === '0');
    // The API server observes a new quota, and then its usage, by a watch.
    let silent = await send(namespace, 'pods?dryRun=All', pod('silent'));
    await until('the quota is asked', async () => {
      silent = await send(namespace, 'pods?dryRun=All', pod('silent'));
      return silent.status === 403 && !/status unknown/.test(silent.text);
    });
    assert.match(silent.text, /^pods "silent" is forbidden: failed quota: q: must specify requests\.cpu/);
    assert.equal((await send(namespace, 'pods', asking('one', { requests: { cpu: '700m' } }))).status, 201);
    await until('the pod is counted', async () => at(await used(namespace), 'requests.cpu') === '700m');
    const much = await send(namespace, 'pods', asking('two', { requests: { cpu: '0.5' } }));
    assert.deepEqual(
      [much.status, much.text],
      [403, 'pods "two" is forbidden: exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=700m, limited: requests.cpu=1'],
    );
    const invalid = await send(namespace, 'pods', asking('Two', { requests: { cpu: '9' } }));
    assert.equal(invalid.status, 422, 'what is wrong in itself is said first');
    assert.equal((await send(namespace, 'pods', asking('two', { requests: { cpu: '300m' } }))).status, 201);
    const third = await send(namespace, 'pods', asking('three', { requests: { cpu: '1m' } }));
    assert.match(
      third.text,
      /exceeded quota: q, requested: pods=1,requests\.cpu=1m, used: pods=2,requests\.cpu=1, limited: pods=2,requests\.cpu=1$/,
    );
    const port = await send(namespace, 'services', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'np' },
      spec: { type: 'NodePort', ports: [{ port: 80 }] },
    });
    assert.match(
      port.text,
      /exceeded quota: q, requested: services\.nodeports=1, used: services\.nodeports=0, limited: services\.nodeports=0$/,
    );
    assert.equal(
      (await send(namespace, 'services', { apiVersion: 'v1', kind: 'Service', metadata: { name: 'ip' }, spec: { ports: [{ port: 80 }] } }))
        .status,
      201,
    );
    assert.match(await kubectl.ok(['describe', 'quota', 'q', '-n', namespace]), /^pods +2 +2$/m);
    await http.send('DELETE', `/api/v1/namespaces/${namespace}/pods/one?gracePeriodSeconds=0`);
    await until('what is gone counts no more', async () => at(await used(namespace), 'pods') === '1');
    await untilTold(namespace, 'pods', asking('four', { requests: { cpu: '1m' } }), true);
    assert.equal((await send(namespace, 'pods', asking('four', { requests: { cpu: '1m' } }))).status, 201);
  });

  test('an update counts against the quota with what it adds', async () => {
    const { kubectl, http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const hard = 'services=1,services.nodeports=1,services.loadbalancers=0,requests.storage=5Gi,persistentvolumeclaims=1';
    await kubectl.ok(['create', 'quota', 'q', '-n', namespace, `--hard=${hard}`]);
    await until('the quota is counted', async () => at(await used(namespace), 'services') === '0');
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ name: 'a', port: 80 }] } };
    await untilTold(namespace, 'services', { ...service, spec: { ...service.spec, type: 'LoadBalancer' } });
    assert.equal((await send(namespace, 'services', service)).status, 201);
    await until('the Service is counted', async () => at(await used(namespace), 'services') === '1');
    const path = `/api/v1/namespaces/${namespace}/services/s`;
    const change = async (spec: Fields): Promise<readonly [number, string]> => {
      const reply = await http.patch(path, 'strategic-merge-patch', { spec });
      return [reply.status, reply.status === 200 ? '' : message(reply)];
    };
    assert.deepEqual(await change({ type: 'LoadBalancer' }), [
      403,
      'services "s" is forbidden: exceeded quota: q, requested: services.loadbalancers=1, used: services.loadbalancers=0, limited: services.loadbalancers=0',
    ]);
    const two = [
      { name: 'a', port: 80 },
      { name: 'b', port: 81 },
    ];
    assert.deepEqual(await change({ type: 'NodePort', ports: two }), [
      403,
      'services "s" is forbidden: exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=0, limited: services.nodeports=1',
    ]);
    assert.deepEqual(await change({ type: 'NodePort' }), [200, '']);
    await until('the port is counted', async () => at(await used(namespace), 'services.nodeports') === '1');
    assert.deepEqual(await change({ sessionAffinity: 'ClientIP' }), [200, ''], 'a full quota lets through what takes no more');
    assert.deepEqual(await change({ ports: two }), [
      403,
      'services "s" is forbidden: exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1',
    ]);
    assert.deepEqual(await change({ type: 'ClusterIP', ports: two }), [200, '']);
    await until('what is given back counts no more', async () => at(await used(namespace), 'services.nodeports') === '0');
  });

  test('the growth of a claim counts against the quota', async () => {
    const { kubectl, http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const storageClassName = fresh('growing');
    const volumeName = fresh('volume');
    const storageClass = {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: storageClassName },
      provisioner: 'example.com/nobody',
      allowVolumeExpansion: true,
    };
    await kubectl.ok(['create', '-f', '-'], JSON.stringify(storageClass));
    await kubectl.ok(['create', 'quota', 'q', '-n', namespace, '--hard=requests.storage=24Gi,persistentvolumeclaims=1']);
    await until('the quota is counted', async () => at(await used(namespace), 'requests.storage') === '0');
    const asks = (storage: string): Fields => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'c' },
      spec: { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, volumeName },
    });
    await untilTold(namespace, 'persistentvolumeclaims', asks('25Gi'));
    const claim = await send(namespace, 'persistentvolumeclaims', asks('2Gi'));
    assert.equal(claim.status, 201, claim.text);
    const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/c`;
    await until('the claim is counted', async () => at(await used(namespace), 'requests.storage') === '2Gi');
    const volume = await http.send('POST', '/api/v1/persistentvolumes', {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: volumeName },
      spec: {
        storageClassName,
        capacity: { storage: '2Gi' },
        accessModes: ['ReadWriteOnce'],
        hostPath: { path: '/nowhere' },
        claimRef: { namespace, name: 'c' },
      },
    });
    assert.equal(volume.status, 201, volume.text);
    // Where a controller binds claims, it does so; elsewhere this test does. A controller that has not observed the volume yet may reset
    // the phase between two requests, and a claim that is not bound cannot grow: then the test binds it again.
    const bound = async (): Promise<boolean> => {
      await http.patch(`${path}/status`, 'merge-patch', { status: { phase: 'Bound', capacity: { storage: '2Gi' } } });
      const read = await http.get(path);
      return at(read.body, 'status', 'phase') === 'Bound';
    };
    const grow = async (storage: string): Promise<readonly [number, string]> => {
      let answer: readonly [number, string] = [0, ''];
      await until(`the claim is bound when it asks for ${storage}`, async () => {
        if (!(await bound())) return false;
        const reply = await http.patch(path, 'merge-patch', { spec: { resources: { requests: { storage } } } });
        answer = [reply.status, reply.status === 200 ? '' : message(reply)];
        return reply.status !== 422;
      });
      return answer;
    };
    assert.deepEqual(await grow('40Gi'), [
      403,
      'persistentvolumeclaims "c" is forbidden: exceeded quota: q, requested: requests.storage=38Gi, used: requests.storage=2Gi, limited: requests.storage=24Gi',
    ]);
    assert.deepEqual(await grow('5Gi'), [200, '']);
    // The controller that binds the claim may write annotations and status meanwhile. A real API server then retries the request, and
    // charges the difference once for each try until it recalculates the usage.
    const charged = ['5Gi', '8Gi', '11Gi'];
    await until('what is more is charged', async () => charged.includes(String(at(await used(namespace), 'requests.storage'))));
    await http.send('DELETE', path);
    await http.send('DELETE', `/api/v1/persistentvolumes/${volumeName}`);
    await http.send('DELETE', `/apis/storage.k8s.io/v1/storageclasses/${storageClassName}`);
  });

  test('a limit range sets defaults and bounds of a container', async () => {
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
    assert.equal(range.status, 201, range.text);
    assert.deepEqual(at(range.body, 'spec', 'limits', 0, 'defaultRequest'), { cpu: '200m', memory: '1Gi' });
    // The API server observes a new limit range by a watch.
    await until('the range counts', async () => {
      const { body } = await conformance(holder).http.send('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod('probe'));
      return at(body, 'spec', 'containers', 0, 'resources', 'limits') !== undefined;
    });
    const plain = await send(namespace, 'pods', pod('plain'));
    assert.equal(plain.status, 201, plain.text);
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
      assert.ok(greedy.text.includes(problem), `${problem}: ${greedy.text}`);
  });

  test('a limit in a template does not become its request: the pod gets that default', async () => {
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
