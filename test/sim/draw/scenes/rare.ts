/**
 * Draws what hardly any cluster has, and each of which a rule of its own serves: annotations about one port, route tables and routes by
 * source, ACLs of both directions, networks that a pod is attached to twice, StatefulSets that do not count from zero, Namespaces that wait
 * for their Subnet, Vips of a type, what was asked for in vain and is not any more, a machine that has moved, nodes of both families.
 *
 * From a generator of its own, as `draw-broad.ts`.
 */
import { annotationKey } from '../../../../src/api/well-known.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import { NETWORKS, NODES, PODS, podSpec, SUBNETS, VPCS } from '../operations.ts';
import { doing } from './incidents.ts';
import type { Random } from '../random.ts';
import { awaited, counted, ended, families, leaving, moved, patient, rival, taken, typed } from './seldom-lives.ts';
import { create, edit, NAMESPACE, place, pod, SUBNET, wait, within } from './steps.ts';
import type { SimulatedCluster } from '../../cluster/simulated-cluster.ts';
import type { Step } from '../../steps/step.ts';

const SCENES = {
  ports: 5,
  router: 3,
  wall: 2,
  advertised: 1,
  attached: 3,
  counted: 2,
  awaited: 2,
  typed: 2,
  rival: 2,
  taken: 1,
  moved: 2,
  families: 1,
  ended: 2,
  patient: 1,
  leaving: 2,
} as const;

export function drawSeldom(random: Random, cluster: SimulatedCluster): readonly Step[] {
  switch (random.weighted(SCENES)) {
    case 'ports':
      return [...place(), ...exit(random), ...pod(random, asks(random)), ...pod(random, asks(random)), wait(1_000)];
    case 'router':
      return router(random);
    case 'wall':
      return [...place(), edit(SUBNETS, SUBNET, wall(random)), wait(300)];
    case 'advertised':
      return [
        ...place(),
        edit(
          SUBNETS,
          SUBNET,
          random.pick<JsonObject>([
            { enableIPv6RA: true, ipv6RAConfigs: null },
            { enableIPv6RA: true, ipv6RAConfigs: RA },
            { dhcpV6Options: 'dns_server=fd00:95::53' },
          ]),
        ),
        wait(300),
      ];
    case 'attached':
      return attached(random);
    case 'counted':
      return counted(random);
    case 'awaited':
      return awaited(random);
    case 'typed':
      return typed(random);
    case 'rival':
      return rival(random);
    case 'taken':
      return taken(random);
    case 'moved':
      return moved(random, cluster);
    case 'families':
      return families();
    case 'ended':
      return ended(random);
    case 'patient':
      return patient(random);
    case 'leaving':
      return leaving(random);
  }
}

/** By each pod's node, or by nodes that are ready for it. */
function exit(random: Random): readonly Step[] {
  const none: JsonObject = { gatewayNode: null, gatewayNodeSelectors: null };
  if (random.chance(0.6)) return [edit(SUBNETS, SUBNET, { ...none, gatewayType: 'distributed' })];
  const selectors = ['n0', 'n1'].map((zone) => ({ matchLabels: { zone } }));
  const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
  const by: JsonObject = random.chance(0.5) ? { gatewayNode: 'n0,n1' } : { gatewayNodeSelectors: selectors };
  return [
    ...['n0', 'n1'].map((name) => doing({ do: 'edit', path: NODES, namespace: '', name, patch: ready, status: true })),
    edit(SUBNETS, SUBNET, { ...none, gatewayType: 'centralized', ...by }),
  ];
}

/** Of one port alone. */
function asks(random: Random): JsonObject {
  const one = (): JsonObject =>
    random.pick<JsonObject>([
      { [annotationKey.northGateway]: '10.95.0.77' },
      { 'ovn.kubernetes.io/layer2_forward': 'true' },
      { 'ovn.kubernetes.io/security_groups': 'web,db' },
      { 'ovn.kubernetes.io/activation_strategy': 'rarp' },
      { 'ovn.kubernetes.io/dhcp-v4-options': 'lease_time=77' },
      { 'ovn.kubernetes.io/ip_family': random.pick(['ipv4', 'ipv6']) },
      { 'ovn.kubernetes.io/mac_address': `0a:00:00:00:0c:0${random.below(9)}` },
      { 'ovn.kubernetes.io/port_security': 'true' },
    ]);
  return { ...one(), ...one() };
}

