/**
 * Draws what hardly any cluster has, and each of which a rule of its own serves: annotations about one port, route tables and routes by
 * source, ACLs of both directions, networks that a pod is attached to twice, StatefulSets that do not count from zero, Namespaces that wait
 * for their Subnet, Vips of a type, what was asked for in vain and is not any more, a machine that has moved, nodes of both families.
 *
 * From a generator of its own, as `draw-broad.ts`.
 */
import { annotationKey, JOIN_SUBNET, kilnAnnotation, MIGRATION_JOB_LABEL } from '../../src/api/well-known.ts';
import type { JsonObject } from '../../src/lab/apiserver/json.ts';
import {
  INSTANCES,
  IPS,
  MACHINES,
  NAMESPACES,
  NETWORKS,
  NODES,
  OVN_EIPS,
  PODS,
  podSpec,
  STATEFUL_SETS,
  SUBNETS,
  VIPS,
  VPCS,
} from './draw.ts';
import { doing } from './draw-scene.ts';
import type { Random } from './random.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';
import type { ApiPath, Step } from './step.ts';

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

/** Names like those of no other draw. */
const SUBNET = 'r0';
const NAMESPACE = 'seldom';
const POD_NAMES = ['r0', 'r1', 'r2'];

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

function wait(ms: number): Step {
  return { kind: 'wait', ms };
}

function create(path: ApiPath, name: string, spec: JsonObject, metadata: JsonObject = {}): Step {
  return doing({ do: 'create', path, namespace: '', object: { metadata: { name, ...metadata }, spec } });
}

function edit(path: ApiPath, name: string, spec: JsonObject): Step {
  return doing({ do: 'edit', path, namespace: '', name, patch: { spec } });
}

function vanish(path: ApiPath, name: string): Step {
  return doing({ do: 'vanish', path, namespace: '', name });
}

function within(path: ApiPath, name: string, object: JsonObject, metadata: JsonObject = {}): Step {
  return doing({ do: 'create', path, namespace: NAMESPACE, object: { metadata: { name, namespace: NAMESPACE, ...metadata }, ...object } });
}

