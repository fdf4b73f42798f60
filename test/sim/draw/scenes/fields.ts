/**
 * Draws fields: what of a spec hardly anybody sets, in a Vpc, Subnets and a Namespace of their own, so that what must follow is plain and can
 * be read in the database. Each scene makes what is missing and then edits it; what was set once is unset another time.
 *
 * From a generator of its own, as `draw-broad.ts`.
 */
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import {
  INSTANCES,
  IP_POOLS,
  IPS,
  MACHINES,
  NAMESPACES,
  node,
  NODES,
  PODS,
  podSpec,
  STATEFUL_SETS,
  SUBNETS,
  VIPS,
  VPCS,
} from '../operations.ts';
import { doing } from './incidents.ts';
import type { Random } from '../random.ts';
import type { SimulatedCluster } from '../../cluster/simulated-cluster.ts';
import type { ApiPath, Step } from '../../steps/step.ts';

const SCENES = {
  subnet: 6,
  vpc: 3,
  router: 1,
  pool: 3,
  pods: 3,
  held: 2,
  moving: 1,
  addresses: 1,
  scaled: 2,
  claimed: 2,
  bare: 1,
} as const;

const SUBNET = 't0';
const NAMESPACE = 'tuned';
const VIP = 'tvip';
/** Names like those of no other draw. */
const POD_NAMES = ['q0', 'q1', 'q2'];
/** A finalizer that is not Kiln's: who is let go by Kiln stays for its owner. */
const OTHERS = 'example.com/keep';

export function drawFields(random: Random, cluster: SimulatedCluster): readonly Step[] {
  switch (random.weighted(SCENES)) {
    case 'subnet':
      return [
        ...place(),
        ...pods(random, 2),
        edit(SUBNETS, SUBNET, { ...field(random), ...field(random), ...field(random), ...field(random) }),
        wait(random),
      ];
    case 'vpc':
      return vpc(random);
    case 'router':
      return [edit(VPCS, 'ovn-cluster', { staticRoutes: random.chance(0.5) ? null : [route('10.9.0.0/16', '100.64.0.9', 'blue')] })];
    case 'pool':
      return pool(random);
    case 'pods':
      return [...place(), vip(), ...pods(random, 3), wait(random)];
    case 'held':
      return held(random);
    case 'moving':
      return moving(random, cluster);
    case 'addresses':
      return addresses(random);
    case 'scaled':
      return scaled(random);
    case 'claimed':
      return claimed(random);
    case 'bare':
      return bare();
  }
}

function wait(random: Random): Step {
  return { kind: 'wait', ms: random.pick([20, 300, 3_000]) };
}

function create(path: ApiPath, name: string, spec: JsonObject, metadata: JsonObject = {}): Step {
  return doing({ do: 'create', path, namespace: '', object: { metadata: { name, ...metadata }, spec } });
}

function edit(path: ApiPath, name: string, spec: JsonObject): Step {
  return doing({ do: 'edit', path, namespace: '', name, patch: { spec } });
}

function namespace(name: string, labels: JsonObject = {}): Step {
  return doing({ do: 'create', path: NAMESPACES, namespace: '', object: { metadata: { name, labels } } });
}

function place(): readonly Step[] {
  return [
    create(SUBNETS, SUBNET, { cidrBlock: '10.80.0.0/24,fd00:80::/120', gateway: '10.80.0.9,fd00:80::9', namespaces: [NAMESPACE] }),
    namespace(NAMESPACE),
  ];
}

function plainPod(name: string, within: string): Step {
  const metadata = { name, namespace: within };
  return doing({ do: 'create', path: PODS, namespace: within, object: { metadata, spec: { ...podSpec(), nodeName: 'n0' } } });
}

const OUT: JsonObject = { gatewayNode: null, gatewayNodeSelectors: null, enableEcmp: null };