function route(cidr: string, nextHopIP: string, policy: string): JsonObject {
  return { cidr, nextHopIP, policy };
}

/** Routes by source and by destination, a table of its own, policies of every action; a Vpc of one Subnet has that one's way out as well. */
function router(random: Random): readonly Step[] {
  const staticRoutes = random.pick<JsonObject[]>([
    [route('10.96.0.128/25', '10.96.0.9', 'policySrc'), route('10.9.0.0/16', '10.96.0.9', 'policyDst')],
    [route('0.0.0.0/0', '10.96.0.9', 'policyDst'), route('fd00:9::/64', 'fd00:96::9', 'policySrc')],
    [],
  ]);
  const policyRoutes = random.pick<JsonObject[]>([
    [
      { priority: 40, match: 'ip4.src==10.96.0.0/25', action: 'allow' },
      { priority: 30, match: 'ip4.src==10.96.0.0/24', action: 'drop' },
    ],
    [{ priority: 41, match: 'ip4.src==10.96.0.0/25', action: 'reroute', nextHopIP: '10.96.0.9' }],
    [],
  ]);
  return [
    create(VPCS, 'rv', {}),
    create(SUBNETS, 'r1', { vpc: 'rv', cidrBlock: '10.96.0.0/24,fd00:96::/120' }),
    edit(VPCS, 'rv', { staticRoutes, policyRoutes }),
    edit(SUBNETS, 'r1', { routeTable: random.pick(['red', null]), enableLb: random.pick([true, false, null]) }),
    ...(random.chance(0.3)
      ? [within(PODS, 'r9', { spec: { ...podSpec(), nodeName: 'n0' } }, { annotations: { 'ovn.kubernetes.io/logical_switch': 'r1' } })]
      : []),
    wait(1_000),
  ];
}

const RA = 'address_mode=slaac,max_interval=60,min_interval=20,send_periodic=true';

function acl(direction: string, priority: number, action: string, match: string): JsonObject {
  return { direction, priority, action, match };
}

function wall(random: Random): JsonObject {
  const acls = [
    acl('to-lport', 1_100, 'drop', 'ip4.src==10.8.0.0/16'),
    acl('from-lport', 1_200, 'allow', 'ip6.dst==fd00:8::/64'),
    acl('from-lport', 1_300, 'drop', 'ip4.dst==10.7.0.0/16'),
  ];
  return random.pick<JsonObject>([
    { acls, allowEWTraffic: true, private: null, allowSubnets: null },
    { acls: acls.slice(1), allowEWTraffic: false, private: true, allowSubnets: ['fd00:9::/64', '10.9.0.0/16'] },
    { acls: null, allowEWTraffic: null, private: true, allowSubnets: ['10.9.0.0/16'] },
    { acls: null, allowEWTraffic: null, private: null, allowSubnets: null },
  ]);
}

/** Once, or twice under two names; the network may be taken away under a pod that runs. */
function attached(random: Random): readonly Step[] {
  const networks = random.pick([`${NAMESPACE}/rnet`, `${NAMESPACE}/rnet@a1,${NAMESPACE}/rnet@a2`]);
  const gone = random.chance(0.3) ? [doing({ do: 'delete', path: NETWORKS, namespace: NAMESPACE, name: 'rnet' }), wait(300)] : [];
  return [
    ...place(),
    create(SUBNETS, 'r2', { cidrBlock: '10.97.0.0/24', provider: `rnet.${NAMESPACE}.ovn` }),
    within(NETWORKS, 'rnet', { spec: { config: '{"cniVersion":"0.3.0","type":"kube-ovn"}' } }),
    wait(1_000),
    ...pod(random, { [annotationKey.networkAttachments]: networks }, random.pick(['r3', 'r4'])),
    wait(2_000),
    ...gone,
  ];
}
