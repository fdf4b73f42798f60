/** Scenes of Subnets: fields set and unset, networks that become smaller or overlap, Subnets deleted while in use. */
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import type { Step } from '../../steps/step.ts';
import { IPS, objectsOf, OVN_EIPS, PODS, SUBNETS, VIPS, VPCS } from '../objects.ts';
import { operation, edit, create, namespace, inSubnet, pod, remove, CONVERGE, removeByForce, wait } from './steps.ts';
import type { Scene } from './scene.ts';

const FIELDS = 'fields';
const OUT: JsonObject = { gatewayNode: null, gatewayNodeSelectors: null, enableEcmp: null };

function acl(direction: string, priority: number, match: string, action = 'drop'): JsonObject {
  return { direction, priority, action, match };
}

const ACLS = [
  acl('to-lport', 1_100, 'ip4.src==10.8.0.0/16'),
  acl('from-lport', 1_200, 'ip6.dst==fd00:8::/64', 'allow'),
  acl('from-lport', 1_300, 'ip4.dst==10.7.0.0/16'),
];

/** Changes to a spec: each sets or unsets one field. */
const SPEC_CHANGES: readonly JsonObject[] = [
  { enableDHCP: true, dhcpV4Options: 'lease_time=600', dhcpV6Options: null },
  { enableDHCP: true, dhcpV4Options: 'mtu=1300,lease_time=60', dhcpV6Options: 'dns_server=fd00:80::53' },
  { enableDHCP: true, dhcpV4Options: null, dhcpV6Options: null, mtu: 1_300 },
  { enableDHCP: null, dhcpV4Options: null, mtu: 0 },
  { enableIPv6RA: true, ipv6RAConfigs: 'address_mode=slaac,max_interval=60,min_interval=20,send_periodic=true' },
  { enableIPv6RA: null, ipv6RAConfigs: null },
  { enableLb: true },
  { enableLb: false },
  { private: true, allowSubnets: ['10.9.0.0/16', '10.11.0.0/16', 'fd00:9::/64'] },
  { private: true, allowSubnets: ['10.9.0.0/16'] },
  { private: null, allowSubnets: null },
  { ...OUT, gatewayType: 'centralized', gatewayNode: 'n0,n1', enableEcmp: true },
  { ...OUT, gatewayType: 'centralized', gatewayNodeSelectors: [{ matchLabels: { zone: 'n0' } }, { matchLabels: { zone: 'n1' } }] },
  { ...OUT, gatewayType: 'distributed' },
  { excludeIps: ['10.80.0.100..10.80.0.110', 'fd00:80::50'] },
  { excludeIps: ['10.80.0.2..10.80.0.8'] },
  { excludeIps: null },
  { acls: ACLS, allowEWTraffic: true },
  { acls: ACLS.slice(1), allowEWTraffic: null },
  { acls: null, allowEWTraffic: null },
  { routeTable: 'red' },
  { routeTable: null },
];

/** A dual-stack Subnet, and a Namespace in it. */
export function dualStackSubnet(): readonly Step[] {
  const spec = { cidrBlock: '10.80.0.0/24,fd00:80::/120', gateway: '10.80.0.9,fd00:80::9', namespaces: [FIELDS] };
  return [create(SUBNETS, 'f0', spec), ...namespace(FIELDS)];
}

const subnetFields: Scene = (random) => [
  ...dualStackSubnet(),
  ...pod(
    FIELDS,
    random.pick(['q0', 'q1', 'q2']),
    random.chance(0.3) ? inSubnet('f0', random.pick(['10.80.0.105,fd00:80::50', '10.80.0.3,fd00:80::51'])) : {},
  ),
  ...Array.from({ length: 4 }, () => edit(SUBNETS, 'f0', random.pick(SPEC_CHANGES))),
  wait(random.pick([20, 300, 3_000])),
];

/** Half of a network, or a family, is removed while an address in it is in use; or a used address becomes the gateway. */
const smallerNetwork: Scene = (random) => {
  const whole = { cidrBlock: '10.86.0.0/24,fd00:86::/120', gateway: '10.86.0.1,fd00:86::1', excludeIps: null };
  const spec = random.pick<JsonObject>([
    { ...whole, cidrBlock: '10.86.0.0/25,fd00:86::/120' },
    { ...whole, cidrBlock: '10.86.0.0/24,fd00:86::/121' },
    { cidrBlock: '10.86.0.0/24', gateway: '10.86.0.1' },
    { ...whole, gateway: '10.86.0.200,fd00:86::1' },
  ]);
  const holder = random.pick([
    pod('narrowed', 'k3', inSubnet('l2', '10.86.0.200,fd00:86::c8')),
    [create(VIPS, 'svip', { subnet: 'l2', v4ip: '10.86.0.200', v6ip: 'fd00:86::c8' })],
    [create(OVN_EIPS, 'seip', { externalSubnet: 'l2', v4Ip: '10.86.0.200', v6Ip: 'fd00:86::c8' })],
  ]);
  return [
    ...[...namespace('narrowed'), create(SUBNETS, 'l2', whole)],
    ...[remove(VIPS, 'svip'), remove(OVN_EIPS, 'seip'), remove(PODS, 'k3', 'narrowed'), edit(SUBNETS, 'l2', whole), wait(2_500)],
    ...[...holder, wait(2_000), edit(SUBNETS, 'l2', spec), wait(1_000)],
  ];
};

