/** Draws operations on Vpcs, Subnets, pods and their dependents. Names are few, so that operations meet the effects of earlier ones. */
import type { JsonObject } from '../../../lab/apiserver/json.ts';
import type { KubeObject } from '../../../lab/apiserver/object.ts';
import { SIMULATOR_OF_KINDS } from '../../../src/kinds/generated/simulator.ts';
import type { DrawnKind } from '../../../src/testing/drawn-kind.ts';
import { names, NAMES } from '../../../src/testing/drawn-kind.ts';
import type { ResourceName } from '../../../src/world/resources.ts';
import { traitsOf } from '../../../src/world/resources.ts';
import type { Random } from '../cluster/random.ts';
import { drawRowChange } from './rows.ts';
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import type { ApiPath, Operation } from '../steps/step.ts';

export const VPCS = 'kubeovn.io/v1/vpcs';
export const SUBNETS = 'kubeovn.io/v1/subnets';
export const IPS = 'kubeovn.io/v1/ips';
export const IP_POOLS = 'kubeovn.io/v1/ippools';
export const PODS = 'v1/pods';
export const NAMESPACES = 'v1/namespaces';
export const NODES = 'v1/nodes';
export const STATEFUL_SETS = 'apps/v1/statefulsets';
export const NETWORKS = 'k8s.cni.cncf.io/v1/network-attachment-definitions';
export const MACHINES = 'kubevirt.io/v1/virtualmachines';
export const INSTANCES = 'kubevirt.io/v1/virtualmachineinstances';

export const VIPS = 'kubeovn.io/v1/vips';
export const OVN_EIPS = 'kubeovn.io/v1/ovn-eips';

export const SUBNET_NAMES = NAMES.subnets;
export const NAMESPACE_NAMES = NAMES.namespaces;
export const POD_NAMES = names('p', 8);
const SET_NAMES = names('web', 2);
const POOL_NAMES = SIMULATOR_OF_KINDS.ippools.names;
export const NODE_NAMES = NAMES.nodes;
export const MACHINE_NAMES = names('vm', 2);
export const VIP_NAMES = SIMULATOR_OF_KINDS.vips.names;
export const EIP_NAMES = SIMULATOR_OF_KINDS['ovn-eips'].names;
const NETWORK_NAMES = NAMES.networks;

const ACTIONS = {
  create: 40,
  edit: 18,
  delete: 22,
  'remove-finalizers': 3,
  'remove-by-force': 3,
  recreate: 4,
  node: 1,
  row: 4,
  foreign: 2,
} as const;

/** Kinds of which the records say what is drawn, by path. */
const DRAWN: ReadonlyMap<ApiPath, DrawnKind & { readonly namespaced: boolean }> = new Map(
  (Object.entries(SIMULATOR_OF_KINDS) as [ResourceName, DrawnKind][]).map(([resource, drawn]) => {
    const { group, version, plural, namespaced } = traitsOf(resource);
    return [`${group === '' ? '' : `${group}/`}${version}/${plural}`, { ...drawn, namespaced }];
  }),
);

const KINDS: Readonly<Record<ApiPath, number>> = {
  [VPCS]: SIMULATOR_OF_KINDS.vpcs.weight,
  [SUBNETS]: SIMULATOR_OF_KINDS.subnets.weight,
  [NAMESPACES]: 6,
  [NODES]: 3,
  [PODS]: 40,
  [IPS]: 6,
  [IP_POOLS]: SIMULATOR_OF_KINDS.ippools.weight,
  [STATEFUL_SETS]: 4,
  [NETWORKS]: 2,
  [MACHINES]: 2,
  [INSTANCES]: 2,
  [VIPS]: SIMULATOR_OF_KINDS.vips.weight,
  [OVN_EIPS]: SIMULATOR_OF_KINDS['ovn-eips'].weight,
  ...Object.fromEntries([...DRAWN].map(([path, { weight }]) => [path, weight])),
} as const;

export function drawOperation(random: Random, cluster: SimulatedCluster): Operation {
  const action = random.weighted(ACTIONS);
  if (action === 'node') return { do: 'node', name: random.pick(NODE_NAMES), up: random.chance(0.5) };
  if (action === 'row') return drawRowChange(random);
  if (action === 'foreign')
    return {
      do: 'foreign',
      name: `x${random.below(4)}`,
      what: random.weighted({ switch: 3, 'same-name': 1, 'load-balancer': 2, remove: 8 }),
    };
  const path = random.weighted(KINDS);
  if (action === 'create') return drawCreate(random, path, cluster);
  const present = objectsOf(cluster, path);
  if (present.length === 0) return drawCreate(random, path, cluster);
  const target = random.pick(present);
  const { name, namespace = '' } = target.metadata;
  const where = { path, namespace, name };
  if (action === 'edit') return drawEdit(random, where, cluster);
  if (action === 'delete' && path === PODS && random.chance(0.25)) return { do: 'delete', ...where, grace: 0 };
  return drawChange(action, where);
}

