/**
 * Scenes of `draw-settled.ts` about who takes what was kept for it, and what stays when something else is wrong: addresses by list, Namespaces
 * of several Subnets, pools that bind and are edited, one wrong item among others, EIPs that rules use.
 */
import { annotationKey, kilnAnnotation } from '../../../../src/api/well-known.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import { IP_POOLS, NAMESPACES, OVN_EIPS, PODS, podSpec, STATEFUL_SETS, SUBNETS, VIPS, VPCS } from '../operations.ts';
import { doing } from './incidents.ts';
import type { Random } from '../random.ts';
import { create, edit, vanish, wait } from './steps.ts';
import type { Step } from '../../steps/step.ts';

const REST: Step = { kind: 'rest' };
const FIPS = 'kubeovn.io/v1/ovn-fips';
const LIST = 'ovn.kubernetes.io/ip_pool';

export function inNamespace(name: string, annotations: JsonObject = {}): Step {
  return doing({ do: 'create', path: NAMESPACES, namespace: '', object: { metadata: { name, annotations } } });
}

export function pod(namespace: string, name: string, annotations: JsonObject = {}): readonly Step[] {
  const metadata = { name, namespace, annotations };
  return [
    doing({ do: 'delete', path: PODS, namespace, name, grace: 0 }),
    wait(300),
    doing({ do: 'create', path: PODS, namespace, object: { metadata, spec: { ...podSpec(), nodeName: 'n0' } } }),
    wait(1_000),
  ];
}

/** Pods of a StatefulSet have the address of their place in a list, also when they are made again; others have any that is free. */
export function listed(random: Random): readonly Step[] {
  const [namespace, name, labels] = ['listed', 'ls', { app: 'ls' }];
  const list = random.pick(['10.71.0.20;10.71.0.21;10.71.0.22', '10.71.0.22;10.71.0.20;10.71.0.21']);
  const template = { metadata: { labels, annotations: { [LIST]: list } }, spec: podSpec() };
  const spec = { replicas: 2, serviceName: name, selector: { matchLabels: labels }, template };
  const set = { do: 'create', path: STATEFUL_SETS, namespace, object: { metadata: { name, namespace }, spec } } as const;
  return [
    create(SUBNETS, 'm0', { cidrBlock: '10.71.0.0/24', gateway: '10.71.0.1', namespaces: [namespace] }),
    inNamespace(namespace),
    doing(set),
    ...pod(namespace, 'lp', { [LIST]: '10.71.0.40;10.71.0.41' }),
    ...pod(namespace, 'lq', { [LIST]: '10.71.0.40;10.71.0.41' }),
    ...(random.chance(0.5) ? [doing({ do: 'delete', path: PODS, namespace, name: 'ls-1' }), wait(2_000)] : []),
  ];
}

/** A Namespace of two Subnets, the first of which has room for one, or goes, or is all that is there of those that it waits for. */
export function several(random: Random): readonly Step[] {
  const namespace = random.pick(['several-a', 'several-b']);
  const [first, second, net] = namespace === 'several-a' ? ['m1', 'm2', '10.72'] : ['m3', 'm4', '10.73'];
  const [small, large] = [`${net}.0.0/30`, `${net}.1.0/24`];
  const one = (name: string, cidrBlock: string): Step => create(SUBNETS, name, { cidrBlock, namespaces: [namespace] });
  const say = (awaits: string | null): Step =>
    doing({
      do: 'edit',
      path: NAMESPACES,
      namespace: '',
      name: namespace,
      patch: { metadata: { annotations: { [kilnAnnotation.awaitSubnet]: awaits } } },
    });
  if (random.chance(0.35))
    return [
      ...[vanish(SUBNETS, second), doing({ do: 'delete', path: PODS, namespace, name: 's2', grace: 0 })],
      ...[one(first, small), inNamespace(namespace), say(`${first},${second}`), wait(1_000), REST],
      ...pod(namespace, 's2'),
      ...(random.chance(0.5) ? [one(second, large), wait(2_000)] : []),
      REST,
      say(null),
    ];
  return [
    ...[one(first, small), one(second, large), inNamespace(namespace), say(null), wait(1_500)],
    ...pod(namespace, 's0'),
    ...(random.chance(0.4) ? [doing({ do: 'delete', path: SUBNETS, namespace: '', name: first }), wait(500)] : []),
    REST,
    ...pod(namespace, 's1'),
    // Before anything else decides.
    REST,
    ...(random.chance(0.5) ? [doing({ do: 'delete', path: PODS, namespace, name: 's0', grace: 0 }), wait(500)] : []),
  ];
}

