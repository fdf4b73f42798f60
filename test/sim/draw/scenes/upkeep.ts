/**
 * Draws upkeep: what people do to a cluster that is in order, in a Subnet and a Namespace of their own that nothing else draws, so that
 * what must follow is plain. The pods of a StatefulSet are made again, pods are moved, two have kept one address, the join Subnet is torn out,
 * nodes that are gateways are ready and not.
 *
 * From a generator of its own, as `draw-broad.ts`.
 */
import { IP_POOLS, IPS, NAMESPACES, NODE_NAMES, NODES, PODS, podSpec, STATEFUL_SETS, SUBNETS } from '../operations.ts';
import { doing, torn } from './incidents.ts';
import type { Random } from '../random.ts';
import type { SimulatedCluster } from '../../cluster/simulated-cluster.ts';
import type { Step } from '../../steps/step.ts';

const UPKEEP = { rollout: 3, moved: 3, rivals: 3, join: 3, gateway: 3, pool: 2 } as const;

const SUBNET = 'u0';
const NAMESPACE = 'kept';
const SET = 'db';
const NETWORK = 'ovn.kubernetes.io/logical_switch';

export function drawUpkeep(random: Random, cluster: SimulatedCluster): readonly Step[] {
  switch (random.weighted(UPKEEP)) {
    case 'rollout':
      return rollout();
    case 'moved':
      return moved();
    case 'rivals':
      return rivals(random);
    case 'join':
      return torn(random, cluster, 'join');
    case 'gateway':
      return gateway(random);
    case 'pool':
      return pool(random);
  }
}

function wait(ms: number): Step {
  return { kind: 'wait', ms };
}

function subnet(namespaces: string[]): Step {
  const object = { metadata: { name: SUBNET }, spec: { cidrBlock: '10.77.0.0/24', namespaces } };
  return doing({ do: 'create', path: SUBNETS, namespace: '', object });
}

function namespace(annotations: Readonly<Record<string, string>> = {}): Step {
  return doing({ do: 'create', path: NAMESPACES, namespace: '', object: { metadata: { name: NAMESPACE, annotations } } });
}

function set(replicas: number): Step {
  const labels = { app: SET };
  const spec = { replicas, serviceName: SET, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec() } };
  return doing({
    do: 'create',
    path: STATEFUL_SETS,
    namespace: NAMESPACE,
    object: { metadata: { name: SET, namespace: NAMESPACE }, spec },
  });
}

/** Pods of a StatefulSet are deleted when all is quiet: each has its address again. */
function rollout(): readonly Step[] {
  const pods = ['0', '1'].map((ordinal) => doing({ do: 'delete', path: PODS, namespace: NAMESPACE, name: `${SET}-${ordinal}` }));
  return [subnet([NAMESPACE]), namespace(), set(2), wait(3_000), { kind: 'rest' }, ...pods, wait(3_000)];
}

/** A Subnet comes for a Namespace whose pods are elsewhere, and they may be moved. */
function moved(): readonly Step[] {
  return [
    doing({ do: 'delete', path: SUBNETS, namespace: '', name: SUBNET }),
    doing({ do: 'delete', path: NAMESPACES, namespace: '', name: NAMESPACE }),
    wait(3_000),
    namespace({ 'kiln.io/misbound': 'evict' }),
    set(2),
    wait(3_000),
    subnet([NAMESPACE]),
    wait(3_000),
  ];
}

/** Two IP objects that people made have one address, and then come the pods: who was there first goes first. */
function rivals(random: Random): readonly Step[] {
  const address = `10.77.0.${50 + random.below(8)}`;
  const [older = '', younger = ''] = random.chance(0.5) ? ['p0', 'p1'] : ['p1', 'p0'];
  const ip = (pod: string, reserved: boolean): Step => {
    const spec = { podName: pod, namespace: NAMESPACE, subnet: SUBNET, podType: '', ipAddress: address, v4IpAddress: address };
    const labels = reserved ? { 'ovn.kubernetes.io/ip_reserved': 'true' } : {};
    return doing({ do: 'create', path: IPS, namespace: '', object: { metadata: { name: `${pod}.${NAMESPACE}`, labels }, spec } });
  };
  const pod = (name: string): Step => {
    const metadata = { name, namespace: NAMESPACE, annotations: { [NETWORK]: SUBNET } };
    return doing({
      do: 'create',
      path: PODS,
      namespace: NAMESPACE,
      object: { metadata, spec: { ...podSpec(), nodeName: random.pick(NODE_NAMES) } },
    });
  };
  return [
    subnet([NAMESPACE]),
    namespace(),
    ...[older, younger].flatMap((name) => [
      doing({ do: 'delete', path: PODS, namespace: NAMESPACE, name, grace: 0 }),
      doing({ do: 'vanish', path: IPS, namespace: '', name: `${name}.${NAMESPACE}` }),
    ]),
    wait(2_000),
    ip(older, true),
    wait(2_000),
    { kind: 'rest' },
    ip(younger, random.chance(0.5)),
    wait(random.pick([5, 2_000])),
    ...(random.chance(0.5) ? [pod(younger), pod(older)] : [pod(younger)]),
    wait(3_000),
  ];
}

/** Nodes become ready, one of them a Subnet's gateway, and then one is not for a while. */
function gateway(random: Random): readonly Step[] {
  const ready = (name: string, status: 'True' | 'False'): Step =>
    doing({ do: 'edit', path: NODES, namespace: '', name, patch: { status: { conditions: [{ type: 'Ready', status }] } }, status: true });
  const names = random.chance(0.5) ? ['n0', 'n1', 'n2'] : ['n1', 'n0', 'n2'];
  const spec = { cidrBlock: '10.78.0.0/24', gatewayType: 'centralized', gatewayNode: names.join(',') };
  return [
    ...names.map((name) => ready(name, 'True')),
    doing({ do: 'create', path: SUBNETS, namespace: '', object: { metadata: { name: 'u1' }, spec } }),
    wait(1_000),
    { kind: 'rest' },
    ready(names[0] ?? '', 'False'),
    wait(1_000),
    { kind: 'rest' },
    ready(names[0] ?? '', 'True'),
    wait(random.pick([300, 3_000])),
  ];
}

/** A pool that has its addresses as a set, which goes with it. */
function pool(random: Random): readonly Step[] {
  const spec = { subnet: SUBNET, ips: [random.pick(['10.77.0.100..10.77.0.120', '10.77.0.64/28'])], enableAddressSet: true };
  return [
    subnet([NAMESPACE]),
    doing({ do: 'create', path: IP_POOLS, namespace: '', object: { metadata: { name: 'set' }, spec } }),
    wait(random.pick([20, 1_000])),
    doing({ do: 'delete', path: IP_POOLS, namespace: '', name: 'set' }),
    wait(300),
  ];
}
