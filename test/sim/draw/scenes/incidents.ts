/**
 * Draws scenes: a few steps that belong together, as people do them. Single draws hardly ever meet in the order that makes a case: a Subnet
 * that goes while somebody takes away the IP objects of those who are in it, a node that is lost with its pods, a StatefulSet made again
 * under its name, two who have kept one address.
 *
 * From a generator of its own, as `draw-broad.ts`.
 */
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import type { KubeObject } from '../../../../lab/apiserver/object.ts';
import {
  IPS,
  NAMESPACE_NAMES,
  NAMESPACES,
  NODE_NAMES,
  NODES,
  objectsOf,
  POD_NAMES,
  PODS,
  podSpec,
  STATEFUL_SETS,
  SUBNETS,
} from '../operations.ts';
import type { Random } from '../random.ts';
import type { SimulatedCluster } from '../../cluster/simulated-cluster.ts';
import type { Operation, Step } from '../../steps/step.ts';

const SCENES = { impatience: 4, lost: 3, again: 2, usurper: 2, evicted: 2, leaving: 2, refused: 2, join: 1, mangled: 3 } as const;

/** Steps in their order; empty where the cluster has nobody to play it. */
export function drawScene(random: Random, cluster: SimulatedCluster): readonly Step[] {
  switch (random.weighted(SCENES)) {
    case 'impatience':
      return impatience(random, cluster);
    case 'lost':
      return lostNode(random, cluster);
    case 'again':
      return setAgain(random, cluster);
    case 'usurper':
      return usurper(random, cluster);
    case 'evicted':
      return evicted(random, cluster);
    case 'leaving':
      return leavingNode(random, cluster);
    case 'refused':
      return refused(random, cluster);
    case 'join':
      return torn(random, cluster, 'join');
    case 'mangled':
      return [mangled(random), mangled(random), mangled(random)];
  }
}

const MANGLED: readonly (readonly [table: string, columns: JsonObject])[] = [
  ['Logical_Router', { options: ['map', []] }],
  ['DHCP_Options', { options: ['map', []] }],
  ['Logical_Switch_Port', { options: ['map', [['requested-chassis', 'n9']]] }],
  ['Logical_Switch_Port', { port_security: '00:00:00:00:00:09' }],
  ['Logical_Switch_Port', { dhcpv4_options: ['set', []] }],
  ['Logical_Router_Static_Route', { nexthop: '10.250.0.1' }],
  ['Logical_Router_Policy', { action: 'drop' }],
  ['Logical_Router_Policy', { nexthops: ['set', []] }],
  ['Port_Group', { ports: ['set', []] }],
];

/** Somebody changes a column of a row: each is put right, whichever it is. */
function mangled(random: Random): Step {
  const [table, columns] = random.pick(MANGLED);
  return doing({ do: 'row', table, place: random.below(50), change: { kind: 'set', columns } });
}

/** Right after all was quiet: what a controller decides now follows from what has been there for a while. */
export function drawDeployment(random: Random): readonly Step[] {
  const namespace = random.pick(NAMESPACE_NAMES);
  const steps: Step[] = [];
  for (let left = 2 + random.below(4); left > 0; left--) {
    const name = random.pick(POD_NAMES);
    const annotations: JsonObject = {};
    if (random.chance(0.25))
      annotations['ovn.kubernetes.io/ip_address'] = random.pick(['10.16.0.77', '10.1.1.77', '10.3.0.77', '10.2.0.7']);
    if (random.chance(0.12)) annotations['ovn.kubernetes.io/ip_pool'] = random.pick(['pool0', 'pool1', 'pool2']);
    const metadata = { name, namespace: random.chance(0.7) ? namespace : random.pick(NAMESPACE_NAMES), annotations, labels: { app: name } };
    steps.push(
      doing({
        do: 'create',
        path: PODS,
        namespace: metadata.namespace,
        object: { metadata, spec: { ...podSpec(), nodeName: random.pick(NODE_NAMES) } },
      }),
    );
  }
  return [...steps, { kind: 'wait', ms: random.pick([300, 3_000]) }];
}

export function doing(operation: Operation): Step {
  return { kind: 'operation', ...operation };
}

function wait(random: Random, ...times: readonly number[]): Step {
  return { kind: 'wait', ms: random.pick(times) };
}

const NETWORK = 'ovn.kubernetes.io/logical_switch';

/** The Subnet is to go, somebody loses patience, and takes away by force what it names as being in the way. */
function impatience(random: Random, cluster: SimulatedCluster): readonly Step[] {
  const used = new Set(objectsOf(cluster, PODS).flatMap(({ metadata }) => metadata.annotations?.[NETWORK] ?? []));
  const subnets = objectsOf(cluster, SUBNETS).filter(({ metadata }) => used.has(metadata.name));
  return subnets.length === 0 ? [] : torn(random, cluster, random.pick(subnets).metadata.name);
}

/** A Subnet is to go, and the IP objects in it are taken away by force. */
export function torn(random: Random, cluster: SimulatedCluster, subnet: string): readonly Step[] {
  const ips = objectsOf(cluster, IPS).filter((ip) => (ip['spec'] as JsonObject)['subnet'] === subnet);
  return [
    doing({ do: 'delete', path: SUBNETS, namespace: '', name: subnet }),
    wait(random, 20, 300),
    ...ips.map(({ metadata: { name } }) => doing({ do: 'vanish', path: IPS, namespace: '', name })),
    wait(random, 5, 300),
  ];
}