/** One thing that people ask of a Subnet, or that they do not ask for it any more. */
function field(random: Random): JsonObject {
  const selectors = [{ matchLabels: { zone: 'n0' } }, { matchLabels: { zone: 'n1' } }];
  return random.pick<JsonObject>([
    { enableDHCP: true, dhcpV4Options: random.pick(['lease_time=600', 'mtu=1300,lease_time=60']), dhcpV6Options: null },
    { enableDHCP: true, dhcpV4Options: null, dhcpV6Options: null, mtu: random.pick([1_300, 0]) },
    { enableDHCP: null, dhcpV4Options: null },
    { enableIPv6RA: true, ipv6RAConfigs: null },
    { enableIPv6RA: null, ipv6RAConfigs: null },
    { enableLb: random.chance(0.5) },
    { private: true, allowSubnets: ['10.9.0.0/16', '10.11.0.0/16', 'fd00:9::/64'] },
    { private: null, allowSubnets: null },
    { ...OUT, gatewayType: 'centralized', gatewayNode: 'n0,n1', enableEcmp: random.chance(0.7) },
    { ...OUT, gatewayType: 'centralized', gatewayNodeSelectors: selectors, enableEcmp: random.chance(0.7) },
    { ...OUT, gatewayType: 'distributed' },
    { excludeIps: random.pick([['10.80.0.100..10.80.0.110', 'fd00:80::50'], ['10.80.0.2..10.80.0.8'], null]) },
    { acls: [{ action: 'drop', direction: 'to-lport', match: 'ip4.src==10.8.0.0/16', priority: 1001 }], allowEWTraffic: true },
    { acls: null, allowEWTraffic: null },
  ]);
}

/** Pods whose ports have more than an address. */
function pods(random: Random, count: number): readonly Step[] {
  return Array.from({ length: count }, () => {
    const name = random.pick(['q0', ...POD_NAMES]);
    const where = { path: PODS, namespace: NAMESPACE, name };
    if (random.chance(0.3)) return doing({ do: 'delete', ...where, grace: 0 });
    // A Vip chooses by label: who is not chosen any more may not have it.
    if (random.chance(0.1)) return doing({ do: 'edit', ...where, patch: { metadata: { labels: { app: random.pick([name, 'other']) } } } });
    const annotations: JsonObject = {};
    if (random.chance(0.6)) annotations['ovn.kubernetes.io/port_security'] = 'true';
    if (random.chance(0.6)) annotations['ovn.kubernetes.io/aaps'] = VIP;
    if (random.chance(0.2)) annotations['ovn.kubernetes.io/ip_address'] = random.pick(['10.80.0.105,fd00:80::50', '10.80.0.3,fd00:80::51']);
    if (random.chance(0.2)) annotations['ovn.kubernetes.io/mac_address'] = random.pick(['0a:00:00:00:0a:01', '0a:00:00:00:0a:02']);
    const metadata = { name, namespace: NAMESPACE, annotations, labels: { app: name } };
    const spec = { ...podSpec(), nodeName: random.pick(['n0', 'n1']) };
    return doing({ do: 'create', path: PODS, namespace: NAMESPACE, object: { metadata, spec } });
  });
}

/** Pods of the Namespace may have it beside their own; of some only those with a label. */
function vip(): Step {
  return create(VIPS, VIP, { subnet: SUBNET, namespace: NAMESPACE, selector: ['app:q0'] });
}

function route(cidr: string, nextHopIP: string, routeTable = ''): JsonObject {
  return { cidr, nextHopIP, policy: 'policyDst', ...(routeTable === '' ? {} : { routeTable }) };
}

