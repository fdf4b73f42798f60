/** Draws operations on the objects of which the records of kinds say what is drawn. Names are few, so that operations meet the effects of earlier ones. */
import type { JsonObject } from '../../../lab/apiserver/json.ts';
import type { KubeObject } from '../../../lab/apiserver/object.ts';
import { SIMULATOR_OF_KINDS } from '../../../src/kinds/generated/simulator.ts';
import { drawnNode } from '../../../src/kinds/node/simulator.ts';
import type { DrawnKind } from '../../../src/testing/drawn-kind.ts';
import { NAMES } from '../../../src/testing/drawn-kind.ts';
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
export const POD_NAMES = NAMES.pods;
export const NODE_NAMES = NAMES.nodes;
export const MACHINE_NAMES = NAMES.machines;
export const VIP_NAMES = SIMULATOR_OF_KINDS.vips.names;
export const EIP_NAMES = SIMULATOR_OF_KINDS['ovn-eips'].names;

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

interface Drawn extends DrawnKind {
  readonly namespaced: boolean;
}

/** Kinds of which the records say what is drawn, by path. */
const DRAWN: ReadonlyMap<ApiPath, Drawn> = new Map(
  (Object.entries(SIMULATOR_OF_KINDS) as [ResourceName, DrawnKind][]).map(([resource, drawn]) => {
    const { group, version, plural, namespaced } = traitsOf(resource);
    return [`${group === '' ? '' : `${group}/`}${version}/${plural}`, { ...drawn, namespaced }];
  }),
);

/** How often an operation is about a kind. */
const WEIGHTS: Readonly<Record<ApiPath, number>> = Object.fromEntries([...DRAWN].map(([path, { weight }]) => [path, weight]));

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
  const path = random.weighted(WEIGHTS);
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
  const drawn = DRAWN.get(path) ?? unknown(path);
  const object =
    drawn.object?.(random, { uidOf: (table, key) => cluster.lab.store.get(table, key)?.metadata.uid }) ?? ofSpec(random, drawn);
  const { namespace = '' } = object['metadata'] as { readonly namespace?: string };
  return { do: 'create', path, namespace, object };
}

function ofSpec(random: Random, { names: all, spec, namespaced }: Drawn): JsonObject {
  const name = random.pick(all);
  const drawn = spec?.(random) ?? {};
  return { metadata: { name, ...(namespaced && { namespace: random.pick(NAMESPACE_NAMES) }) }, spec: drawn };
}

function unknown(path: ApiPath): never {
  throw new RangeError(`no record says what is drawn of ${path}`);
}

export function node(name: string): Operation {
  return { do: 'create', path: NODES, namespace: '', object: drawnNode(name) };
}

function drawEdit(
  random: Random,
  where: { readonly path: ApiPath; readonly namespace: string; readonly name: string },
  cluster: SimulatedCluster,
): Operation {
  const drawn = DRAWN.get(where.path) ?? unknown(where.path);
  const change = drawn.patch?.(random, where.name);
  if (change !== undefined) return { do: 'edit', ...where, patch: change.patch, ...(change.isOfStatus && { status: true }) };
  const spec = drawn.edit ?? drawn.spec;
  return spec === undefined ? drawCreate(random, where.path, cluster) : { do: 'edit', ...where, patch: { spec: spec(random) } };
}
