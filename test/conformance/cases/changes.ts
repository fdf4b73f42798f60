/** Core kinds: how an API server stores what a manifest contains, and which fields can be changed later. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, conformance, fresh, message, newNamespace, pod } from '../context.ts';
import type { Fields } from '../https-client.ts';
import { until } from '../../../src/testing/until.ts';

const container = { name: 'main', image: 'registry.example/app:1' };
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [container] } };

export function changeCases(holder: Holder): void {
  const make = async (path: string, apiVersion: string, kind: string, body: Fields): Promise<Fields> => {
    const { http } = conformance(holder);
    const reply = await http.send('POST', path, { apiVersion, kind, metadata: { name: 'one' }, ...body });
    assert.equal(reply.status, 201, reply.text);
    return reply.body;
  };
  const rejected = async (path: string, patch: Fields, type: 'merge-patch' | 'strategic-merge-patch' = 'merge-patch'): Promise<string> => {
    const reply = await conformance(holder).http.patch(path, type, patch);
    assert.equal(reply.status, 422, reply.text);
    return message(reply);
  };

  test('quantities are shown in one form, whatever form was written', async () => {
    const { http } = conformance(holder);
    const path = `/api/v1/namespaces/${await newNamespace(holder)}/pods`;
    const requests = { cpu: '0.5', memory: '1024Mi', 'example.com/one': 2000, 'example.com/two': '1500m' };
    const made = await http.send('POST', path, {
      ...pod('one'),
      spec: { containers: [{ ...container, resources: { requests: { cpu: requests.cpu, memory: requests.memory } } }] },
    });
    assert.deepEqual(at(made.body, 'spec', 'containers', 0, 'resources', 'requests'), { cpu: '500m', memory: '1Gi' });
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: fresh('node') },
      status: { capacity: { pods: '10000', cpu: '4000m' } },
    };
    const capacity = await http.send('POST', '/api/v1/nodes', node);
    assert.deepEqual(at(capacity.body, 'status', 'capacity'), { pods: '10k', cpu: '4' });
    await http.send('DELETE', `/api/v1/nodes/${node.metadata.name}`);
  });

  test('base64 may have line breaks, and an error names the first wrong byte', async () => {
    const { http } = conformance(holder);
    const path = `/api/v1/namespaces/${await newNamespace(holder)}/secrets`;
    const made = await make(path, 'v1', 'Secret', { data: { a: 'YWJj\nZGVm\n' } });
    assert.equal(at(made, 'data', 'a'), 'YWJjZGVm');
    for (const [text, place] of [
      ['not-base64!', 3],
      ['YWJjZA', 4],
      ['YWJjZ===', 5],
      ['YWJjZA=', 7],
      ['YWJjZA==Z', 8],
    ] as const) {
      const wrong = await http.send('POST', path, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'wrong' }, data: { a: text } });
      assert.equal(wrong.status, 400, wrong.text);
      assert.match(message(wrong), new RegExp(`illegal base64 data at input byte ${place}\\b`), text);
    }
  });

  test('references of volumes and probes of a container get their defaults', async () => {
    const path = `/api/v1/namespaces/${await newNamespace(holder)}/pods`;
    const labels = { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } };
    const { spec } = await make(path, 'v1', 'Pod', {
      spec: {
        serviceAccountName: 'default',
        containers: [{ ...container, lifecycle: { preStop: { httpGet: { port: 80 } } } }],
        volumes: [
          { name: 'a', downwardAPI: { items: [labels] } },
          { name: 'b', projected: { sources: [{ downwardAPI: { items: [labels] } }, { serviceAccountToken: { path: 'token' } }] } },
        ],
      },
    });
    const complete = { path: 'labels', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.labels' } };
    assert.deepEqual(at(spec, 'volumes', 0, 'downwardAPI', 'items'), [complete]);
    assert.deepEqual(at(spec, 'volumes', 1, 'projected', 'sources'), [
      { downwardAPI: { items: [complete] } },
      { serviceAccountToken: { path: 'token', expirationSeconds: 3600 } },
    ]);
    assert.deepEqual(at(spec, 'containers', 0, 'lifecycle', 'preStop', 'httpGet'), { path: '/', port: 80, scheme: 'HTTP' });
  });

  test('a Service with session affinity, and one with a health check port', async () => {
    const { http } = conformance(holder);
    const path = `/api/v1/namespaces/${await newNamespace(holder)}/services`;
    const made = await make(path, 'v1', 'Service', {
      spec: { type: 'LoadBalancer', sessionAffinity: 'ClientIP', externalTrafficPolicy: 'Local', ports: [{ port: 80 }] },
    });
    assert.deepEqual(at(made, 'spec', 'sessionAffinityConfig'), { clientIP: { timeoutSeconds: 10_800 } });
    const port = at(made, 'spec', 'healthCheckNodePort');
    assert.ok(Number(port) >= 30_000 && Number(port) < 32_768 && port !== at(made, 'spec', 'ports', 0, 'nodePort'), String(port));
    const labelled = await http.patch(`${path}/one`, 'merge-patch', {
      metadata: { labels: { a: 'b' } },
      spec: { sessionAffinity: 'None' },
    });
    assert.deepEqual(
      [at(labelled.body, 'spec', 'sessionAffinityConfig'), at(labelled.body, 'spec', 'healthCheckNodePort')],
      [undefined, port],
    );
    const spread = await http.patch(`${path}/one`, 'merge-patch', {
      spec: { externalTrafficPolicy: 'Cluster', healthCheckNodePort: null },
    });
    assert.equal(spread.status, 200, spread.text);
    assert.equal(at(spread.body, 'spec', 'healthCheckNodePort'), undefined);
  });

  test('a strategic merge patch sets the order of a list by a directive', async () => {
    const { http } = conformance(holder);
    const path = `/apis/apps/v1/namespaces/${await newNamespace(holder)}/deployments`;
    const image = (name: string): Fields => ({ name, image: 'registry.example/app:1' });
    await make(path, 'apps/v1', 'Deployment', {
      spec: {
        replicas: 0,
        selector: { matchLabels: { app: 'a' } },
        template: { ...template, spec: { containers: ['a', 'b', 'c'].map(image) } },
      },
    });
    const patched = async (spec: Fields): Promise<string> => {
      const reply = await http.patch(`${path}/one`, 'strategic-merge-patch', { spec: { template: { spec } } });
      assert.equal(reply.status, 200, reply.text);
      return (at(reply.body, 'spec', 'template', 'spec', 'containers') as Fields[]).map(({ name }) => String(name)).join('');
    };
    assert.equal(await patched({ containers: [image('x')] }), 'xabc');
    assert.equal(await patched({ containers: [image('c'), image('y'), image('a')] }), 'xbcya');
    assert.equal(
      await patched({ '$setElementOrder/containers': ['a', 'z', 'b'].map((name) => ({ name })), containers: [image('z')] }),
      'xcyazb',
    );
    const keyless = await http.patch(`${path}/one`, 'strategic-merge-patch', {
      spec: { template: { spec: { containers: [{ image: 'i' }] } } },
    });
    assert.deepEqual([keyless.status, message(keyless)], [500, 'map: map[image:i] does not contain declared merge key: name']);
  });

  test('tolerations, grace and time of a pod', async () => {
    const { http } = conformance(holder);
    const path = `/api/v1/namespaces/${await newNamespace(holder)}/pods`;
    await make(path, 'v1', 'Pod', { spec: { activeDeadlineSeconds: 100, containers: [container] } });
    assert.match(
      await rejected(`${path}/one`, { spec: { tolerations: [{ operator: 'Exists' }] } }),
      /spec\.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds/,
    );
    assert.match(
      await rejected(`${path}/one`, { spec: { terminationGracePeriodSeconds: 1 } }),
      /spec: Forbidden: pod updates may not change/,
    );
    assert.match(
      await rejected(`${path}/one`, { spec: { activeDeadlineSeconds: 200 } }),
      /spec\.activeDeadlineSeconds: Invalid value: 200: must be less than or equal to previous value/,
    );
    const shorter = await http.patch(`${path}/one`, 'merge-patch', { spec: { activeDeadlineSeconds: 50 } });
    assert.equal(shorter.status, 200, shorter.text);
    const tolerations = at(shorter.body, 'spec', 'tolerations') as Fields[];
    const defaulted = await http.patch(`${path}/one`, 'merge-patch', { spec: { tolerations: [] } });
    assert.deepEqual(at(defaulted.body, 'spec', 'tolerations'), tolerations, 'what admission adds comes again');
    const more = [...tolerations.map((toleration) => ({ ...toleration, tolerationSeconds: 5 })), { key: 'a', operator: 'Exists' }];
    const tolerant = await http.patch(`${path}/one`, 'merge-patch', { spec: { tolerations: more } });
    assert.equal(tolerant.status, 200, tolerant.text);
    const unscheduled = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' };
    const second = await make(path, 'v1', 'Pod', {
      metadata: { name: 'two' },
      spec: { tolerations: [unscheduled], containers: [container] },
    });
    assert.deepEqual(at(second, 'spec', 'tolerations'), [unscheduled, ...tolerations]);
  });

  test('immutable fields of a StatefulSet and a binding', async () => {
    const namespace = await newNamespace(holder);
    const sets = `/apis/apps/v1/namespaces/${namespace}/statefulsets`;
    const selector = { matchLabels: { app: 'a' } };
    await make(sets, 'apps/v1', 'StatefulSet', { spec: { replicas: 0, serviceName: 's', selector, template } });
    assert.match(
      await rejected(`${sets}/one`, { spec: { serviceName: 'x' } }),
      /^StatefulSet\.apps "one" is invalid: spec: Forbidden: updates to statefulset spec for fields other than .* are forbidden$/,
    );
    const bindings = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`;
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' };
    await make(bindings, 'rbac.authorization.k8s.io/v1', 'RoleBinding', { roleRef });
    assert.match(await rejected(`${bindings}/one`, { roleRef: { name: 'x' } }), /roleRef: Invalid value: .*: cannot change roleRef$/);
  });

  test('a budget has minAvailable or maxUnavailable, and a definition one stored version', async () => {
    const { http } = conformance(holder);
    const apiVersion = `policy/${holder.minor < 21 ? 'v1beta1' : 'v1'}`;
    const path = `/apis/${apiVersion}/namespaces/${await newNamespace(holder)}/poddisruptionbudgets`;
    const budget = async (spec: Fields): Promise<string> => {
      const reply = await http.send('POST', path, { apiVersion, kind: 'PodDisruptionBudget', metadata: { name: 'b' }, spec });
      assert.equal(reply.status, 422, reply.text);
      return message(reply);
    };
    const selector = { matchLabels: { app: 'a' } };
    assert.match(
      await budget({ minAvailable: 1, maxUnavailable: 1, selector }),
      /spec: Invalid value: .*: minAvailable and maxUnavailable cannot be both set/,
    );
    assert.match(
      await budget({ minAvailable: '120%', selector }),
      /spec\.minAvailable: Invalid value: .*"120%".*: must not be greater than 100%/,
    );
    assert.match(
      await budget({ maxUnavailable: -1, selector }),
      /spec\.maxUnavailable: Invalid value: -1: must be greater than or equal to 0/,
    );
    const unstored = await http.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural: 'things', kind: 'Thing' },
        versions: [{ name: 'v1', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    });
    assert.match(message(unstored), /spec\.versions: Invalid value: .*: must have exactly one version marked as storage version/);
    assert.match(message(unstored), /status\.storedVersions: Invalid value: .*: must have at least one stored version/);
  });

  test('explain describes the fields of a custom object that every object has', async () => {
    const { kubectl } = conformance(holder);
    await until('kits are described', async () => (await kubectl.run(['explain', 'kits'])).code === 0);
    const explanation = await kubectl.ok(['explain', 'kits']);
    for (const field of ['apiVersion', 'kind', 'metadata'])
      assert.match(explanation, new RegExp(`^ +${field}\\t<\\w+>\\n +[A-Z]`, 'm'), explanation);
  });

  test('a DaemonSet shows the nodes it selects', async () => {
    const { kubectl } = conformance(holder);
    const namespace = await newNamespace(holder);
    await make(`/apis/apps/v1/namespaces/${namespace}/daemonsets`, 'apps/v1', 'DaemonSet', {
      spec: {
        selector: { matchLabels: { app: 'a' } },
        template: { ...template, spec: { ...template.spec, nodeSelector: { zone: 'z', 'example.com/a': 'b' } } },
      },
    });
    assert.match(await kubectl.ok(['get', 'ds', '-n', namespace]), / example\.com\/a=b,zone=z /);
  });
}