/** A pool of a Namespace: its pods have its addresses where they name its Subnet too, and a wrong edit takes nothing away. */
export function pooled(random: Random): readonly Step[] {
  const namespace = 'pooled';
  const ips = ['10.74.0.64/28'];
  return [
    create(SUBNETS, 'm5', { cidrBlock: '10.74.0.0/24', namespaces: [namespace] }),
    inNamespace(namespace),
    create(IP_POOLS, 'mp', { subnet: 'm5', ips, namespaces: [namespace], enableAddressSet: true }),
    edit(IP_POOLS, 'mp', { ips }),
    wait(1_500),
    REST,
    ...pod(namespace, 'mq', random.chance(0.6) ? { 'ovn.kubernetes.io/logical_switch': 'm5' } : {}),
    edit(IP_POOLS, 'mp', { ips: random.pick([['10.75.9.0/28'], ['10.74.0.64/28', 'nonsense']]) }),
    wait(1_000),
  ];
}

/** One item of several is wrong: it is left out, and all else is in effect. */
export function faulty(random: Random): readonly Step[] {
  const route = (cidr: string, nextHopIP: string): JsonObject => ({ cidr, nextHopIP, policy: 'policyDst' });
  const policy = (priority: number, match: string): JsonObject => ({ priority, match, action: 'allow' });
  const wall = (direction: string, match: string): JsonObject => ({ direction, priority: 1_100, match, action: 'drop' });
  const staticRoutes = [
    ...[route('10.9.0.0/16', '10.76.0.9'), route('10.8.0.0/16', 'nowhere'), route('10.7.0.0/16', '10.76.0.8')],
    // A host, as `ip route` has it.
    route('10.5.0.9', '10.76.0.9'),
  ];
  const policyRoutes = [policy(50, 'ip4.src==10.76.0.0/25'), policy(99_999, 'ip4.src==10.76.0.0/26')];
  const acls = [
    wall('to-lport', 'ip4.src==10.8.0.0/16'),
    wall('sideways', 'ip4.src==10.7.0.0/16'),
    wall('from-lport', 'ip4.dst==10.6.0.0/16'),
  ];
  return [
    create(VPCS, 'mv', {}),
    create(SUBNETS, 'm6', { vpc: 'mv', cidrBlock: '10.76.0.0/24' }),
    edit(
      VPCS,
      'mv',
      random.pick<JsonObject>([
        { staticRoutes, policyRoutes },
        { staticRoutes, policyRoutes: null },
        { staticRoutes: null, policyRoutes },
      ]),
    ),
    edit(SUBNETS, 'm6', { acls: random.pick([acls, acls.slice(1), null]) }),
    wait(1_000),
  ];
}

/** An EIP that a rule uses: one is deleted, and its port stays, another has a lease, which does not run; and a pod that has the address of a Vip. */
export function used(random: Random): readonly Step[] {
  const [eip, rule, address] = random.pick([
    ['meip', 'mfip', '10.70.0.50'],
    ['neip', 'nfip', '10.70.0.51'],
  ] as const);
  const isLeased = eip === 'neip';
  const annotations = isLeased ? { [kilnAnnotation.lease]: '90s' } : {};
  return [
    create(SUBNETS, 'm7', { cidrBlock: '10.70.0.0/24' }),
    wait(1_000),
    create(OVN_EIPS, eip, { externalSubnet: 'm7', type: isLeased ? 'nat' : 'lsp', v4Ip: address }, { annotations }),
    create(FIPS, rule, { ovnEip: eip }),
    create(VIPS, 'mvip', { subnet: 'm7', namespace: 'default' }),
    ...pod('default', 'mu', { [annotationKey.vip]: 'mvip' }),
    wait(1_000),
    REST,
    isLeased ? wait(120_000) : doing({ do: 'delete', path: OVN_EIPS, namespace: '', name: eip }),
    wait(1_000),
    ...(random.chance(0.3) ? [REST, doing({ do: 'delete', path: FIPS, namespace: '', name: rule }), wait(500)] : []),
  ];
}
