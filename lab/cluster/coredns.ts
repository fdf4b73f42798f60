/** CoreDNS as kubeadm installs it, with the image made by hand. It has no servers to forward to: it answers for the cluster alone. */
import { DNS_DOMAIN } from './node-files.ts';

const COREFILE = `
.:53 {
    errors
    health {
        lameduck 1s
    }
    ready
    kubernetes ${DNS_DOMAIN} in-addr.arpa ip6.arpa {
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 5
    }
    prometheus :9153
    cache 5
    reload
    loadbalance
}
`;

/** The objects, for `kubectl apply`. @param image name of the image. @param addresses of its Service, one of each family */
export function corednsObjects(image: string, addresses: readonly string[]): readonly object[] {
  const metadata = { name: 'coredns', namespace: 'kube-system' };
  const labels = { 'k8s-app': 'kube-dns' };
  const get = (path: string, port: number): object => ({ httpGet: { path, port }, periodSeconds: 2 });
  const container = {
    name: 'coredns',
    image,
    imagePullPolicy: 'Never',
    args: ['-conf', '/etc/coredns/Corefile'],
    ports: [
      { name: 'dns', containerPort: 53, protocol: 'UDP' },
      { name: 'dns-tcp', containerPort: 53, protocol: 'TCP' },
    ],
    readinessProbe: get('/ready', 8181),
    livenessProbe: { ...get('/health', 8080), initialDelaySeconds: 30, failureThreshold: 10 },
    volumeMounts: [{ name: 'config', mountPath: '/etc/coredns', readOnly: true }],
  };
  const rbac = 'rbac.authorization.k8s.io';
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'system:coredns' },
      rules: [
        { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
        { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
      ],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'system:coredns' },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'system:coredns' },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { Corefile: COREFILE } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { ...metadata, labels },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            serviceAccountName: 'coredns',
            dnsPolicy: 'Default',
            priorityClassName: 'system-cluster-critical',
            tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }],
            containers: [container],
            volumes: [{ name: 'config', configMap: { name: 'coredns' } }],
          },
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'kube-dns', namespace: 'kube-system', labels },
      spec: {
        selector: labels,
        clusterIP: addresses[0],
        // Servers before 1.20 do not know these.
        ...(addresses.length > 1 ? { ipFamilyPolicy: 'RequireDualStack', clusterIPs: addresses } : {}),
        ports: [
          { name: 'dns', port: 53, protocol: 'UDP' },
          { name: 'dns-tcp', port: 53, protocol: 'TCP' },
        ],
      },
    },
  ];
}