function place(): readonly Step[] {
  return [
    create(SUBNETS, SUBNET, { cidrBlock: '10.95.0.0/24,fd00:95::/120', namespaces: [NAMESPACE], enableDHCP: true }),
    doing({ do: 'create', path: NAMESPACES, namespace: '', object: { metadata: { name: NAMESPACE } } }),
  ];
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

/** A pod that is made again with what it asks for. */
function pod(random: Random, annotations: JsonObject, name = random.pick(POD_NAMES), more: JsonObject = {}): readonly Step[] {
  return [
    doing({ do: 'delete', path: PODS, namespace: NAMESPACE, name, grace: 0 }),
    wait(300),
    within(PODS, name, { spec: { ...podSpec(), nodeName: random.pick(['n0', 'n1']), ...more } }, { annotations, labels: { app: name } }),
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

/** A StatefulSet whose first pod is not number 0, and that is made smaller or shifted. */
function counted(random: Random): readonly Step[] {
  const [name, labels] = ['rs', { app: 'rs' }];
  const spec = { replicas: 2, serviceName: name, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec() } };
  const ordinals = { start: random.pick([2, 3]) };
  const change = (patch: JsonObject): Step =>
    doing({ do: 'edit', path: STATEFUL_SETS, namespace: NAMESPACE, name, patch: { spec: patch } });
  return [
    ...place(),
    within(STATEFUL_SETS, name, { spec: { ...spec, ordinals } }),
    change({ ordinals, replicas: 2 }),
    wait(3_000),
    { kind: 'rest' },
    random.chance(0.4)
      ? doing({ do: 'delete', path: PODS, namespace: NAMESPACE, name: `rs-${ordinals.start + random.below(2)}` })
      : change({ replicas: 1 }),
    wait(3_000),
  ];
}

/** A Namespace says that its pods wait for a Subnet, which comes when they are there, or not. */
function awaited(random: Random): readonly Step[] {
  const name = 'awaits';
  const annotations = { [kilnAnnotation.awaitSubnet]: random.pick(['r5', 'true']) };
  const metadata = { name: 'r5', namespace: name };
  return [
    ...[
      vanish(SUBNETS, 'r5'),
      doing({ do: 'delete', path: PODS, namespace: name, name: 'r5', grace: 0 }),
      doing({ do: 'create', path: NAMESPACES, namespace: '', object: { metadata: { name } } }),
      doing({ do: 'edit', path: NAMESPACES, namespace: '', name, patch: { metadata: { annotations } } }),
    ],
    wait(1_000),
    { kind: 'rest' },
    doing({ do: 'create', path: PODS, namespace: name, object: { metadata, spec: { ...podSpec(), nodeName: 'n0' } } }),
    wait(1_000),
    ...(random.chance(0.6) ? [create(SUBNETS, 'r5', { cidrBlock: '10.98.0.0/24', namespaces: [name] }), wait(2_000)] : []),
  ];
}

/** A Vip that a load balancer answers for, and one that asks for something else for a while. */
function typed(random: Random): readonly Step[] {
  return [
    ...place(),
    create(VIPS, 'rvip', { subnet: SUBNET, namespace: NAMESPACE, type: random.pick(['switch_lb_vip', '']), v4ip: '10.95.0.50' }),
    create(OVN_EIPS, 'reip', { externalSubnet: SUBNET, type: 'lsp' }),
    wait(1_000),
    edit(VIPS, 'rvip', { v4ip: '10.95.0.51' }),
    wait(1_000),
    ...(random.chance(0.7) ? [edit(VIPS, 'rvip', { v4ip: '10.95.0.50' }), wait(500)] : []),
    ...(random.chance(0.3) ? [doing({ do: 'delete', path: VIPS, namespace: '', name: 'rvip' })] : []),
    wait(300),
  ];
}

/** Somebody else says that it has an address, and leaves it again. */
function rival(random: Random): readonly Step[] {
  const spec = { podName: 'r8', namespace: NAMESPACE, subnet: SUBNET, podType: '', ipAddress: '10.95.0.60', v4IpAddress: '10.95.0.60' };
  const reserved = { labels: { 'ovn.kubernetes.io/ip_reserved': 'true' } };
  const holder = random.pick([
    create(VIPS, 'rvip2', { subnet: SUBNET, v4ip: '10.95.0.60' }),
    create(OVN_EIPS, 'reip2', { externalSubnet: SUBNET, v4Ip: '10.95.0.60' }),
    create(IPS, `r7.${NAMESPACE}`, { ...spec, podName: 'r7' }, reserved),
  ]);
  return [
    ...place(),
    ...[vanish(IPS, `r8.${NAMESPACE}`), vanish(IPS, `r7.${NAMESPACE}`), vanish(VIPS, 'rvip2'), vanish(OVN_EIPS, 'reip2')],
    wait(300),
    holder,
    wait(1_000),
    create(IPS, `r8.${NAMESPACE}`, spec, reserved),
    wait(2_000),
    ...(random.chance(0.7) ? [vanish(IPS, `r8.${NAMESPACE}`), wait(1_000)] : []),
  ];
}

/** An address that is asked to be kept and cannot be, until another one is asked for. */
function taken(random: Random): readonly Step[] {
  const name = `r6.${NAMESPACE}`;
  const spec = { podName: 'r6', namespace: NAMESPACE, subnet: SUBNET, podType: '' };
  return [
    ...place(),
    vanish(IPS, name),
    wait(300),
    create(IPS, name, { ...spec, ipAddress: '10.95.0.1' }),
    wait(1_000),
    ...(random.chance(0.8) ? [edit(IPS, name, { ipAddress: '10.95.0.61' }), wait(1_000)] : []),
  ];
}

/** A machine that two pods run, one of which it moves to: it has moved, or stays after all. */
function moved(random: Random, cluster: SimulatedCluster): readonly Step[] {
  const name = 'rm';
  const instance = cluster.lab.store.get('virtualmachineinstances.kubevirt.io', `${NAMESPACE}/${name}`);
  if (instance === undefined) return [...place(), ...[MACHINES, INSTANCES].map((path) => within(path, name, { spec: {} })), wait(300)];
  const migrationUid = `0000-${random.below(1_000)}`;
  const ownerReferences = [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name, uid: instance.metadata.uid }];
  const launcher = (pod: string, nodeName: string, metadata: JsonObject): Step =>
    within(PODS, pod, { spec: { ...podSpec(), nodeName, restartPolicy: 'Never' } }, { ownerReferences, ...metadata });
  const target = { annotations: { [annotationKey.migrationJob]: 'job' }, labels: { [MIGRATION_JOB_LABEL]: migrationUid } };
  const state = random.pick<JsonObject>([
    { migrationUid, completed: true, failed: null },
    { migrationUid, completed: true, failed: true },
    { migrationUid: 'other', completed: true, failed: null },
  ]);
  return [
    ...['rm-0', 'rm-1'].map((pod) => doing({ do: 'delete', path: PODS, namespace: NAMESPACE, name: pod, grace: 0 })),
    wait(500),
    launcher('rm-0', 'n0', {}),
    wait(1_500),
    launcher('rm-1', 'n1', target),
    wait(1_000),
    doing({ do: 'edit', path: INSTANCES, namespace: NAMESPACE, name, patch: { status: { migrationState: state } } }),
    wait(500),
  ];
}

/** Nodes join by both families, and have addresses of both of their own. */
function families(): readonly Step[] {
  const internal = (address: string): JsonObject => ({ type: 'InternalIP', address });
  return [
    edit(SUBNETS, JOIN_SUBNET, { cidrBlock: '100.64.0.0/16,fd00:100:64::/112', gateway: '100.64.0.1,fd00:100:64::1' }),
    ...['n0', 'n1'].map((name) => {
      const addresses = [internal(`172.18.0.${2 + Number(name.slice(1))}`), internal(`fd00:18::${2 + Number(name.slice(1))}`)];
      return doing({ do: 'edit', path: NODES, namespace: '', name, patch: { status: { addresses } }, status: true });
    }),
    ...place(),
    edit(SUBNETS, SUBNET, { private: true }),
    wait(2_000),
  ];
}

/** Containers that have ended and are started again, or not: who is not over keeps its address. */
function ended(random: Random): readonly Step[] {
  const name = random.pick(['r5', 'r6']);
  const status = random.pick<JsonObject>([{ phase: 'Succeeded' }, { phase: 'Failed' }, { phase: 'Failed', reason: 'Evicted' }]);
  return [
    ...place(),
    ...pod(random, {}, name, { restartPolicy: random.pick(['Always', 'OnFailure', 'Never']) }),
    wait(1_500),
    doing({ do: 'edit', path: PODS, namespace: NAMESPACE, name, patch: { status }, status: true }),
    wait(1_000),
  ];
}

/** A pod that has half a minute to end, on a node that is lost meanwhile: until its time is over nobody else has its address. */
function patient(random: Random): readonly Step[] {
  const name = random.pick(['r5', 'r6']);
  const up = (is: boolean): Step => doing({ do: 'node', name: 'n1', up: is });
  return [
    ...place(),
    doing({ do: 'delete', path: PODS, namespace: NAMESPACE, name, grace: 0 }),
    wait(300),
    within(PODS, name, { spec: { ...podSpec(), nodeName: 'n1', terminationGracePeriodSeconds: 30 } }),
    wait(1_500),
    up(false),
    doing({ do: 'delete', path: PODS, namespace: NAMESPACE, name }),
    wait(random.pick([33_000, 40_000])),
    { kind: 'rest', lost: true },
    up(true),
    wait(300),
  ];
}

/** A Subnet that is to go, while a StatefulSet has pods in it that are made again. */
function leaving(random: Random): readonly Step[] {
  const [name, labels] = ['rl', { app: 'rl' }];
  const template = { metadata: { labels, annotations: { 'ovn.kubernetes.io/logical_switch': 'r6' } }, spec: podSpec() };
  const named = random.chance(0.5) ? template : { metadata: { labels }, spec: podSpec() };
  const spec = { replicas: 2, serviceName: name, selector: { matchLabels: labels }, template: named };
  return [
    ...place(),
    doing({ do: 'delete', path: STATEFUL_SETS, namespace: NAMESPACE, name }),
    wait(500),
    create(SUBNETS, 'r6', { cidrBlock: '10.94.0.0/24' }),
    edit(SUBNETS, 'r6', { namespaces: random.chance(0.5) ? [NAMESPACE] : null }),
    within(STATEFUL_SETS, name, { spec }),
    wait(3_000),
    doing({ do: 'delete', path: SUBNETS, namespace: '', name: 'r6' }),
    wait(8_000),
    ...['rl-0', 'rl-1'].map((pod) => doing({ do: 'delete', path: PODS, namespace: NAMESPACE, name: pod })),
    wait(3_000),
  ];
}
