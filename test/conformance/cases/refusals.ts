import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, conformance, fresh, newNamespace } from '../context.ts';
import type { Fields } from '../https-client.ts';

/**
 * An invalid manifest, and the fields and reasons of the answer, such as `spec.ports[0].port Invalid`. After `or` follows the answer of
 * another release.
 */
interface Refusal {
  readonly version?: string;
  readonly plural: string;
  readonly kind: string;
  readonly clusterWide?: boolean;
  readonly body: Fields;
  readonly expected: readonly string[];
}

const container = { name: 'c', image: 'i' };
const inPod = (spec: Fields, ...expected: string[]): Refusal => ({
  plural: 'pods',
  kind: 'Pod',
  body: { spec: { containers: [container], ...spec } },
  expected,
});
const inContainer = (more: Fields, ...expected: string[]): Refusal =>
  inPod({ containers: [{ ...container, ...more }] }, ...expected.map((field) => `spec.containers[0].${field}`));
const inService = (spec: Fields, ...expected: string[]): Refusal => ({ plural: 'services', kind: 'Service', body: { spec }, expected });
const inPolicy = (spec: Fields, ...expected: string[]): Refusal => ({
  version: 'networking.k8s.io/v1',
  plural: 'networkpolicies',
  kind: 'NetworkPolicy',
  body: { spec: { podSelector: {}, ...spec } },
  expected,
});
const inWorkload = (kind: string, spec: Fields, pod: Fields, ...expected: string[]): Refusal => ({
  version: 'apps/v1',
  plural: `${kind.toLowerCase()}s`,
  kind,
  body: {
    spec: {
      selector: { matchLabels: { app: 'a' } },
      template: { metadata: { labels: { app: 'a' } }, spec: { containers: [container], ...pod } },
      ...spec,
    },
  },
  expected,
});
const secret = (type: string, data: Fields, ...expected: string[]): Refusal => ({
  plural: 'secrets',
  kind: 'Secret',
  body: { type, data },
  expected,
});
const role = (kind: string, rule: Fields, ...expected: string[]): Refusal => ({
  version: 'rbac.authorization.k8s.io/v1',
  plural: `${kind.toLowerCase()}s`,
  kind,
  clusterWide: kind === 'ClusterRole',
  body: { rules: [{ verbs: ['get'], ...rule }] },
  expected,
});