/** Its kubelet answers no more, and pods on it are deleted: they are over when their time is, though nobody says so. */
function lostNode(random: Random, cluster: SimulatedCluster): readonly Step[] {
  const name = random.pick(NODE_NAMES);
  const pods = objectsOf(cluster, PODS).filter((pod) => (pod['spec'] as JsonObject)['nodeName'] === name);
  if (pods.length === 0) return [];
  return [
    doing({ do: 'node', name, up: false }),
    ...pods
      .filter(() => random.chance(0.6))
      .map(({ metadata }) => doing({ do: 'delete', path: PODS, namespace: metadata.namespace ?? '', name: metadata.name })),
    wait(random, 300, 5_000),
    { kind: 'rest', lost: true },
  ];
}

/** Deleted and made again under its name: what the pods of the older one had is not this one's. */
function setAgain(random: Random, cluster: SimulatedCluster): readonly Step[] {
  const sets = objectsOf(cluster, STATEFUL_SETS);
  if (sets.length === 0) return [];
  const { name, namespace = '' } = random.pick(sets).metadata;
  const where = { path: STATEFUL_SETS, namespace, name };
  const pods = objectsOf(cluster, PODS).filter(({ metadata }) =>
    metadata.ownerReferences?.some((one) => one.kind === 'StatefulSet' && one.name === name),
  );
  return [
    doing({ do: 'edit', ...where, patch: { spec: { replicas: 2 + random.below(2) } } }),
    wait(random, 300, 3_000),
    doing({ do: 'recreate', ...where }),
    ...pods.map(({ metadata }) => doing({ do: 'delete', path: PODS, namespace: metadata.namespace ?? '', name: metadata.name })),
    wait(random, 300, 3_000),
  ];
}

/** Two IP objects that people made have one address, and then come the pods. */
function usurper(random: Random, cluster: SimulatedCluster): readonly Step[] {
  const subnets = objectsOf(cluster, SUBNETS).filter(({ spec }) =>
    /^10\.(1\.1|3\.0)\.0\/24$/.test(String((spec as JsonObject)['cidrBlock'])),
  );
  if (subnets.length === 0) return [];
  const { metadata, spec } = random.pick(subnets) as KubeObject & { readonly spec: JsonObject };
  const address = `${String(spec['cidrBlock']).replace(/\.0\/24$/, '')}.${50 + random.below(3)}`;
  const namespace = random.pick(NAMESPACE_NAMES);
  const [older, younger] = random.chance(0.5) ? ['p0', 'p1'] : ['p3', 'p2'];
  const ip = (pod = '', reserved = true): Step => {
    const fields = { podName: pod, namespace, subnet: metadata.name, podType: '', ipAddress: address, v4IpAddress: address };
    const labels = reserved ? { 'ovn.kubernetes.io/ip_reserved': 'true' } : {};
    return doing({ do: 'create', path: IPS, namespace: '', object: { metadata: { name: `${pod}.${namespace}`, labels }, spec: fields } });
  };
  const pod = (name = ''): Step => {
    const annotations = { [NETWORK]: metadata.name };
    const object = { metadata: { name, namespace, annotations }, spec: { ...podSpec(), nodeName: random.pick(NODE_NAMES) } };
    return doing({ do: 'create', path: PODS, namespace, object });
  };
  return [
    ...[older, younger].map((name) => doing({ do: 'delete', path: PODS, namespace, name, grace: 0 })),
    wait(random, 300),
    ip(older),
    wait(random, 2_000),
    { kind: 'rest' },
    ip(younger, random.chance(0.5)),
    wait(random, 5, 2_000),
    ...(random.chance(0.5) ? [pod(younger), pod(older)] : [pod(younger)]),
    wait(random, 300, 3_000),
  ];
}

/** A Subnet claims a Namespace whose pods are elsewhere and may be moved. */
function evicted(random: Random, cluster: SimulatedCluster): readonly Step[] {
  const subnets = objectsOf(cluster, SUBNETS).filter(({ metadata }) => metadata.name.startsWith('s'));
  const sets = objectsOf(cluster, STATEFUL_SETS);
  if (subnets.length === 0 || sets.length === 0) return [];
  const { namespace = '', name } = random.pick(sets).metadata;
  const subnet = random.pick(subnets).metadata.name;
  return [
    doing({ do: 'edit', path: STATEFUL_SETS, namespace, name, patch: { spec: { replicas: 2 } } }),
    doing({
      do: 'edit',
      path: NAMESPACES,
      namespace: '',
      name: namespace,
      patch: { metadata: { annotations: { 'kiln.io/misbound': 'evict' } } },
    }),
    wait(random, 3_000),
    doing({ do: 'edit', path: SUBNETS, namespace: '', name: subnet, patch: { spec: { namespaces: [namespace] } } }),
    wait(random, 300, 3_000),
  ];
}

/** A node leaves, and comes again as another one. */
function leavingNode(random: Random, cluster: SimulatedCluster): readonly Step[] {
  const nodes = objectsOf(cluster, NODES);
  if (nodes.length === 0) return [];
  const where = { path: NODES, namespace: '', name: random.pick(nodes).metadata.name };
  return [doing({ do: random.chance(0.5) ? 'recreate' : 'delete', ...where }), wait(random, 5, 300)];
}

/** OVN refuses what it is asked, twice and more: what is set aside has its turn again. */
function refused(random: Random, cluster: SimulatedCluster): readonly Step[] {
  const times = 2 + random.below(4);
  const faults = Array.from({ length: times }, (): Step => ({ kind: 'fault', fault: 'transaction', what: 'refuse' }));
  const more = random.chance(0.5) ? drawDeployment(random) : leavingNode(random, cluster);
  return [...faults, ...more, wait(random, 3_000, 40_000)];
}
