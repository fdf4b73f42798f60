/** The texts of `kubectl explain` for built-in types and their most used fields: by type, then by field; `''` is the type itself. */
import { builtinSchema } from './types.ts';

type Described = Readonly<Record<string, string>>;

const DESCRIPTIONS: Readonly<Record<string, Described>> = {
  ObjectMeta: {
    '': 'What every object has: how it is called, how it is found, whom it belongs to.',
    name: 'Unlike that of any other object of the kind in the namespace. It stays.',
    namespace: 'Where the object is; kinds of the whole cluster have none.',
    generateName: 'How the name begins that the server makes up where none is given.',
    labels: 'Keys and values by which selectors find the object.',
    annotations: 'Keys and values for people and programs; nothing selects by them.',
    finalizers: 'Whoever has an entry here must take it away before the object is gone.',
    ownerReferences: 'Objects that this one is gone with.',
    uid: 'Tells the object from others of the same name before and after it.',
    resourceVersion: 'Another with every change. An update that names an older one is refused.',
    generation: 'Counts changes of what is wanted.',
    creationTimestamp: 'When the server took the object in.',
    deletionTimestamp: 'When the object is to be gone: its deletion was asked for.',
  },
  OwnerReference: {
    '': 'An owner in the same namespace, or of the whole cluster.',
    controller: 'This owner keeps the object as it should be; at most one does.',
    blockOwnerDeletion: 'A deletion of the owner in the foreground waits for this object.',
  },
  LabelSelector: {
    '': 'Objects that meet all of it. An empty one finds all objects.',
    matchLabels: 'Labels that must be there with just these values.',
    matchExpressions: 'Rules for a label each: In, NotIn, Exists or DoesNotExist.',
  },
  Pod: {
    '': 'Containers that run on one node and share one network address.',
    spec: 'What is to run, and where.',
    status: 'What became of it, told by the kubelet.',
  },
  PodSpec: {
    containers: 'What runs side by side; at least one.',
    initContainers: 'What runs before, one after another, each to its end.',
    nodeName: 'The node that it runs on. The scheduler writes it where nobody did.',
    nodeSelector: 'Labels that the node must have.',
    affinity: 'Which nodes, and which neighbours, it wants or avoids.',
    tolerations: 'Taints of nodes that do not keep it away.',
    restartPolicy: 'Whether containers that ended start again: Always, OnFailure or Never.',
    hostNetwork: 'Takes the network of its node instead of one of its own: no subnet gives it an address.',
    serviceAccountName: 'Whose rights it has towards the API.',
    terminationGracePeriodSeconds: 'How long it has to end by itself.',
    volumes: 'What its containers may mount.',
    dnsPolicy: 'Where names are looked up: ClusterFirst, ClusterFirstWithHostNet, Default or None.',
    hostname: 'What the machine is called for its containers.',
    subdomain: 'The headless Service under which DNS knows it.',
    priorityClassName: 'How important it is beside others.',
    readinessGates: 'Further conditions that must hold before it counts as ready.',
  },
  Container: {
    '': 'One program with its image.',
    name: 'Unlike those of the other containers of the pod.',
    image: 'Where the program comes from.',
    command: 'What is run instead of what the image names.',
    args: 'What the command is given.',
    env: 'Variables of its environment.',
    ports: 'Ports that it listens on; others are reached as well.',
    resources: 'How much it asks for, and how much it gets at most.',
    volumeMounts: 'Where volumes of the pod appear.',
    readinessProbe: 'Asked again and again whether Services may send to it.',
    livenessProbe: 'Asked again and again whether it must be started anew.',
    imagePullPolicy: 'Whether the image is fetched again: Always, IfNotPresent or Never.',
  },
  ContainerPort: {
    containerPort: 'The number, from 1 to 65535.',
    name: 'By which a Service may name the port.',
    protocol: 'TCP, UDP or SCTP; TCP where nothing is said.',
    hostPort: 'A port of the node that leads here.',
  },
  PodStatus: {
    phase: 'Pending, Running, Succeeded, Failed or Unknown.',
    podIP: 'The first of its addresses.',
    podIPs: 'Its addresses, one of each family at most.',
    hostIP: 'The address of its node.',
    conditions: 'What holds of it and what does not, such as Ready.',
  },
  Service: { '': 'One address in front of many pods.', spec: 'What it leads to, and how it is reached.' },
  ServiceSpec: {
    type: 'Who reaches it: ClusterIP, NodePort, LoadBalancer, or ExternalName for a mere name.',
    selector: 'Labels of the pods behind it. Without any, somebody else says where it leads.',
    ports: 'What it listens on.',
    clusterIP: 'Its address in the cluster. "None" makes it headless: DNS names the pods.',
    clusterIPs: 'Its addresses, one of each family.',
    ipFamilies: 'IPv4, IPv6 or both, the first one first.',
    ipFamilyPolicy: 'SingleStack, PreferDualStack or RequireDualStack.',
    externalIPs: 'Further addresses that nodes take traffic at.',
    externalName: 'The name that DNS answers with, for a Service of that type.',
    sessionAffinity: 'ClientIP keeps a client at one pod; None does not.',
    externalTrafficPolicy: 'Local keeps what comes from outside on the node where it came in.',
    internalTrafficPolicy: 'Local keeps what comes from pods on their node.',
    publishNotReadyAddresses: 'Leads to pods that are not ready as well.',
  },
  ServicePort: {
    port: 'Where the Service listens.',
    targetPort: 'Where the pods listen: a number, or the name of a port of theirs.',
    nodePort: 'Where every node listens.',
    protocol: 'TCP, UDP or SCTP; TCP where nothing is said.',
    name: 'Needed where there are several ports.',
  },
  Endpoints: { '': 'Where a Service of the same name leads.', subsets: 'Addresses that have the same ports.' },
  EndpointSlice: {
    '': 'A part of where a Service leads.',
    addressType: 'IPv4, IPv6 or FQDN, for all of the slice.',
    endpoints: 'Who answers.',
    ports: 'At which ports all of them answer.',
  },
  NetworkPolicy: { '': 'What may come to some pods of a namespace, and where these may go.' },
  NetworkPolicySpec: {
    podSelector: 'The pods that it is about; an empty selector means all of the namespace.',
    policyTypes: 'Ingress, Egress or both: in which directions nothing passes but what is allowed.',
    ingress: 'What may come in. No rule lets nothing in.',
    egress: 'Where they may go. No rule lets nothing out.',
  },
  NetworkPolicyIngressRule: { from: 'Who may come; anybody where nobody is named.', ports: 'At which ports; at all where none is named.' },
  NetworkPolicyEgressRule: { to: 'Where to; anywhere where nothing is named.', ports: 'At which ports; at all where none is named.' },
  NetworkPolicyPeer: {
    podSelector: 'Pods of the same namespace, or of those that namespaceSelector finds.',
    namespaceSelector: 'All pods of these namespaces, unless podSelector finds but some.',
    ipBlock: 'A range of addresses instead of pods.',
  },
  NetworkPolicyPort: {
    port: 'A number, or the name of a port of the pods.',
    endPort: 'The last of a range that begins at port.',
    protocol: 'TCP, UDP or SCTP; TCP where nothing is said.',
  },
  IPBlock: { cidr: 'The range, such as 10.0.0.0/8.', except: 'Parts of it that do not belong.' },
  Namespace: { '': 'A room for names: objects in it are gone with it.' },
  Node: { '': 'A machine that pods run on.' },
  NodeSpec: {
    unschedulable: 'No new pods are sent here; kubectl cordon sets it.',
    taints: 'What keeps pods away that do not tolerate it.',
    podCIDR: 'A range that addresses of its pods may come from.',
  },
  ConfigMap: {
    '': 'Settings for programs, as texts by key.',
    data: 'The texts.',
    binaryData: 'What is no text, in base64.',
    immutable: 'Nothing of the data changes any more.',
  },
  Secret: {
    '': 'As a ConfigMap, for what not everybody may read.',
    data: 'The values in base64.',
    stringData: 'Values as they are; the server puts them into data.',
    type: 'Which keys there must be; Opaque asks for none.',
  },
  ServiceAccount: { '': 'Who pods are towards the API.' },
  Deployment: { '': 'Keeps a number of equal pods, and replaces them when their template changes.' },
  DeploymentSpec: {
    replicas: 'How many pods; 1 where nothing is said.',
    selector: 'Which pods are its own. It stays.',
    template: 'What its pods are made from.',
    strategy: 'How pods are replaced: RollingUpdate or Recreate.',
    paused: 'A change of the template waits.',
    revisionHistoryLimit: 'How many old ReplicaSets are kept to go back to.',
  },
  ReplicaSet: { '': 'Keeps a number of equal pods; a Deployment makes them.' },
  StatefulSet: { '': 'Keeps pods that are numbered, each with its own name.' },
  DaemonSet: { '': 'Keeps a pod on each node, or on those that it selects.' },
  Job: { '': 'Pods that run until enough of them ended well.' },
  CronJob: { '': 'Makes Jobs by the clock.' },
  Ingress: { '': 'Leads HTTP from outside to Services, by host and path.' },
  PodDisruptionBudget: { '': 'How many of some pods may be evicted at a time.' },
  Lease: { '': 'Who leads, and until when unless it is renewed.' },
  Role: { '': 'Rights in one namespace.', rules: 'What may be done with what.' },
  ClusterRole: { '': 'Rights in the whole cluster, or wherever a RoleBinding gives them.', rules: 'What may be done with what.' },
  RoleBinding: { '': 'Gives a role to somebody in one namespace.' },
  ClusterRoleBinding: { '': 'Gives a ClusterRole to somebody in the whole cluster.' },
  ResourceQuota: { '': 'How much a namespace may take at most.' },
  LimitRange: { '': 'What a single pod or container may take, and what it gets where it does not say.' },
  CustomResourceDefinition: { '': 'A kind that the server did not bring along.' },
};

/** The fields of every object, unless its own type describes them. */
const OF_OBJECTS: Described = {
  apiVersion: 'Group and version of the schema of this object.',
  kind: 'What this object is.',
  metadata: 'What every object has: its name, its labels, its owners.',
  spec: 'What is wanted.',
  status: 'What there is; the server and controllers write it.',
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
