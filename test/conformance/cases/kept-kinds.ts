/** Kinds of common manifests that the API server stores, validates and prints, whether a controller implements them or not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, conformance, fresh, message, newNamespace, since } from '../context.ts';
import type { Fields } from '../https-client.ts';
import { until } from '../../../src/testing/until.ts';

const TEMPLATE = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.example/app:1' }] } };

export function keptKindCases(holder: Holder): void {
  const post = async (
    path: string,
    kind: string,
    apiVersion: string,
    body: Fields,
  ): Promise<{ status: number; body: Fields; text: string }> => {
    const { http } = conformance(holder);
    const reply = await http.send('POST', path, { apiVersion, kind, metadata: { name: fresh('kept') }, ...body });
    return { status: reply.status, body: reply.body, text: message(reply) };
  };

  test('the kinds that manifests contain are served, with their short names', async () => {
    const { kubectl } = conformance(holder);
    const served = await kubectl.ok(['api-resources', '--no-headers', '-o', 'wide']);
    const kinds = [
      /^jobs +batch\/v1 +true +Job /m,
      /^cronjobs +cj +batch\/v1/m,
      /^persistentvolumeclaims +pvc +v1 +true +PersistentVolumeClaim /m,
      /^persistentvolumes +pv +v1 +false +PersistentVolume /m,
      /^podtemplates +v1 +true +PodTemplate /m,
      /^replicationcontrollers +rc +v1 +true +ReplicationController /m,
      /^horizontalpodautoscalers +hpa +autoscaling\/v/m,
      /^ingresses +ing +networking\.k8s\.io\/v1 +true +Ingress /m,
      /^ingressclasses +networking\.k8s\.io\/v1 +false +IngressClass /m,
      /^storageclasses +sc +storage\.k8s\.io\/v1 +false +StorageClass /m,
      /^priorityclasses +pc +scheduling\.k8s\.io\/v1 +false +PriorityClass /m,
      /^volumeattachments +storage\.k8s\.io\/v1 +false +VolumeAttachment /m,
      /^csidrivers +storage\.k8s\.io\/v1 +false +CSIDriver /m,
      /^csinodes +storage\.k8s\.io\/v1 +false +CSINode /m,
      /^runtimeclasses +node\.k8s\.io\/v1/m,
      /^certificatesigningrequests +csr +certificates\.k8s\.io\/v1 +false +CertificateSigningRequest /m,
      /^mutatingwebhookconfigurations +admissionregistration\.k8s\.io\/v1 +false +MutatingWebhookConfiguration /m,
    ];
    for (const kind of kinds) assert.match(served, kind);
    const all = (await kubectl.ok(['api-resources', '--categories=all', '--no-headers', '-o', 'name'])).split('\n');
    for (const name of [
      'jobs.batch',
      'cronjobs.batch',
      'horizontalpodautoscalers.autoscaling',
      'replicationcontrollers',
      'pods',
      'services',
    ])
      assert.ok(all.includes(name), name);
  });

  test('a Job selects its own pods, and its template is immutable', async () => {
    const { http } = conformance(holder);
    const path = `/apis/batch/v1/namespaces/${await newNamespace(holder)}/jobs`;
    const created = await post(path, 'Job', 'batch/v1', { spec: { suspend: true, parallelism: 0, template: TEMPLATE } });
    assert.equal(created.status, 201, created.text);
    const uid = at(created.body, 'metadata', 'uid');
    assert.ok(Object.values(at(created.body, 'spec', 'selector', 'matchLabels') as Fields).includes(uid));
    assert.equal(at(created.body, 'spec', 'template', 'metadata', 'labels', 'controller-uid'), uid);
    assert.equal(at(created.body, 'spec', 'backoffLimit'), 6);
    const name = String(at(created.body, 'metadata', 'name'));
    const changed = await http.patch(`${path}/${name}`, 'merge-patch', { spec: { template: { spec: { restartPolicy: 'OnFailure' } } } });
    assert.equal(changed.status, 422, changed.text);
    assert.match(message(changed), /spec\.template: Invalid value: .*: field is immutable/);
    const always = await post(path, 'Job', 'batch/v1', { spec: { template: { spec: { ...TEMPLATE.spec, restartPolicy: 'Always' } } } });
    assert.equal(always.status, 422);
    assert.match(always.text, /spec\.template\.spec\.restartPolicy: (?:Unsupported|Required) value: .*"OnFailure", "Never"/);
  });

  since(holder, 21, 'a CronJob has a schedule of five fields', async () => {
    const path = `/apis/batch/v1/namespaces/${await newNamespace(holder)}/cronjobs`;
    const spec = (schedule: string): Fields => ({ spec: { schedule, jobTemplate: { spec: { template: TEMPLATE } } } });
    const created = await post(path, 'CronJob', 'batch/v1', spec('*/5 * * * *'));
    assert.equal(created.status, 201, created.text);
    assert.equal(at(created.body, 'spec', 'concurrencyPolicy'), 'Allow');
    const four = await post(path, 'CronJob', 'batch/v1', spec('* * * *'));
    assert.equal(four.status, 422);
    assert.match(four.text, /spec\.schedule: Invalid value: "\* \* \* \*": .*5 fields/i);
  });

  test('claims and volumes: their required fields, and what protects them', async () => {
    const { http, kubectl } = conformance(holder);
    const namespace = await newNamespace(holder);
    const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
    const spec = { accessModes: ['ReadWriteOnce'], storageClassName: 'none', resources: { requests: { storage: '1Gi' } } };
    const claim = await post(path, 'PersistentVolumeClaim', 'v1', { spec });
    assert.equal(claim.status, 201, claim.text);
    assert.deepEqual(at(claim.body, 'metadata', 'finalizers'), ['kubernetes.io/pvc-protection']);
    assert.deepEqual([at(claim.body, 'status', 'phase'), at(claim.body, 'spec', 'volumeMode')], ['Pending', 'Filesystem']);
    const empty = await post(path, 'PersistentVolumeClaim', 'v1', { spec: {} });
    assert.equal(empty.status, 422);
    assert.match(
      empty.text,
      /spec\.accessModes: Required value: at least 1 access mode is required, spec\.resources\[storage\]: Required value/,
    );
    const bare = await post('/api/v1/persistentvolumes', 'PersistentVolume', 'v1', { spec: {} });
    assert.match(
      bare.text,
      /spec\.accessModes: Required value, spec\.capacity: Required value.* spec: Required value: must specify a volume type/,
    );
    const volume = await post('/api/v1/persistentvolumes', 'PersistentVolume', 'v1', {
      spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/none' }, storageClassName: fresh('class') },
    });
    assert.equal(volume.status, 201, volume.text);
    const name = String(at(volume.body, 'metadata', 'name'));
    await until(
      'the volume is available',
      async () => at((await http.get(`/api/v1/persistentvolumes/${name}`)).body, 'status', 'phase') === 'Available',
    );
    await kubectl.ok(['delete', 'pv', name, '--timeout=120s']);
    await kubectl.ok(['delete', 'pvc', String(at(claim.body, 'metadata', 'name')), '-n', namespace, '--timeout=120s']);
  });

  test('a storage class names its provisioner', async () => {
    const path = '/apis/storage.k8s.io/v1/storageclasses';
    const made = await post(path, 'StorageClass', 'storage.k8s.io/v1', { provisioner: 'example.com/none' });
    assert.deepEqual([made.status, made.body['reclaimPolicy'], made.body['volumeBindingMode']], [201, 'Delete', 'Immediate']);
    assert.match((await post(path, 'StorageClass', 'storage.k8s.io/v1', {})).text, /provisioner: Required value/);
  });

  test('an Ingress needs a backend', async () => {
    const path = `/apis/networking.k8s.io/v1/namespaces/${await newNamespace(holder)}/ingresses`;
    const ingress = (spec: Fields): Promise<{ status: number; text: string }> => post(path, 'Ingress', 'networking.k8s.io/v1', { spec });
    assert.match((await ingress({})).text, /spec: Invalid value: .*: either `defaultBackend` or `rules` must be specified/);
    const rules = (entry: Fields): Fields => ({ rules: [{ host: 'a.example.com', http: { paths: [entry] } }] });
    const backend = { service: { name: 'web', port: { number: 80 } } };
    const typeless = await ingress(rules({ path: '/', backend }));
    assert.match(typeless.text, /spec\.rules\[0\]\.http\.paths\[0\]\.pathType: Required value: pathType must be specified/);
    const relative = await ingress(rules({ path: 'x', pathType: 'Prefix', backend }));
    assert.match(relative.text, /spec\.rules\[0\]\.http\.paths\[0\]\.path: Invalid value: "x": must be an absolute path/);
    assert.equal((await ingress(rules({ path: '/', pathType: 'Prefix', backend }))).status, 201);
  });

  test('an autoscaler, created by kubectl autoscale', async () => {
    const { kubectl, http } = conformance(holder);
    const namespace = await newNamespace(holder);
    await kubectl.ok(['create', 'deployment', 'web', '-n', namespace, '--image=registry.example/app:1', '--replicas=0']);
    await kubectl.ok(['autoscale', 'deployment', 'web', '--max=3', '--cpu-percent=70', '-n', namespace]);
    const path = `/apis/autoscaling/v1/namespaces/${namespace}/horizontalpodautoscalers`;
    const read = await http.get(`${path}/web`);
    assert.deepEqual(
      [read.body['apiVersion'], at(read.body, 'spec', 'minReplicas'), at(read.body, 'spec', 'targetCPUUtilizationPercentage')],
      ['autoscaling/v1', 1, 70],
    );
    assert.match(await kubectl.ok(['get', 'hpa', '-n', namespace]), /^web +Deployment\/web +(?:cpu: )?<unknown>\/70% +1 +3 +0 /m);
    const none = await post(path, 'HorizontalPodAutoscaler', 'autoscaling/v1', {
      spec: { minReplicas: 4, maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'x' } },
    });
    assert.match(none.text, /spec\.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`/);
  });

  test('a port of an EndpointSlice has a name and a protocol, and kubectl describes its Service', async () => {
    const { http, kubectl } = conformance(holder);
    const namespace = await newNamespace(holder);
    const apiVersion = `discovery.k8s.io/${holder.minor < 21 ? 'v1beta1' : 'v1'}`;
    await http.send('POST', `/api/v1/namespaces/${namespace}/services`, {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'by-hand' } },
      spec: { clusterIP: 'None', ports: [{ port: 80 }] },
    });
    const slice = await http.send('POST', `/apis/${apiVersion}/namespaces/${namespace}/endpointslices`, {
      ...{ apiVersion, kind: 'EndpointSlice', addressType: 'IPv4', ports: [{ port: 8080 }] },
      metadata: { name: 'by-hand', labels: { 'kubernetes.io/service-name': 'by-hand' } },
      endpoints: [{ addresses: ['10.1.2.3'], conditions: { ready: true } }],
    });
    assert.equal(slice.status, 201, slice.text);
    assert.deepEqual(slice.body['ports'], [{ name: '', protocol: 'TCP', port: 8080 }]);
    assert.match(await kubectl.ok(['describe', 'service', 'by-hand', '-n', namespace]), /^Name: +by-hand$/m);
    assert.match(await kubectl.ok(['get', 'endpointslices', '-n', namespace]), /^by-hand +IPv4 +8080 +10\.1\.2\.3 /m);
  });

  test('apply --prune lists every kind that it may prune', async () => {
    const { kubectl } = conformance(holder);
    const namespace = await newNamespace(holder);
    const maps = (...names: string[]): string =>
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: names.map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels: { app: namespace } } })),
      });
    await kubectl.ok(['apply', '-n', namespace, '--prune', '-l', `app=${namespace}`, ...PRUNED, '-f', '-'], maps('one', 'two'));
    const pruned = await kubectl.ok(['apply', '-n', namespace, '--prune', '-l', `app=${namespace}`, ...PRUNED, '-f', '-'], maps('one'));
    assert.match(pruned, /configmap\/two pruned/);
  });

  test('objects that every cluster has from the start', async () => {
    const { kubectl, http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const there = async (path: string): Promise<boolean> => (await http.get(path)).status === 200;
    await until('the namespace has its account', () => there(`/api/v1/namespaces/${namespace}/serviceaccounts/default`));
    await until('the namespace has the authority', () => there(`/api/v1/namespaces/${namespace}/configmaps/kube-root-ca.crt`));
    const authority = await http.get(`/api/v1/namespaces/${namespace}/configmaps/kube-root-ca.crt`);
    assert.match(String(at(authority.body, 'data', 'ca.crt')), /^-----BEGIN CERTIFICATE-----/);
    await kubectl.ok(['delete', 'sa', 'default', '-n', namespace]);
    await until('the account is there again', () => there(`/api/v1/namespaces/${namespace}/serviceaccounts/default`));
    assert.match(
      await kubectl.ok(['get', 'svc', 'kubernetes', '-n', 'default']),
      /^kubernetes +ClusterIP +10\.96\.0\.1 +<none> +443\/TCP /m,
    );
    assert.match(await kubectl.ok(['get', 'pc']), /^system-node-critical +2000001000 +false /m);
    assert.match(await kubectl.ok(['describe', 'clusterrolebinding', 'cluster-admin']), /Group +system:masters/);
  });
}

/** The kinds that `--prune` prunes by default and that servers of every version have. */
const PRUNED = [
  'core/v1/ConfigMap',
  'core/v1/PersistentVolumeClaim',
  'core/v1/PersistentVolume',
  'core/v1/ReplicationController',
  'batch/v1/Job',
  'networking.k8s.io/v1/Ingress',
].map((kind) => `--prune-allowlist=${kind}`);
