/** Scenes of Vpcs: routes, policies and links; invalid items among valid ones; a single object that blocks a Subnet and its Vpc. */
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import type { Step } from '../../steps/step.ts';
import { IPTABLES_EIPS } from '../addresses.ts';
import { IPS, OVN_EIPS, PODS, SUBNETS, VIPS, VPCS } from '../objects.ts';
import { create, edit, namespace, inSubnet, pod, remove, CONVERGE, wait } from './steps.ts';
import type { Scene } from './scene.ts';

function route(cidr: string, nextHopIP: string, policy = 'policyDst', routeTable = ''): JsonObject {
  return { cidr, nextHopIP, policy, ...(routeTable !== '' && { routeTable }) };
}

function policy(priority: number, match: string, action: string, nextHopIP = ''): JsonObject {
  return { priority, match, action, ...(nextHopIP !== '' && { nextHopIP }) };
}

const ROUTES: readonly JsonObject[][] = [
  [route('10.9.0.0/16', '10.81.1.5'), route('10.9.0.0/16', '10.81.1.6')],
  [route('10.9.0.0/16', '10.81.1.6'), route('fd00:9::/64', 'fd00:81::6', 'policyDst', 'green')],
  [route('10.81.1.128/25', '10.81.1.9', 'policySrc'), route('0.0.0.0/0', '10.81.1.9')],
  // One of the four is invalid: a next hop that is no address. A host instead of a network, as in `ip route`, is valid.
  [route('10.9.0.0/16', '10.81.1.9'), route('10.8.0.0/16', 'nowhere'), route('10.7.0.0/16', '10.81.1.8'), route('10.5.0.9', '10.81.1.9')],
  [],
];
const POLICIES: readonly JsonObject[][] = [
  [policy(20, 'ip4.src==10.81.1.0/24', 'reroute', '10.81.1.5,10.81.1.6')],
  [policy(20, 'ip4.src==10.81.1.0/24', 'reroute', '10.81.1.6')],
  [policy(20, 'ip4.src==10.81.1.0/24', 'reroute', '10.81.1.5,10.81.1.6'), policy(40, 'ip4.src==10.81.1.0/25', 'allow')],
  [policy(40, 'ip4.src==10.81.1.0/25', 'allow'), policy(30, 'ip4.src==10.81.1.0/24', 'drop')],
  [policy(50, 'ip4.src==10.81.1.0/25', 'allow'), policy(99_999, 'ip4.src==10.81.1.0/26', 'allow')],
  [],
];

/**
 * Several next hops, a route table, both families of a link that both Vpcs name or only one; one invalid item is left out, and all else is
 * in effect.
 */
const vpcRoutes: Scene = (random) => {
  const link = (remoteVpc: string, side: number): JsonObject => ({
    remoteVpc,
    localConnectIP: `169.254.8.${side}/30,fd00:169::${side}/126`,
  });
  const peeringChange = (): Step =>
    edit(VPCS, 'rv', {
      staticRoutes: random.pick(ROUTES),
      policyRoutes: random.pick(POLICIES),
      vpcPeerings: random.pick([[link('rw', 1)], []]),
    });
  return [
    ...[create(VPCS, 'rv', {}), create(VPCS, 'rw', { vpcPeerings: [link('rv', 2)] })],
    create(SUBNETS, 'r1', { vpc: 'rv', cidrBlock: '10.81.1.0/24,fd00:81::/120' }),
    ...[peeringChange(), wait(500), CONVERGE, peeringChange()],
    edit(VPCS, 'rw', { vpcPeerings: [link(random.pick(['rv', 'rv', 'nobody']), 2)] }),
    edit(VPCS, 'ovn-cluster', { staticRoutes: random.pick([null, [route('10.9.0.0/16', '100.64.0.9', 'policyDst', 'blue')]]) }),
    ...(random.chance(0.3) ? [...namespace('routed'), ...pod('routed', 'r9', inSubnet('r1'))] : []),
    wait(random.pick([300, 3_000])),
  ];
};

/** A single object is the only blocker of a Subnet being deleted, with its Vpc. */
const onlyBlocker: Scene = (random) => {
  const kept = { subnet: 'a1', podName: 'ak', namespace: 'alone', podType: '', v4IpAddress: '10.41.0.9' };
  const [come, go] = random.pick<readonly [readonly Step[], Step]>([
    [pod('alone', 'ap', inSubnet('a1')), remove(PODS, 'ap', 'alone')],
    [[create(VIPS, 'avip', { subnet: 'a1' })], remove(VIPS, 'avip')],
    [[create(OVN_EIPS, 'ae', { externalSubnet: 'a1' })], remove(OVN_EIPS, 'ae')],
    [[create(IPTABLES_EIPS, 'ai', { externalSubnet: 'a1', natGwDp: 'gw0' })], remove(IPTABLES_EIPS, 'ai')],
    [[create(IPS, 'ak.alone', kept)], remove(IPS, 'ak.alone')],
  ]);
  return [
    ...[...namespace('alone'), create(VPCS, 'av', {}), wait(300), create(SUBNETS, 'a1', { cidrBlock: '10.41.0.0/24', vpc: 'av' })],
    ...[wait(1_500), ...come, wait(2_500), remove(SUBNETS, 'a1'), remove(VPCS, 'av'), wait(1_500)],
    ...[...(random.chance(0.5) ? [CONVERGE] : []), go, wait(1_500)],
  ];
};

/** A Vpc lists a Namespace and names its default Subnet; another Namespace is selected by label. */
const vpcNamespaces: Scene = (random) => [
  ...[create(VPCS, 'cv', {}), ...['c4', 'c5'].map((name, at) => create(SUBNETS, name, { vpc: 'cv', cidrBlock: `10.9${4 + at}.0.0/24` }))],
  create(SUBNETS, 'c3', {
    cidrBlock: '10.63.0.0/24',
    namespaceSelectors: [{ matchLabels: { tier: 'other' } }, { matchLabels: { tier: 'picked' } }],
  }),
  edit(VPCS, 'cv', { namespaces: ['claimed', 'kube-system'], defaultSubnet: random.pick(['c4', 'c5', null]) }),
  ...[...namespace('claimed'), ...namespace('picked', {}, { tier: 'picked' }), wait(2_000), CONVERGE],
  ...['claimed', 'picked', 'kube-system'].flatMap((within) => pod(within, random.pick(['g0', 'g1']))),
  CONVERGE,
];

export const VPC_SCENES = { vpcRoutes, onlyBlocker, vpcNamespaces };