const REFUSALS: Readonly<Record<string, readonly Refusal[]>> = {
  'ports, protocols and types of a Service': [
    inService(
      { ports: [{ port: 0, protocol: 'HTTP', name: 'a' }, { port: 70_000 }] },
      'spec.ports[0].port Invalid',
      'spec.ports[0].protocol NotSupported',
      'spec.ports[0].targetPort Invalid',
      'spec.ports[1].name Required',
      'spec.ports[1].port Invalid',
      'spec.ports[1].targetPort Invalid',
    ),
    inService(
      { type: 'Weird', sessionAffinity: 'Maybe', ports: [{ port: 80 }] },
      'spec.sessionAffinity NotSupported',
      'spec.type NotSupported',
    ),
    inService({ type: 'ExternalName' }, 'spec.externalName Required'),
    inService({ type: 'NodePort', clusterIP: 'None', ports: [{ port: 80 }] }, 'spec.clusterIPs[0] Invalid'),
    inService({ clusterIP: 'banana', ports: [{ port: 80 }] }, 'spec.clusterIPs[0] Invalid'),
    inService({ ports: [{ port: 80, nodePort: 30_444 }] }, 'spec.ports[0].nodePort Forbidden'),
    inService({ type: 'NodePort', ports: [{ port: 80, nodePort: 5 }] }, 'spec.ports[0].nodePort Invalid'),
    inService(
      {
        clusterIP: 'None',
        ports: [
          { port: 80, name: 'a' },
          { port: 80, name: 'b' },
          { port: 81, name: 'b' },
        ],
      },
      'spec.ports[1] Duplicate',
      'spec.ports[2].name Duplicate',
    ),
    inService(
      { selector: { 'a b': 'c' }, externalIPs: ['x', '127.0.0.1'], ports: [{ port: 80, targetPort: 'Bad Name' }] },
      'spec.externalIPs[0] Invalid',
      'spec.externalIPs[1] Invalid',
      'spec.ports[0].targetPort Invalid',
      'spec.selector Invalid',
    ),
  ],
  'peers, networks and ports of a NetworkPolicy': [
    inPolicy(
      { ingress: [{ from: [{ ipBlock: { cidr: 'banana' } }, {}], ports: [{ port: 0, protocol: 'X' }, { port: 'Bad_Port' }] }] },
      'spec.ingress[0].from[0].ipBlock.cidr Invalid',
      'spec.ingress[0].from[1] Required',
      'spec.ingress[0].ports[0].port Invalid',
      'spec.ingress[0].ports[0].protocol NotSupported',
      'spec.ingress[0].ports[1].port Invalid',
    ),
    inPolicy(
      {
        podSelector: {
          matchExpressions: [
            { key: 'a', operator: 'In' },
            { key: 'b', operator: 'Near' },
          ],
        },
        policyTypes: ['Sideways'],
      },
      'spec.podSelector.matchExpressions[0].values Required',
      'spec.podSelector.matchExpressions[1].operator Invalid',
      'spec.policyTypes[0] NotSupported',
    ),
    inPolicy({ egress: [{ to: [{ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }] }] }, 'spec.egress[0].to[0] Forbidden'),
    inPolicy(
      { ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/16', except: ['10.0.3.0/24', '10.1.0.0/24', '10.0.0.0/16'] } }] }] },
      'spec.ingress[0].from[0].ipBlock.except[1] Invalid',
      'spec.ingress[0].from[0].ipBlock.except[2] Invalid',
    ),
  ],
  'ports, variables, mounts, probes and resources of a container': [
    inContainer(
      {
        ports: [
          { containerPort: 80, name: 'http', hostPort: 70_000 },
          { containerPort: 81, name: 'http' },
          { containerPort: 82, name: 'Bad_' },
        ],
      },
      'ports[0].hostPort Invalid',
      'ports[1].name Duplicate',
      'ports[2].name Invalid',
    ),
    inContainer(
      {
        env: [
          { name: 'a=b', value: 'a' },
          { name: 'C', valueFrom: {} },
        ],
      },
      'env[0].name Invalid',
      'env[1].valueFrom Invalid',
    ),
    inContainer(
      {
        env: [
          ...['spec.zap', 'status.phase', '', "metadata.labels['bad key']", "spec.x['y']", 'metadata.labels["x"]'].map((fieldPath, i) => ({
            name: `F${i}`,
            valueFrom: { fieldRef: { fieldPath } },
          })),
          { name: 'R', valueFrom: { resourceFieldRef: { resource: 'cpu' } } },
          { name: 'S', valueFrom: { resourceFieldRef: { resource: '' } } },
          { name: 'M', valueFrom: { configMapKeyRef: { name: '', key: 'a/b' } } },
          { name: 'N', valueFrom: { secretKeyRef: { name: 'Bad_', key: '' } } },
          { name: 'fine', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['Example.com/A']" } } },
          { name: 'fine-too', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
          { name: 'and-this', valueFrom: { fieldRef: { fieldPath: 'status.podIPs' } } },
        ],
      },
      'env[0].valueFrom.fieldRef.fieldPath Invalid',
      'env[1].valueFrom.fieldRef.fieldPath NotSupported',
      'env[2].valueFrom.fieldRef.fieldPath Required',
      'env[3].valueFrom.fieldRef Invalid',
      'env[4].valueFrom.fieldRef.fieldPath Invalid',
      'env[5].valueFrom.fieldRef.fieldPath Invalid',
      'env[6].valueFrom.resourceFieldRef.resource NotSupported',
      'env[7].valueFrom.resourceFieldRef.resource Required',
      'env[8].valueFrom.configMapKeyRef.name Invalid',
      'env[8].valueFrom.configMapKeyRef.key Invalid',
      'env[9].valueFrom.secretKeyRef.name Invalid',
      'env[9].valueFrom.secretKeyRef.key Required',
    ),
    inContainer({ volumeMounts: [{ name: 'none', mountPath: '/x' }] }, 'volumeMounts[0].name NotFound'),
    inContainer(
      { livenessProbe: { httpGet: { port: 0 } }, readinessProbe: {} },
      'livenessProbe.httpGet.port Invalid',
      'readinessProbe Required',
    ),
    inContainer(
      { envFrom: [{ prefix: 'a=b', configMapRef: { name: '' } }, {}, { secretRef: { name: 'a' } }] },
      'envFrom[0].prefix Invalid',
      'envFrom[0].configMapRef.name Required',
      'envFrom Invalid',
    ),
    inContainer({ lifecycle: { postStart: {}, preStop: { exec: { command: ['a'] } } } }, 'lifecycle.postStart Required'),
    inContainer({ livenessProbe: { tcpSocket: { port: 80 }, successThreshold: 3 } }, 'livenessProbe.successThreshold Invalid'),
    inPod(
      {
        containers: [{ ...container, volumeMounts: [{ name: 'v', mountPath: '/a', subPath: '../x' }] }],
        volumes: [{ name: 'v', emptyDir: {} }],
        dnsConfig: { nameservers: ['10.0.0.1', 'b'], searches: ['-x', 'fine.example.'] },
        topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'Perhaps' }],
      },
      'spec.containers[0].volumeMounts.subPath Invalid',
      'spec.dnsConfig.nameservers[1] Invalid',
      'spec.dnsConfig.searches[0] Invalid',
      'spec.topologySpreadConstraints[0].maxSkew Invalid',
      'spec.topologySpreadConstraints[0].topologyKey Required',
      'spec.topologySpreadConstraints[0].whenUnsatisfiable NotSupported',
    ),
    inContainer({ imagePullPolicy: 'Sometimes', image: ' i' }, 'image Invalid', 'imagePullPolicy NotSupported'),
    inContainer({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }, 'resources.requests Invalid'),
    inContainer({ resources: { requests: { cpu: '-1' } } }, 'resources.requests[cpu] Invalid'),
  ],
  'what a pod asks of its node': [
    inPod(
      { dnsPolicy: 'Some', hostname: 'A_b', nodeName: 'N N', activeDeadlineSeconds: 0 },
      'spec.activeDeadlineSeconds Invalid',
      'spec.dnsPolicy NotSupported',
      'spec.hostname Invalid',
      'spec.nodeName Invalid',
    ),
    inPod(
      {
        nodeSelector: { 'a b': 'c' },
        tolerations: [
          { operator: 'Exists', value: 'x' },
          { key: 'k', effect: 'Bad' },
        ],
      },
      'spec.nodeSelector Invalid',
      'spec.tolerations[0].operator Invalid',
      'spec.tolerations[1].effect NotSupported',
    ),
    inPod(
      { volumes: [{ name: 'v' }, { name: 'v' }, { name: 'V_V' }], initContainers: [container] },
      'spec.initContainers[0].name Duplicate',
      'spec.volumes[1].name Duplicate',
      'spec.volumes[2].name Invalid',
    ),
    inPod(
      { hostNetwork: true, containers: [{ ...container, ports: [{ containerPort: 80, hostPort: 81 }] }] },
      // Older releases name the port of the container.
      'spec.containers[0].ports[0].hostPort Invalid or spec.containers[0].ports[0].containerPort Invalid',
    ),
  ],
  'how a workload replaces its pods': [
    inWorkload(
      'Deployment',
      { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
      {},
      'spec.strategy.rollingUpdate Forbidden',
    ),
    inWorkload(
      'Deployment',
      { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
      { restartPolicy: 'Never' },
      'spec.strategy.rollingUpdate.maxUnavailable Invalid',
      'spec.template.spec.restartPolicy NotSupported',
    ),
    inWorkload('Deployment', { selector: {} }, {}, 'spec.selector Invalid'),
    inWorkload('Deployment', { selector: undefined }, {}, 'spec.selector Required', 'spec.template.metadata.labels Invalid'),
    inWorkload('DaemonSet', { selector: undefined }, {}, 'spec.template.metadata.labels Invalid'),
    inWorkload(
      'DaemonSet',
      { selector: { matchExpressions: [{ key: 'app', operator: 'Is' }] } },
      {},
      'spec.selector.matchExpressions[0].operator Invalid',
    ),
    inWorkload(
      'ReplicaSet',
      { selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['b'] }] } },
      {},
      'spec.template.metadata.labels Invalid',
    ),
    inWorkload(
      'StatefulSet',
      { serviceName: 's', podManagementPolicy: 'Odd', updateStrategy: { type: 'Slow' } },
      {},
      'spec.podManagementPolicy Invalid',
      'spec.updateStrategy Invalid',
    ),
    inWorkload(
      'DaemonSet',
      { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
      {},
      'spec.updateStrategy.rollingUpdate.maxUnavailable Required or spec.updateStrategy.rollingUpdate.maxUnavailable Invalid',
    ),
  ],
  'addresses of Endpoints': [
    {
      plural: 'endpoints',
      kind: 'Endpoints',
      body: { subsets: [{ addresses: [{ ip: '127.0.0.1' }, { ip: '10.1.1.1', hostname: 'A_B' }], ports: [{ port: 0 }] }, {}] },
      expected: [
        'subsets[0].addresses[0].ip Invalid',
        'subsets[0].addresses[1].hostname Invalid',
        'subsets[0].ports[0].port Invalid',
        'subsets[1] Required',
      ],
    },
  ],
  'what a type of Secret needs': [
    secret('kubernetes.io/tls', {}, 'data[tls.crt] Required', 'data[tls.key] Required'),
    secret('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': 'ew==' }, 'data[.dockerconfigjson] Invalid'),
    {
      plural: 'configmaps',
      kind: 'ConfigMap',
      body: { data: { a: '1' }, binaryData: { a: 'aGk=' } },
      expected: ['data[a] Invalid'],
    },
  ],
  'taints and networks of a node': [
    {
      plural: 'nodes',
      kind: 'Node',
      clusterWide: true,
      body: {
        spec: {
          taints: [
            { key: 'a', effect: 'Bad' },
            { key: 'b', effect: 'NoExecute' },
            { key: 'b', effect: 'NoExecute' },
          ],
        },
      },
      expected: ['metadata.taints[0].effect NotSupported', 'metadata.taints[2] Duplicate'],
    },
    { plural: 'nodes', kind: 'Node', clusterWide: true, body: { spec: { podCIDR: 'x' } }, expected: ['spec.podCIDRs[0] Invalid'] },
  ],
  'rules and subjects of roles': [
    role('Role', { verbs: [], resources: ['pods'] }, 'rules[0].apiGroups Required', 'rules[0].verbs Required'),
    role('Role', { nonResourceURLs: ['/x'] }, 'rules[0].nonResourceURLs Invalid'),
    role('ClusterRole', { apiGroups: [''], resources: ['pods'], nonResourceURLs: ['/x'] }, 'rules[0].nonResourceURLs Invalid'),
    {
      version: 'rbac.authorization.k8s.io/v1',
      plural: 'rolebindings',
      kind: 'RoleBinding',
      body: { roleRef: { apiGroup: 'x', kind: 'Y', name: 'z' }, subjects: [{ kind: 'Q', name: 'a' }, { kind: 'User' }] },
      expected: [
        'roleRef.apiGroup NotSupported',
        'roleRef.kind NotSupported',
        'subjects[0].kind NotSupported',
        'subjects[1].name Required',
      ],
    },
  ],
  'leases and Events': [
    {
      version: 'coordination.k8s.io/v1',
      plural: 'leases',
      kind: 'Lease',
      body: { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } },
      expected: ['spec.leaseDurationSeconds Invalid', 'spec.leaseTransitions Invalid'],
    },
    {
      plural: 'events',
      kind: 'Event',
      body: { involvedObject: { kind: 'Pod', name: 'x', namespace: 'other' }, reason: 'A' },
      expected: ['involvedObject.namespace Invalid'],
    },
  ],
};

