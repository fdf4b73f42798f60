/**
 * Scenes of Namespaces: those that wait for a Subnet or a pool, those named by an object that cannot serve them, and those whose pods are
 * to be moved.
 */
import { kilnAnnotation, podAnnotation } from '../../../../src/api/well-known.ts';
import { IP_POOLS, NAMESPACES, PODS, SUBNETS, VPCS } from '../objects.ts';
import { annotate, create, edit, namespace, inSubnet, pod, remove, CONVERGE, statefulSet, removeByForce, wait } from './steps.ts';
import type { Scene } from './scene.ts';

/** A Namespace whose pods wait for a Subnet or a pool, which is created while they exist, or never. */
const awaitedSubnet: Scene = (random) => {
  const [key, names] = random.pick([
    [kilnAnnotation.awaitSubnet, ['w1', 'w1,w2', 'true']],
    [kilnAnnotation.awaitIpPool, ['wpool', 'true']],
  ] as const);
  return [
    ...[removeByForce(SUBNETS, 'w1'), removeByForce(IP_POOLS, 'wpool'), remove(PODS, 'w0', 'awaits')],
    ...[...namespace('awaits', { [kilnAnnotation.awaitSubnet]: null, [kilnAnnotation.awaitIpPool]: null, [key]: random.pick([...names]) })],
    ...(key === kilnAnnotation.awaitIpPool ? [create(SUBNETS, 'w1', { cidrBlock: '10.98.0.0/24', namespaces: ['awaits'] })] : []),
    ...[wait(1_500), CONVERGE, ...pod('awaits', 'w0'), CONVERGE],
    create(SUBNETS, 'w1', { cidrBlock: '10.98.0.0/24', namespaces: ['awaits'] }),
    ...[create(IP_POOLS, 'wpool', { subnet: 'w1', ips: ['10.98.0.64/28'], namespaces: ['awaits'] }), wait(2_000)],
  ];
};

/** What names a Namespace and cannot serve it: a Vpc whose default Subnet is elsewhere, a Subnet for attachments, an invalid Subnet. */
const unusableSubnets: Scene = (random) => {
  const within = random.pick(['unserved-a', 'unserved-b', 'unserved-c']);
  const claim = {
    'unserved-a': [
      create(SUBNETS, 'u1', { cidrBlock: '10.61.0.0/24' }),
      wait(1_000),
      create(VPCS, 'uw', { namespaces: [within], defaultSubnet: 'u1' }),
    ],
    'unserved-b': [create(SUBNETS, 'u2', { cidrBlock: '10.62.0.0/24', provider: `unet.${within}.ovn`, namespaces: [within] })],
    'unserved-c': [create(SUBNETS, 'u3', { cidrBlock: '10.62.1.0/24', vpc: 'nowhere', namespaces: [within] })],
  }[within];
  return [
    ...namespace(within),
    ...(claim ?? []),
    wait(1_500),
    CONVERGE,
    ...pod(within, 'up'),
    CONVERGE,
    remove(PODS, 'up', within),
    wait(500),
  ];
};

/**
 * A Subnet is created for a Namespace whose pods may be moved: they are evicted a few at a time. A pod without a controller stays, and so
 * do all if the Subnet is invalid.
 */
const misboundPods: Scene = (random) => {
  // The first one is invalid, as it overlaps another network of that Vpc.
  const cidrBlock = random.chance(0.3) ? '10.16.0.0/20' : '10.64.0.0/24';
  return [
    ...[removeByForce(SUBNETS, 'm4'), ...namespace('movable', { [kilnAnnotation.misbound]: null }), ...statefulSet('movable', 'ms', 4)],
    ...[
      ...pod('movable', 'mb'),
      CONVERGE,
      annotate(NAMESPACES, 'movable', { [kilnAnnotation.misbound]: random.pick(['evict', 'evict', 'rebind']) }),
    ],
    ...[create(SUBNETS, 'm4', { cidrBlock, namespaces: ['movable'] }), wait(3_000)],
  ];
};

/** Pods of a Namespace with a pool have addresses of the pool, also if they name its Subnet; an invalid edit takes no address away. */
const namespacePools: Scene = (random) => [
  ...[create(SUBNETS, 'm5', { cidrBlock: '10.74.0.0/24', namespaces: ['pooled'] }), ...namespace('pooled')],
  create(IP_POOLS, 'mp', { subnet: 'm5', ips: ['10.74.0.64/28'], namespaces: ['pooled'], enableAddressSet: true }),
  ...[edit(IP_POOLS, 'mp', { ips: ['10.74.0.64/28'], namespaces: ['pooled'] }), wait(1_500), CONVERGE],
  ...pod('pooled', 'mq', random.pick([{}, inSubnet('m5'), { [podAnnotation('ovn', 'ip_pool')]: 'mp' }])),
  ...[edit(IP_POOLS, 'mp', { ips: random.pick([['10.75.9.0/28'], ['10.74.0.64/28', 'nonsense'], ['10.74.0.96/28']]) }), wait(1_000)],
];

export const NAMESPACE_SCENES = { awaitedSubnet, unusableSubnets, misboundPods, namespacePools };