/** A deletion, or the removal of finalizers. A Namespace has content that must be deleted with it, so it is never deleted by force. */
export function drawChange(
  action: 'delete' | 'remove-by-force' | 'remove-finalizers' | 'recreate',
  where: { readonly path: ApiPath; readonly namespace: string; readonly name: string },
): Operation {
  return { do: where.path === NAMESPACES && action !== 'remove-finalizers' ? 'delete' : action, ...where };
}

export function objectsOf(cluster: SimulatedCluster, path: ApiPath): readonly KubeObject[] {
  const parts = path.split('/');
  const plural = parts.at(-1) ?? '';
  const table = parts.length === 3 && parts[0] !== 'apps' ? `${plural}.${parts[0]}` : plural;
  return cluster.lab.store.list(table).filter(({ metadata }) => !UNTOUCHED.has(metadata.name));
}

/** The cluster's own namespaces are never deleted. */
const UNTOUCHED = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease']);

export function drawCreate(random: Random, path: ApiPath, cluster: SimulatedCluster): Operation {
  const namespaced = (name: string, rest: JsonObject, metadata: JsonObject = {}): Operation => {
    const namespace = random.pick(NAMESPACE_NAMES);
    return { do: 'create', path, namespace, object: { metadata: { name, namespace, ...metadata }, ...rest } };
  };
  const global = (name: string, rest: JsonObject, metadata: JsonObject = {}): Operation => ({
    do: 'create',
    path,
    namespace: '',
    object: { metadata: { name, ...metadata }, ...rest },
  });
  const drawn = DRAWN.get(path);
  if (drawn !== undefined) return (drawn.namespaced ? namespaced : global)(random.pick(drawn.names), { spec: drawn.spec(random) });
  switch (path) {
    case NAMESPACES:
      return global(random.pick(NAMESPACE_NAMES), {}, { labels: { team: random.pick(['a', 'b']) } });
    case NODES:
      return node(random.pick(NODE_NAMES));
    case PODS:
      return drawPod(random, cluster);
    case IPS:
      return drawIp(random);
    case STATEFUL_SETS: {
      const labels = { app: 'web' };
      const template = { metadata: { labels }, spec: podSpec() };
      return namespaced(random.pick(SET_NAMES), {
        spec: { replicas: random.below(4), serviceName: 'web', selector: { matchLabels: labels }, template },
      });
    }
    case NETWORKS: {
      const name = random.pick(NETWORK_NAMES);
      const config = random.chance(0.7)
        ? '{"cniVersion":"0.3.0","type":"kube-ovn"}'
        : '{"cniVersion":"0.3.0","type":"macvlan","ipam":{"type":"kube-ovn"}}';
      return namespaced(name, { spec: { config } });
    }
    default:
      return namespaced(random.pick(MACHINE_NAMES), { spec: {} });
  }
}

export function node(name: string): Operation {
  const address = `172.18.0.${2 + Number(name.slice(1))}`;
  return {
    do: 'create',
    path: NODES,
    namespace: '',
    object: { metadata: { name, labels: { zone: name } }, spec: {}, status: { addresses: [{ type: 'InternalIP', address }] } },
  };
}

export function podSpec(): JsonObject {
  return { containers: [{ name: 'main', image: 'busybox' }], terminationGracePeriodSeconds: 1 };
}

function someAddress(random: Random): string {
  return random.pick([
    '10.1.0.2',
    '10.1.0.3',
    '10.1.0.6',
    '10.1.1.10',
    '10.1.1.11',
    '10.2.0.3',
    '10.3.0.7',
    'fd00:1::5',
    '10.4.0.2,fd00:4::2',
    '10.99.0.1',
    'oops',
  ]);
}