/** Core kinds are validated as in any cluster: the API server rejects an invalid manifest, and names the same fields. */
export function refusalCases(holder: Holder): void {
  for (const [subject, refusals] of Object.entries(REFUSALS)) {
    test(subject, async () => {
      const { http } = conformance(holder);
      const namespace = await newNamespace(holder);
      for (const { version = 'v1', plural, kind, clusterWide = false, body, expected } of refusals) {
        const root = version === 'v1' ? '/api/v1' : `/apis/${version}`;
        const path = clusterWide ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`;
        const reply = await http.send('POST', path, { apiVersion: version, kind, metadata: { name: fresh('r') }, ...body });
        assert.equal(reply.status, 422, `${JSON.stringify(body)}: ${reply.text}`);
        const causes = at(reply.body, 'details', 'causes') as readonly { field: string; reason: string }[];
        const fields = causes.map(({ field, reason }) => `${field} ${reason.replace('FieldValue', '')}`);
        const meant = fields.map((field) => expected.find((words) => words.split(' or ').includes(field)) ?? field);
        assert.deepEqual([...new Set(meant)].toSorted(), [...expected].toSorted(), JSON.stringify(body));
      }
    });
  }

  test('a node port is in the range, and of one Service', async () => {
    const { http } = conformance(holder);
    const services = `/api/v1/namespaces/${await newNamespace(holder)}/services`;
    const service = (name: string): Fields => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 31_777 }] },
    });
    assert.equal((await http.send('POST', services, service('first'))).status, 201);
    const second = await http.send('POST', services, service('second'));
    assert.equal(second.status, 422);
    assert.equal(
      second.body['message'],
      'Service "second" is invalid: spec.ports[0].nodePort: Invalid value: 31777: provided port is already allocated',
    );
  });

  test('a Service that changes its type loses the fields of the former type', async () => {
    const { http } = conformance(holder);
    const services = `/api/v1/namespaces/${await newNamespace(holder)}/services`;
    const spec = { type: 'NodePort', ports: [{ port: 80 }] };
    await http.send('POST', services, { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec });
    const patched = await http.patch(`${services}/s`, 'merge-patch', { spec: { type: 'ClusterIP' } });
    assert.equal(patched.status, 200, patched.text);
    assert.equal(at(patched.body, 'spec', 'ports', 0, 'nodePort'), undefined);
    assert.equal(at(patched.body, 'spec', 'externalTrafficPolicy'), undefined);
    const named = { spec: { type: 'ExternalName', externalName: 'a.example' } };
    const external = await http.patch(`${services}/s`, 'merge-patch', named);
    assert.equal(external.status, 200, external.text);
    assert.equal(at(external.body, 'spec', 'clusterIP'), undefined);
  });

  test('immutable fields cannot be changed', async () => {
    const { http } = conformance(holder);
    const path = `/api/v1/namespaces/${await newNamespace(holder)}/configmaps`;
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, immutable: true, data: { a: '1' } };
    assert.equal((await http.send('POST', path, map)).status, 201);
    const changed = await http.send('PUT', `${path}/m`, { ...map, data: { a: '2' } });
    assert.equal(changed.body['message'], 'ConfigMap "m" is invalid: data: Forbidden: field is immutable when `immutable` is set');
    const opened = await http.send('PUT', `${path}/m`, { ...map, immutable: false });
    assert.equal(opened.body['message'], 'ConfigMap "m" is invalid: immutable: Forbidden: field is immutable when `immutable` is set');
  });
}
