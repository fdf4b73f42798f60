/** Scenes of nodes: lost, deleted and made again, gateways, dual-stack nodes, and those whose address another object has. */
import { JOIN_SUBNET, labelKey } from '../../../../src/api/well-known.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import { IPS, node, NODE_NAMES, NODES, objectsOf, PODS, SUBNETS } from '../objects.ts';
import { create, operation, edit, fault, ready, remove, CONVERGE, row, setStatus, removeByForce, wait } from './steps.ts';
import type { Scene } from './scene.ts';

/** Its kubelet no longer answers, and pods on it are deleted: they are over at the end of their grace period, though nothing reports it. */
const lostNode: Scene = (random, cluster) => {
  const name = random.pick(NODE_NAMES);
  const pods = objectsOf(cluster, PODS).filter((pod) => (pod['spec'] as JsonObject)['nodeName'] === name && random.chance(0.6));
  return [
    operation({ do: 'node', name, up: false }),
    ...pods.map(({ metadata }) => operation({ do: 'delete', path: PODS, namespace: metadata.namespace ?? '', name: metadata.name })),
    ...[wait(random.pick([300, 5_000])), { kind: 'converge', lost: true } as const],
  ];
};

/** A node is deleted and made again; or its IP object and its port are deleted while nothing is watched. */
const recreatedNode: Scene = (random) => {
  const name = random.pick(['n0', 'n1']);
  if (random.chance(0.5))
    return [
      operation({ do: random.pick(['recreate', 'delete'] as const), path: NODES, namespace: '', name }),
      wait(300),
      operation(node(name)),
    ];
  return [
    fault({ fault: 'kill', controller: 'a', afterWrites: 0, restartMs: 4_000 }),
    ...[create(PODS, 'q4', { containers: [{ name: 'main', image: 'busybox' }], nodeName: name }, {}, 'default'), wait(1_000)],
    ...[row('Logical_Switch_Port', 0, { kind: 'delete' }, `node-${name}`), removeByForce(IPS, `node-${name}`), wait(8_000)],
    remove(PODS, 'q4', 'default'),
  ];
};

/**
 * Nodes become ready, one of them the gateway of a Subnet, and one is not ready for a while. Traffic leaves by one gateway, by several, or
 * by the node of each pod.
 */
const gatewayNodes: Scene = (random) => {
  const names = random.chance(0.5) ? ['n0', 'n1', 'n2'] : ['n1', 'n0', 'n2'];
  const spec = random.pick<JsonObject>([
    { gatewayType: 'centralized', gatewayNode: names.join(','), enableEcmp: null },
    { gatewayType: 'centralized', gatewayNode: 'n0:172.18.0.9,n1:172.18.0.10', enableEcmp: true },
    { gatewayType: 'distributed', gatewayNode: null },
  ]);
  return [
    ...[...names.map((name) => ready(name)), create(SUBNETS, 'y1', { cidrBlock: '10.78.0.0/24,fd00:78::/120' }), edit(SUBNETS, 'y1', spec)],
    ...[
      wait(1_000),
      CONVERGE,
      ready(names[0] ?? '', 'False'),
      wait(1_000),
      CONVERGE,
      ready(names[0] ?? ''),
      wait(random.pick([300, 3_000])),
    ],
  ];
};

/** Nodes join in both families, and have more than one address of their own. */
const nodeFamilies: Scene = (random) => [
  edit(SUBNETS, JOIN_SUBNET, { cidrBlock: '100.64.0.0/16,fd00:100:64::/112', gateway: '100.64.0.1,fd00:100:64::1' }),
  ...['n0', 'n1'].map((name) => {
    const at = 2 + Number(name.slice(1));
    const own = random.pick([[`172.18.0.${at}`, `fd00:18::${at}`], [`172.18.0.${at}`, `172.19.0.${at}`], [`172.18.0.${at}`]]);
    return setStatus(NODES, name, { addresses: own.map((address) => ({ type: 'InternalIP', address })) });
  }),
  ...[edit(SUBNETS, 'f0', { private: random.pick([true, null]) }), wait(2_000)],
];

/** An IP object with the name of a node's belongs to a pod: the node waits, and joins when the object is gone. */
const nodeNameConflict: Scene = (random) => {
  const spec = { subnet: random.pick(['ovn-default', JOIN_SUBNET]), podName: 'elsewhere', namespace: 'default', podType: '' };
  return [
    ...[
      remove(NODES, 'n7'),
      wait(2_000),
      removeByForce(IPS, 'node-n7'),
      create(IPS, 'node-n7', spec, { labels: { [labelKey.ipReserved]: 'true' } }),
    ],
    ...[wait(1_000), operation(node('n7')), random.chance(0.5) ? CONVERGE : wait(2_000), removeByForce(IPS, 'node-n7'), wait(2_000)],
    ...[...(random.chance(0.5) ? [CONVERGE] : []), remove(NODES, 'n7')],
  ];
};

export const NODE_SCENES = { lostNode, recreatedNode, gatewayNodes, nodeFamilies, nodeNameConflict };