/** Several next hops, a table of its own, both families of a link. */
function vpc(random: Random): readonly Step[] {
  const staticRoutes = random.pick<JsonObject[]>([
    [route('10.9.0.0/16', '10.81.0.5'), route('10.9.0.0/16', '10.81.0.6')],
    [route('10.9.0.0/16', '10.81.0.6'), route('fd00:9::/64', 'fd00:81::6', 'green')],
    [],
  ]);
  const policyRoutes = random.pick<JsonObject[]>([
    [{ priority: 20, match: 'ip4.src==10.81.0.0/24', action: 'reroute', nextHopIP: '10.81.0.5,10.81.0.6' }],
    [{ priority: 20, match: 'ip4.src==10.81.0.0/24', action: 'reroute', nextHopIP: '10.81.0.6' }],
    [],
  ]);
  const vpcPeerings = random.pick<JsonObject[]>([[{ remoteVpc: 'tw', localConnectIP: '169.254.8.1/30,fd00:169::1/126' }], []]);
  return [
    create(VPCS, 'tv', {}),
    create(VPCS, 'tw', { vpcPeerings: [{ remoteVpc: 'tv', localConnectIP: '169.254.8.2/30,fd00:169::2/126' }] }),
    create(SUBNETS, 't1', { vpc: 'tv', cidrBlock: '10.81.0.0/24,fd00:81::/120' }),
    edit(VPCS, 'tv', { staticRoutes, policyRoutes, vpcPeerings }),
    wait(random),
  ];
}

/** A pool whose addresses are edited, bound to a Namespace or not. */
function pool(random: Random): readonly Step[] {
  const ips = random.pick([['10.80.0.100..10.80.0.120'], ['10.80.0.64/28'], ['10.80.0.64/28', 'fd00:80::40..fd00:80::4f']]);
  const namespaces = random.chance(0.3) ? [NAMESPACE] : null;
  return [
    ...place(),
    create(IP_POOLS, 'tuned', { subnet: SUBNET, ips: ['10.80.0.64/28'], enableAddressSet: true }),
    wait(random),
    random.chance(0.2)
      ? doing({ do: 'delete', path: IP_POOLS, namespace: '', name: 'tuned' })
      : edit(IP_POOLS, 'tuned', { ips, namespaces, enableAddressSet: random.chance(0.8) }),
    wait(random),
    ...(namespaces === null ? [] : ([{ kind: 'rest' }, plainPod('q3', NAMESPACE), { kind: 'wait', ms: 3_000 }] as const)),
  ];
}

/** Somebody else has a finalizer on a Subnet that goes: when nobody is in it any more, Kiln has nothing to say about it. */
function held(random: Random): readonly Step[] {
  const where = { path: SUBNETS, namespace: '', name: 't2' };
  const pod = { path: PODS, namespace: NAMESPACE, name: 'held' };
  const metadata = { name: pod.name, namespace: NAMESPACE, annotations: { 'ovn.kubernetes.io/logical_switch': 't2' } };
  return [
    doing({ do: 'strip', ...where }),
    ...place(),
    create(SUBNETS, 't2', { cidrBlock: '10.82.0.0/24' }, { finalizers: [OTHERS] }),
    doing({ do: 'create', ...pod, object: { metadata, spec: { ...podSpec(), nodeName: 'n0' } } }),
    { kind: 'wait', ms: 2_000 },
    doing({ do: 'delete', ...where }),
    ...(random.chance(0.5) ? [{ kind: 'rest' } as const] : [{ kind: 'wait', ms: 2_000 } as const]),
    doing({ do: 'delete', ...pod }),
    { kind: 'wait', ms: 2_000 },
  ];
}

/** A machine, and when it runs, a move of it from one node to another. */
function moving(random: Random, cluster: SimulatedCluster): readonly Step[] {
  const name = 'tm';
  const metadata = { name, namespace: NAMESPACE };
  const instance = cluster.lab.store.get('virtualmachineinstances.kubevirt.io', `${NAMESPACE}/${name}`);
  const made = [MACHINES, INSTANCES].map((path) => doing({ do: 'create', path, namespace: NAMESPACE, object: { metadata, spec: {} } }));
  if (instance === undefined) return [...place(), ...made, wait(random)];
  const owner = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name, uid: instance.metadata.uid };
  const launcher = (pod: string, nodeName: string, annotations: JsonObject): Step => {
    const object = {
      metadata: { name: pod, namespace: NAMESPACE, annotations, ownerReferences: [owner] },
      spec: { ...podSpec(), nodeName },
    };
    return doing({ do: 'create', path: PODS, namespace: NAMESPACE, object });
  };
  const target = 'launcher-tm-1';
  if (random.chance(0.3)) return [doing({ do: 'delete', path: PODS, namespace: NAMESPACE, name: target }), wait(random)];
  return [
    launcher('launcher-tm-0', 'n0', {}),
    { kind: 'wait', ms: 2_000 },
    launcher(target, 'n1', { 'kubevirt.io/migrationJobName': 'job' }),
    wait(random),
  ];
}

