/** The texts of `kubectl explain` for built-in types and their most used fields: by type, then by field; `''` is the type itself. */
import { builtinSchema } from './types.ts';

type Described = Readonly<Record<string, string>>;

const DESCRIPTIONS: Readonly<Record<string, Described>> = {
  ObjectMeta: {
    '': 'Metadata of an object: its name, namespace, labels, annotations and owners.',
    name: 'Name of the object, unique for its kind in a namespace. It cannot be updated.',
    namespace: 'Namespace of the object; empty for cluster-scoped kinds.',
    generateName: 'Prefix of the name that the server generates if `name` is empty.',
    labels: 'Keys and values that selectors match.',
    annotations: 'Keys and values that selectors do not match, for tools and controllers.',
    finalizers: 'Each entry must be removed before the object is deleted.',
    ownerReferences: 'Owners of the object. It is deleted by the garbage collector when all of them are deleted.',
    uid: 'Unique identifier of the object; a later object of the same name has another one.',
    resourceVersion: 'Version of the object, changed by each write. An update with an older version is a conflict.',
    generation: 'Number that the server increases with each change of the desired state.',
    creationTimestamp: 'Time at which the server created the object.',
    deletionTimestamp: 'Time after which the object is deleted, set by the server on a graceful deletion.',
  },
  OwnerReference: {
    '': 'Reference to an owner in the same namespace, or to a cluster-scoped owner.',
    controller: 'Whether the owner is the controller of the object; at most one owner is.',
    blockOwnerDeletion: 'Whether a foreground deletion of the owner waits until this object is deleted.',
  },
  LabelSelector: {
    '': 'Selects objects by their labels; all requirements must match. An empty selector matches all objects.',
    matchLabels: 'Labels with exactly the required values.',
    matchExpressions: 'Requirements with an operator: In, NotIn, Exists or DoesNotExist.',
  },
  Pod: {
    '': 'Group of containers that run on one node and share one network namespace.',
    spec: 'Desired state of the pod.',
    status: 'Observed state of the pod, written by the kubelet.',
  },
  PodSpec: {
    containers: 'Containers of the pod; at least one.',
    initContainers: 'Containers that run to completion, one after another, before the others start.',
    nodeName: 'Node that the pod runs on. The scheduler sets it if it is empty.',
    nodeSelector: 'Labels that the node must have.',
    affinity: 'Scheduling rules for the labels of nodes and of other pods.',
    tolerations: 'Taints that the pod tolerates.',
    restartPolicy: 'When containers are restarted: Always, OnFailure or Never.',
    hostNetwork: 'Whether the pod uses the network namespace of its node. It then has no address of a subnet.',
    serviceAccountName: 'ServiceAccount that the pod authenticates with.',
    terminationGracePeriodSeconds: 'Seconds that containers have to terminate before they are killed.',
    volumes: 'Volumes that containers of the pod can mount.',
    dnsPolicy: 'DNS policy: ClusterFirst, ClusterFirstWithHostNet, Default or None.',
    hostname: 'Host name inside the pod.',
    subdomain: 'Name of the headless Service whose DNS domain contains the host name.',
    priorityClassName: 'PriorityClass of the pod.',
    readinessGates: 'Additional conditions that must be true before the pod is ready.',
  },
  Container: {
    '': 'Container of a pod.',
    name: 'Name of the container, unique in the pod.',
    image: 'Container image.',
    command: 'Entry point that replaces that of the image.',
    args: 'Arguments of the entry point.',
    env: 'Environment variables.',
    ports: 'Ports that the container listens on. Ports that are not listed are reachable as well.',
    resources: 'Resource requests and limits.',
    volumeMounts: 'Volumes of the pod and the paths where they are mounted.',
    readinessProbe: 'Periodic probe; while it fails, the pod is not ready and gets no traffic from Services.',
    livenessProbe: 'Periodic probe; the container is restarted if it fails.',
    imagePullPolicy: 'When the image is pulled: Always, IfNotPresent or Never.',
  },
  ContainerPort: {
    containerPort: 'Port number, from 1 to 65535.',
    name: 'Name of the port, which a Service can use as target port.',
    protocol: 'TCP, UDP or SCTP; the default is TCP.',
    hostPort: 'Port of the node that is forwarded to the container.',
  },
  PodStatus: {
    phase: 'Pending, Running, Succeeded, Failed or Unknown.',
    podIP: 'First address of the pod.',
    podIPs: 'Addresses of the pod, at most one of each IP family.',
    hostIP: 'Address of the node.',
    conditions: 'Conditions of the pod, such as Ready.',
  },
  Service: { '': 'Stable address and ports for a set of pods.', spec: 'Desired state of the Service.' },
  ServiceSpec: {
    type: 'How the Service is exposed: ClusterIP, NodePort, LoadBalancer or ExternalName.',
    selector: 'Labels of the pods of the Service. Without a selector its endpoints are not managed by the server.',
    ports: 'Ports of the Service.',
    clusterIP: 'Address in the cluster. "None" makes the Service headless: DNS returns the addresses of its pods.',
    clusterIPs: 'Addresses in the cluster, one of each IP family.',
    ipFamilies: 'IP families of the Service: IPv4, IPv6 or both; the first one is the primary.',
    ipFamilyPolicy: 'SingleStack, PreferDualStack or RequireDualStack.',
    externalIPs: 'Additional addresses for which nodes accept traffic of the Service.',
    externalName: 'DNS name that a Service of type ExternalName is an alias of.',
    sessionAffinity: 'ClientIP sends all connections of a client to one pod; None does not.',
    externalTrafficPolicy: 'Local sends traffic from outside the cluster only to endpoints on the node that received it.',
    internalTrafficPolicy: 'Local sends traffic from inside the cluster only to endpoints on the node of the client.',
    publishNotReadyAddresses: 'Whether pods that are not ready are endpoints as well.',
  },
  ServicePort: {
    port: 'Port of the Service.',
    targetPort: 'Port of the pods: a number, or the name of a container port.',
    nodePort: 'Port on each node.',
    protocol: 'TCP, UDP or SCTP; the default is TCP.',
    name: 'Name of the port; required if the Service has several ports.',
  },
  Endpoints: { '': 'Endpoints of the Service of the same name.', subsets: 'Sets of addresses with the same ports.' },
  EndpointSlice: {
    '': 'Some or all endpoints of a Service.',
    addressType: 'Type of all addresses of the slice: IPv4, IPv6 or FQDN.',
    endpoints: 'Endpoints of the slice.',
    ports: 'Ports of each endpoint of the slice.',
  },
  NetworkPolicy: { '': 'Which traffic is allowed to and from selected pods of a namespace.' },
  NetworkPolicySpec: {
    podSelector: 'Pods that the policy applies to; an empty selector selects all pods of the namespace.',
    policyTypes: 'Directions in which traffic is denied unless a rule allows it: Ingress, Egress or both.',
    ingress: 'Rules that allow ingress traffic. Without a rule no ingress traffic is allowed.',
    egress: 'Rules that allow egress traffic. Without a rule no egress traffic is allowed.',
  },
  NetworkPolicyIngressRule: {
    from: 'Allowed sources; an empty list allows all sources.',
    ports: 'Allowed destination ports; an empty list allows all ports.',
  },
  NetworkPolicyEgressRule: {
    to: 'Allowed destinations; an empty list allows all destinations.',
    ports: 'Allowed destination ports; an empty list allows all ports.',
  },
  NetworkPolicyPeer: {
    podSelector: 'Selects pods of the namespace of the policy, or of those that namespaceSelector selects.',
    namespaceSelector: 'Selects namespaces: all of their pods, or those that podSelector selects.',
    ipBlock: 'Range of addresses; not together with a selector.',
  },
  NetworkPolicyPort: {
    port: 'Port number, or the name of a container port.',
    endPort: 'Last port of a range that begins at `port`.',
    protocol: 'TCP, UDP or SCTP; the default is TCP.',
  },
  IPBlock: { cidr: 'CIDR of the range, such as 10.0.0.0/8.', except: 'CIDRs inside the range that are excluded.' },
  Namespace: { '': 'Scope for names. Its objects are deleted with it.' },
  Node: { '': 'Machine that runs pods.' },
  NodeSpec: {
    unschedulable: 'Whether new pods are kept off the node, as `kubectl cordon` does.',
    taints: 'Taints of the node: pods that do not tolerate them are not scheduled, or are evicted.',
    podCIDR: 'Range for the addresses of pods on the node.',
  },
  ConfigMap: {
    '': 'Configuration data by key.',
    data: 'UTF-8 strings by key.',
    binaryData: 'Binary data by key, in base64.',
    immutable: 'Whether data and binaryData cannot be updated.',
  },
  Secret: {
    '': 'Confidential data by key.',
    data: 'Values by key, in base64.',
    stringData: 'Values by key, not encoded; the server merges them into `data`. Write-only.',
    type: 'Type of the secret, which determines the required keys; the default is Opaque, which requires none.',
  },
  ServiceAccount: { '': 'Identity that pods authenticate to the API server with.' },
  Deployment: { '': 'Runs a number of identical pods, and replaces them when their template changes.' },
  DeploymentSpec: {
    replicas: 'Number of pods; the default is 1.',
    selector: 'Selects the pods of the Deployment. It cannot be updated.',
    template: 'Template of the pods.',
    strategy: 'How pods are replaced: RollingUpdate or Recreate.',
    paused: 'Whether the Deployment is paused: changes of the template are not rolled out.',
    revisionHistoryLimit: 'Number of old ReplicaSets that are retained for a rollback.',
  },
  ReplicaSet: { '': 'Runs a number of identical pods; usually created by a Deployment.' },
  StatefulSet: { '': 'Runs numbered pods with stable names.' },
  DaemonSet: { '': 'Runs a pod on each node, or on each selected node.' },
  Job: { '': 'Runs pods until a number of them completed successfully.' },
  CronJob: { '': 'Creates Jobs on a schedule.' },
  Ingress: { '': 'Routes HTTP requests from outside the cluster to Services, by host and path.' },
  PodDisruptionBudget: { '': 'Limits how many of the selected pods can be evicted at the same time.' },
  Lease: { '': 'Holder of a lock, such as the leader of a controller, and the time for which it holds it.' },
  Role: { '': 'Permissions in one namespace.', rules: 'Verbs that are allowed on resources.' },
  ClusterRole: {
    '': 'Permissions in the whole cluster, or in each namespace with a RoleBinding to it.',
    rules: 'Verbs that are allowed on resources.',
  },
  RoleBinding: { '': 'Grants a Role or a ClusterRole to subjects in one namespace.' },
  ClusterRoleBinding: { '': 'Grants a ClusterRole to subjects in the whole cluster.' },
  ResourceQuota: { '': 'Limits the resources that a namespace can use in total.' },
  LimitRange: { '': 'Limits and defaults for the resources of each pod or container of a namespace.' },
  CustomResourceDefinition: { '': 'Defines a kind of custom objects.' },
};

/** The fields of every object, unless its own type describes them. */
const OF_OBJECTS: Described = {
  apiVersion: 'API group and version of the object.',
  kind: 'Kind of the object.',
  metadata: 'Standard metadata of the object.',
  spec: 'Desired state of the object.',
  status: 'Observed state of the object, written by the server and by controllers.',
};

/** @param field empty for the type itself @returns undefined if there is no description */
export function descriptionOf(type: string, field = ''): string | undefined {
  const own = DESCRIPTIONS[type]?.[field];
  if (own !== undefined || OF_OBJECTS[field] === undefined) return own;
  return builtinSchema(type).properties?.has('apiVersion') === true ? OF_OBJECTS[field] : undefined;
}

/** Every type and field with a description. */
export function describedFields(): (readonly [type: string, field: string])[] {
  return Object.entries(DESCRIPTIONS).flatMap(([type, fields]) => Object.keys(fields).map((field) => [type, field] as const));
}