/** Two overlapping networks of one Vpc, and one that overlaps node addresses; then one is edited to overlap another. */
const overlappingNetworks: Scene = (random) => [
  ...[removeByForce(SUBNETS, 'l5'), wait(1_000), create(SUBNETS, 'l5', { cidrBlock: '10.83.0.0/24,fd00:83::/120' }), wait(1_500)],
  create(SUBNETS, 'l6', { cidrBlock: random.pick(['10.83.0.128/25', '10.82.0.0/23', '10.84.0.0/24,fd00:83::80/121']) }),
  ...[create(SUBNETS, 'l7', { cidrBlock: '172.18.0.0/24' }), create(SUBNETS, 'l8', { cidrBlock: '10.81.0.0/24' }), wait(1_500)],
  ...(random.chance(0.5)
    ? [remove(SUBNETS, 'l5')]
    : [edit(SUBNETS, 'l5', { cidrBlock: '10.81.0.0/24', gateway: '10.81.0.1', excludeIps: null })]),
  wait(1_000),
];

/**
 * A Subnet and a Vpc are being deleted and blocked by a pod: a new pod waits, and a condition reports it. Once the first pod is gone, both
 * are deleted.
 */
const podOfTerminatingSubnet: Scene = (random) => [
  ...[...namespace('late'), create(VPCS, 'lv', {}), create(SUBNETS, 'l0', { cidrBlock: '10.89.0.0/24', vpc: 'lv' }), wait(1_000)],
  ...[remove(PODS, 'k2', 'late'), ...pod('late', 'k0', inSubnet('l0')), remove(SUBNETS, 'l0'), remove(VPCS, 'lv'), wait(1_000), CONVERGE],
  ...[
    ...pod('late', 'k2', inSubnet('l0')),
    create(VIPS, 'lvip', { subnet: 'l0' }),
    create(SUBNETS, 'l1', { cidrBlock: '10.87.0.0/24', vpc: 'lv' }),
  ],
  ...[wait(2_000), ...(random.chance(0.5) ? [CONVERGE] : []), remove(PODS, 'k0', 'late'), remove(PODS, 'k2', 'late'), wait(1_000)],
];

/** A Subnet is removed by force, with the IP objects that name it: its orphaned network is retained for the pods that run in it. */
const orphanedNetwork: Scene = (random) => [
  ...[
    ...namespace('torn'),
    create(VPCS, 'tv', {}),
    create(SUBNETS, 'c6', { cidrBlock: '10.66.0.0/24', vpc: random.pick(['tv', 'ovn-cluster']) }),
  ],
  ...[wait(1_500), ...['w0', 'w1'].flatMap((name) => pod('torn', name, inSubnet('c6'))), CONVERGE, removeByForce(SUBNETS, 'c6')],
  ...['w0', 'w1'].map((name) => removeByForce(IPS, `${name}.torn`)),
  ...[wait(1_000), ...(random.chance(0.5) ? [remove(VPCS, 'tv'), wait(1_000), CONVERGE] : []), remove(PODS, 'w1', 'torn'), wait(500)],
  ...(random.chance(0.5) ? [create(SUBNETS, 'c6', { cidrBlock: '10.66.0.0/24' }), wait(1_000)] : [remove(PODS, 'w0', 'torn'), wait(500)]),
];

/** A Subnet is being deleted, and a user removes by force the blockers that it reports. */
const blockersRemovedByForce: Scene = (random, cluster) => {
  const used = objectsOf(cluster, IPS).map((ip) => String((ip['spec'] as JsonObject)['subnet']));
  const subnet = random.chance(0.3) ? 'join' : random.pick(['join', ...used]);
  const ips = objectsOf(cluster, IPS).filter((ip) => (ip['spec'] as JsonObject)['subnet'] === subnet);
  return [
    ...[remove(SUBNETS, subnet), wait(random.pick([20, 300]))],
    ...[...ips.map(({ metadata: { name } }) => removeByForce(IPS, name)), wait(random.pick([5, 300]))],
  ];
};

/** A deleted Subnet has another program's finalizer: once it is empty, Kiln reports nothing about it. */
const foreignFinalizer: Scene = (random) => [
  ...[operation({ do: 'remove-finalizers', path: SUBNETS, namespace: '', name: 't2' }), ...namespace(FIELDS)],
  create(SUBNETS, 't2', { cidrBlock: '10.82.0.0/24' }, { finalizers: ['example.com/keep'] }),
  ...[...pod(FIELDS, 'held', inSubnet('t2')), wait(1_000), remove(SUBNETS, 't2'), random.chance(0.5) ? CONVERGE : wait(2_000)],
  ...[remove(PODS, 'held', FIELDS), wait(2_000)],
];

/** A Namespace of two Subnets: the first has room for one pod, or is deleted. */
const severalSubnets: Scene = (random) => {
  const within = random.pick(['several-a', 'several-b']);
  const net = within === 'several-a' ? '10.72' : '10.73';
  const [first, second] = [`${within}1`, `${within}2`];
  return [
    ...[...namespace(within), create(SUBNETS, first, { cidrBlock: `${net}.0.0/30`, namespaces: [within] })],
    ...[create(SUBNETS, second, { cidrBlock: `${net}.1.0/24`, namespaces: [within] }), wait(1_500), ...pod(within, 's0')],
    ...(random.chance(0.4) ? [remove(SUBNETS, first), wait(500)] : []),
    ...[CONVERGE, ...pod(within, 's1'), CONVERGE, ...(random.chance(0.5) ? [remove(PODS, 's0', within), wait(500)] : [])],
  ];
};

export const SUBNET_SCENES = {
  subnetFields,
  smallerNetwork,
  overlappingNetworks,
  podOfTerminatingSubnet,
  orphanedNetwork,
  blockersRemovedByForce,
  foreignFinalizer,
  severalSubnets,
};