/** A node has more than one address of its own, or another one. */
function addresses(random: Random): readonly Step[] {
  const name = random.pick(['n0', 'n1']);
  const internal = (address: string): JsonObject => ({ type: 'InternalIP', address });
  const own = `172.18.0.${2 + Number(name.slice(1))}`;
  const list = random.pick([[own], [own, `172.19.0.${2 + Number(name.slice(1))}`]]).map(internal);
  return [doing({ do: 'edit', path: NODES, namespace: '', name, patch: { status: { addresses: list } }, status: true }), wait(random)];
}

/** A StatefulSet that becomes smaller: what the last of its pods had is free. */
function scaled(random: Random): readonly Step[] {
  const [name, labels] = ['ts', { app: 'ts' }];
  const spec = { replicas: 3, serviceName: name, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec() } };
  const where = { path: STATEFUL_SETS, namespace: NAMESPACE };
  const replicas = (count: number): Step => doing({ do: 'edit', ...where, name, patch: { spec: { replicas: count } } });
  return [
    ...place(),
    doing({ do: 'create', ...where, object: { metadata: { name, namespace: NAMESPACE }, spec } }),
    replicas(3),
    { kind: 'wait', ms: 3_000 },
    replicas(1),
    wait(random),
  ];
}

/** Namespaces that a Vpc claims, with a Subnet for them or without, and one that a Subnet chooses by label; then come pods. */
function claimed(random: Random): readonly Step[] {
  return [
    create(VPCS, 'tv', {}),
    create(SUBNETS, 't1', { vpc: 'tv', cidrBlock: '10.81.0.0/24,fd00:81::/120' }),
    create(SUBNETS, 't3', { cidrBlock: '10.83.0.0/24', namespaceSelectors: [{ matchLabels: { tier: 'picked' } }] }),
    edit(VPCS, 'tv', { namespaces: ['claimed'], defaultSubnet: random.chance(0.6) ? 't1' : null }),
    namespace('claimed'),
    namespace('picked', { tier: 'picked' }),
    { kind: 'wait', ms: 2_000 },
    { kind: 'rest' },
    ...['claimed', 'picked'].flatMap((within) => {
      const name = random.pick(POD_NAMES);
      return [doing({ do: 'delete', path: PODS, namespace: within, name, grace: 0 }), plainPod(name, within)];
    }),
    { kind: 'wait', ms: 3_000 },
  ];
}

/**
 * A node left, and while nobody looks IP object and port of another one are taken away: what that was told is all that is left, and lower
 * addresses are free.
 */
function bare(): readonly Step[] {
  const gone = { path: NODES, namespace: '', name: 'n0' };
  return [
    doing({ do: 'delete', ...gone }),
    { kind: 'wait', ms: 2_000 },
    { kind: 'fault', fault: 'kill', controller: 'a', afterWrites: 0, restartMs: 4_000 },
    plainPod('q4', NAMESPACE),
    { kind: 'wait', ms: 1_000 },
    doing({ do: 'row', table: 'Logical_Switch_Port', place: 0, name: 'node-n1', change: { kind: 'delete' } }),
    doing({ do: 'vanish', path: IPS, namespace: '', name: 'node-n1' }),
    { kind: 'wait', ms: 8_000 },
    doing(node('n0')),
    doing({ do: 'delete', path: PODS, namespace: NAMESPACE, name: 'q4' }),
  ];
}