function drawPod(random: Random, cluster: SimulatedCluster): Operation {
  const namespace = random.pick(NAMESPACE_NAMES);
  const name = random.pick(POD_NAMES);
  const annotations: JsonObject = {};
  if (random.chance(0.2)) annotations['ovn.kubernetes.io/logical_switch'] = random.pick(SUBNET_NAMES);
  if (random.chance(0.12)) annotations['ovn.kubernetes.io/ip_address'] = someAddress(random);
  if (random.chance(0.06)) annotations['ovn.kubernetes.io/ip_pool'] = random.pick([...POOL_NAMES, '10.1.0.2,10.1.0.3']);
  if (random.chance(0.1)) annotations['k8s.v1.cni.cncf.io/networks'] = `${namespace}/${random.pick(NETWORK_NAMES)}`;
  const spec = podSpec();
  if (random.chance(0.9)) spec['nodeName'] = random.pick(NODE_NAMES);
  if (random.chance(0.04)) spec['hostNetwork'] = true;
  const owner = random.chance(0.06) ? instanceOwner(random, cluster, namespace) : undefined;
  return {
    do: 'create',
    path: PODS,
    namespace,
    object: {
      metadata: { name, namespace, annotations, labels: { app: name }, ...(owner === undefined ? {} : { ownerReferences: [owner] }) },
      spec: owner === undefined ? spec : { ...spec, restartPolicy: 'Never' },
    },
  };
}

function instanceOwner(random: Random, cluster: SimulatedCluster, namespace: string): JsonObject | undefined {
  const name = random.pick(MACHINE_NAMES);
  const instance = cluster.lab.store.get('virtualmachineinstances.kubevirt.io', `${namespace}/${name}`);
  if (instance === undefined) return undefined;
  return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name, uid: instance.metadata.uid };
}

/** A reserved address: an IP object that a user makes. */
function drawIp(random: Random): Operation {
  const namespace = random.pick(NAMESPACE_NAMES);
  const pod = random.pick(POD_NAMES);
  const spec: JsonObject = {
    subnet: random.pick(SUBNET_NAMES),
    podName: pod,
    namespace,
    podType: random.pick(['', 'StatefulSet', 'VirtualMachine']),
  };
  if (random.chance(0.7)) spec['v4IpAddress'] = spec['ipAddress'] = random.pick(['10.1.0.2', '10.1.0.3', '10.1.1.10', '10.2.0.3']);
  return { do: 'create', path: IPS, namespace: '', object: { metadata: { name: `${pod}.${namespace}` }, spec } };
}

function drawEdit(
  random: Random,
  where: { readonly path: ApiPath; readonly namespace: string; readonly name: string },
  cluster: SimulatedCluster,
): Operation {
  const edit = (patch: JsonObject, status = false): Operation => ({ do: 'edit', ...where, patch, ...(status ? { status } : {}) });
  const drawn = DRAWN.get(where.path);
  if (drawn !== undefined) return edit({ spec: (drawn.edit ?? drawn.spec)(random) });
  switch (where.path) {
    case NAMESPACES:
      return random.chance(0.5)
        ? edit({ metadata: { labels: { team: random.pick(['a', 'b', 'c']) } } })
        : edit({ metadata: { annotations: { 'kiln.io/misbound': random.pick(['report', 'rebind', 'evict']) } } });
    case NODES:
      return edit({ metadata: { labels: { zone: random.pick(['x', 'y']) } } });
    case PODS:
      return editPod(random, edit, where.name);
    case IPS:
      return random.chance(0.5)
        ? edit({ metadata: { annotations: { 'kiln.io/lease': random.pick(['1s', '30s', 'x']) } } })
        : edit({ spec: { subnet: random.pick(SUBNET_NAMES), ipAddress: someAddress(random) } });
    case STATEFUL_SETS:
      return edit({ spec: { replicas: random.below(5) } });
    case NETWORKS:
      return edit({ spec: { config: random.pick(['{"cniVersion":"0.3.0","type":"kube-ovn"}', '{"type":"bridge"}', 'broken']) } });
    default:
      return drawCreate(random, where.path, cluster);
  }
}

function editPod(random: Random, edit: (patch: JsonObject, status?: boolean) => Operation, name: string): Operation {
  switch (random.weighted({ finish: 4, run: 4, network: 2, tamper: 2, label: 1 })) {
    case 'finish':
      return edit({ status: { phase: random.pick(['Succeeded', 'Failed']) } }, true);
    case 'run':
      return edit({ status: { phase: 'Running' } }, true);
    case 'network':
      return edit({
        metadata: { annotations: { 'k8s.v1.cni.cncf.io/networks': random.chance(0.5) ? null : `ns0/${random.pick(NETWORK_NAMES)}` } },
      });
    case 'tamper':
      return edit({
        metadata: { annotations: { [`ovn.kubernetes.io/${random.pick(['allocated', 'ip_address', 'logical_switch'])}`]: null } },
      });
    case 'label':
      return edit({ metadata: { labels: { app: `${name}-x` } } });
  }
}
