/** Scenes of StatefulSets: a pod made again gets its former address, if what that depends on is unchanged. */
import { podAnnotation } from '../../../../src/api/well-known.ts';
import { IPS, PODS, STATEFUL_SETS, SUBNETS } from '../objects.ts';
import { create, operation, edit, namespace, inSubnet, remove, CONVERGE, statefulSet, wait } from './steps.ts';
import type { Scene } from './scene.ts';

/** Pods are deleted after everything converged: each gets its address again. A new set of the same name has none of these addresses. */
const rollout: Scene = (random) => [
  ...[create(SUBNETS, 'd0', { cidrBlock: '10.79.0.0/24', namespaces: ['rollout'] }), ...namespace('rollout')],
  ...[...statefulSet('rollout', 'db', 2), CONVERGE],
  ...(random.chance(0.3) ? [operation({ do: 'recreate', path: STATEFUL_SETS, namespace: 'rollout', name: 'db' })] : []),
  ...['db-0', 'db-1'].map((name) => remove(PODS, name, 'rollout')),
  wait(3_000),
];

/** The set is scaled down, or does not count from zero: the addresses of its last pods are free. */
const scaledSet: Scene = (random) => {
  const ordinals = { start: random.pick([0, 2, 3]) };
  return [
    ...[
      ...namespace('scaled'),
      ...statefulSet('scaled', 'ts', 3, {}, { ordinals }),
      CONVERGE,
      edit(STATEFUL_SETS, 'ts', { replicas: 1 }, 'scaled'),
    ],
    ...[wait(random.pick([20, 3_000])), ...(random.chance(0.5) ? [remove(PODS, `ts-${ordinals.start}`, 'scaled'), wait(1_000)] : [])],
  ];
};

/** A list of addresses, from which each pod has that of its ordinal; it is another list when a pod is made again. */
const addressList: Scene = (random) => {
  const list = (): string => random.pick(['10.71.0.20;10.71.0.21;10.71.0.22', '10.71.0.22;10.71.0.20;10.71.0.21', '10.71.0.30;10.71.0.31']);
  const annotations = { [podAnnotation('ovn', 'ip_pool')]: list() };
  const next = { metadata: { annotations: { [podAnnotation('ovn', 'ip_pool')]: list() } } };
  return [
    ...[create(SUBNETS, 'd1', { cidrBlock: '10.71.0.0/24', gateway: '10.71.0.1', namespaces: ['listed'] }), ...namespace('listed')],
    ...[...statefulSet('listed', 'ls', 2, annotations), edit(STATEFUL_SETS, 'ls', { template: next }, 'listed')],
    ...[remove(PODS, 'ls-1', 'listed'), wait(2_000), CONVERGE],
  ];
};

/** The Subnet of its pods is deleted or becomes smaller, and the pods are made again. */
const deletedSubnetOfSet: Scene = (random) => [
  ...[
    create(SUBNETS, 'd2', { cidrBlock: '10.94.0.0/24', namespaces: ['leaving'], excludeIps: ['10.94.0.1..10.94.0.199'] }),
    ...namespace('leaving'),
  ],
  ...[wait(1_000), ...statefulSet('leaving', 'rl', 2, random.pick([{}, inSubnet('d2')]))],
  random.chance(0.6) ? remove(SUBNETS, 'd2') : edit(SUBNETS, 'd2', { cidrBlock: '10.94.0.0/25', excludeIps: ['10.94.0.1'] }),
  ...[wait(random.pick([1_000, 8_000])), ...['rl-0', 'rl-1'].map((name) => remove(PODS, name, 'leaving')), wait(3_000)],
  ...(random.chance(0.5) ? [operation({ do: 'remove-by-force', path: IPS, namespace: '', name: 'rl-0.leaving' }), wait(500)] : []),
];

export const STATEFUL_SET_SCENES = { rollout, scaledSet, addressList, deletedSubnetOfSet };
