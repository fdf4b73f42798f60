/** Scenes of IPPools, Vips, EIPs and NAT rules. */
import { annotationKey, kilnAnnotation, podAnnotation } from '../../../../src/api/well-known.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import type { ApiPath } from '../../steps/step.ts';
import { IPTABLES_EIPS } from '../addresses.ts';
import { IP_POOLS, IPS, OVN_EIPS, SUBNETS, VIPS } from '../objects.ts';
import { create, operation, edit, namespace, pod, remove, CONVERGE, removeByForce, wait } from './steps.ts';
import type { Scene } from './scene.ts';

/** A pool with an address set, which is edited; another pool that overlaps it. */
const overlappingPools: Scene = (random) => [
  ...[
    removeByForce(IP_POOLS, 'xb'),
    ...namespace('pools'),
    create(SUBNETS, 'x0', { cidrBlock: '10.30.0.0/24,fd00:30::/120' }),
    wait(1_500),
  ],
  ...[create(IP_POOLS, 'xa', { subnet: 'x0', ips: ['10.30.0.64/28'], enableAddressSet: true }), wait(1_200)],
  create(IP_POOLS, 'xb', { subnet: 'x0', ips: random.pick([['10.30.0.70..10.30.0.90'], ['10.30.0.128/29']]) }),
  edit(IP_POOLS, 'xa', {
    ips: random.pick([['10.30.0.100..10.30.0.120'], ['10.30.0.64/28'], ['10.30.0.64/28', 'fd00:30::40..fd00:30::4f']]),
  }),
  ...[...pod('pools', 'x1', { [podAnnotation('ovn', 'ip_pool')]: random.pick(['xa', 'xb']) }), wait(random.pick([20, 1_000]))],
  ...(random.chance(0.3) ? [remove(IP_POOLS, 'xa'), wait(500)] : []),
];

/**
 * A rule of each kind is the only blocker of its EIP, and the EIP that of its Subnet; or the EIP has a lease, which does not run while a
 * rule uses it.
 */
const natRules: Scene = (random) => {
  const isOvn = random.chance(0.5);
  const kind = random.pick(
    isOvn ? ['ovn-fips', 'ovn-snat-rules', 'ovn-dnat-rules'] : ['iptables-fip-rules', 'iptables-snat-rules', 'iptables-dnat-rules'],
  );
  const [rules, eips]: readonly ApiPath[] = [`kubeovn.io/v1/${kind}`, isOvn ? OVN_EIPS : IPTABLES_EIPS];
  const inside: JsonObject = isOvn
    ? { ovnEip: 'xeip', v4Ip: '10.40.0.9' }
    : { eip: 'xeip', ...(kind.includes('snat') ? { internalCIDR: '10.40.1.0/24' } : { internalIp: '10.40.1.9' }) };
  const spec = { ...inside, ...(kind.includes('dnat') && { externalPort: '80', internalPort: '8080', protocol: 'tcp' }) };
  const annotations = random.chance(0.3) ? { [kilnAnnotation.lease]: '90s' } : {};
  return [
    ...[
      removeByForce(rules ?? '', 'xrule'),
      removeByForce(eips ?? '', 'xeip'),
      wait(300),
      create(SUBNETS, 'x1', { cidrBlock: '10.40.0.0/24' }),
      wait(1_500),
    ],
    create(
      eips ?? '',
      'xeip',
      { externalSubnet: 'x1', ...(isOvn ? { type: random.pick(['nat', 'lsp']) } : { natGwDp: 'gw0' }) },
      { annotations },
    ),
    ...[wait(1_000), create(rules ?? '', 'xrule', spec), wait(2_500), random.chance(0.3) ? wait(120_000) : remove(eips ?? '', 'xeip')],
    ...[...(random.chance(0.5) ? [remove(SUBNETS, 'x1')] : []), wait(1_500), ...(random.chance(0.5) ? [CONVERGE] : [])],
    ...[remove(rules ?? '', 'xrule'), wait(1_000)],
  ];
};

/** An address with a lease of some seconds that nothing uses. */
const addressLeases: Scene = (random) => {
  const annotations = { [kilnAnnotation.lease]: random.pick(['2s', '3s']) };
  const [path, name, spec] = random.pick<readonly [ApiPath, string, JsonObject]>([
    [IPS, 'g3.leased', { subnet: 'x2', podName: 'g3', namespace: 'leased', podType: '' }],
    [VIPS, 'xleased', { subnet: 'x2' }],
    [OVN_EIPS, 'xleased', { externalSubnet: 'x2' }],
  ]);
  return [create(SUBNETS, 'x2', { cidrBlock: '10.92.0.0/24' }), wait(1_000), create(path, name, spec, { annotations }), wait(8_000)];
};

/** A Vip of some type that asks for another address for a while, and that a pod uses; it is made again. */
const recreatedVip: Scene = (random) => [
  ...[create(SUBNETS, 'x3', { cidrBlock: '10.46.0.0/24' }), ...namespace('vips'), wait(1_000)],
  create(VIPS, 'xvip', { subnet: 'x3', namespace: 'vips', type: random.pick(['switch_lb_vip', '']), v4ip: '10.46.0.50' }),
  ...[wait(1_000), ...pod('vips', 'xs', { [annotationKey.vip]: 'xvip' }), ...(random.chance(0.5) ? [CONVERGE] : [])],
  ...[edit(VIPS, 'xvip', { v4ip: '10.46.0.51' }), wait(1_000), edit(VIPS, 'xvip', { v4ip: '10.46.0.50' }), wait(500)],
  ...(random.chance(0.4) ? [operation({ do: 'recreate', path: VIPS, namespace: '', name: 'xvip' }), wait(1_000)] : []),
];

export const ADDRESS_SCENES = { overlappingPools, natRules, addressLeases, recreatedVip };
