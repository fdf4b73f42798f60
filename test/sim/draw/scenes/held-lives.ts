/**
 * Scenes of lives in a rush about one alone that holds something: a rule its EIP, one of each kind its Subnet and the Vpc of that, a network that left OVN or whose Subnet
 * was made again elsewhere its Vpc, a machine its address; about pods that ask for two things at once, or for what
 * is not there, and about a Subnet and a Vpc with one name.
 */
import { JOIN_SUBNET, podAnnotation } from '../../../../src/api/well-known.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import { IPTABLES_EIPS } from '../more-operations.ts';
import { INSTANCES, IP_POOLS, IPS, MACHINES, OVN_EIPS, PODS, podSpec, SUBNETS, VIPS, VPCS } from '../operations.ts';
import { doing } from './incidents.ts';
import type { Random } from '../random.ts';
import { create, edit, vanish, wait } from './steps.ts';
import { inNamespace, pod } from './settled-lives.ts';
import type { SimulatedCluster } from '../../cluster/simulated-cluster.ts';
import type { ApiPath, Step } from '../../steps/step.ts';

const SCENES = { translated: 3, alone: 4, left: 2, full: 2, both: 2, machine: 3, named: 1 } as const;
const REST: Step = { kind: 'rest' };
const NAMESPACE = 'held';

export function drawHeld(random: Random, cluster: SimulatedCluster): readonly Step[] {
  switch (random.weighted(SCENES)) {
    case 'translated':
      return translated(random);
    case 'alone':
      return alone(random);
    case 'left':
      return left(random);
    case 'full':
      return full(random);
    case 'both':
      return both(random);
    case 'machine':
      return machine(random, cluster);
    case 'named':
      return named(random);
  }
}

function going(path: ApiPath, name: string, namespace = ''): Step {
  return doing({ do: 'delete', path, namespace, name, ...(path === PODS && { grace: 0 }) });
}

function on(subnet: string): JsonObject {
  return { [podAnnotation('ovn', 'logical_switch')]: subnet };
}

/** A rule of each kind is all that keeps the EIP that it names, and the EIP its Subnet. */
function translated(random: Random): readonly Step[] {
  const isOvn = random.chance(0.5);
  const kind = random.pick(
    isOvn ? ['ovn-fips', 'ovn-snat-rules', 'ovn-dnat-rules'] : ['iptables-fip-rules', 'iptables-snat-rules', 'iptables-dnat-rules'],
  );
  const rules: ApiPath = `kubeovn.io/v1/${kind}`;
  const eips = isOvn ? OVN_EIPS : IPTABLES_EIPS;
  const inside: JsonObject = isOvn
    ? { ovnEip: 'qeip', v4Ip: '10.40.0.9' }
    : { eip: 'qeip', ...(kind.includes('snat') ? { internalCIDR: '10.40.1.0/24' } : { internalIp: '10.40.1.9' }) };
  const spec = { ...inside, ...(kind.includes('dnat') && { externalPort: '80', internalPort: '8080', protocol: 'tcp' }) };
  return [
    ...[vanish(rules, 'qrule'), vanish(eips, 'qeip'), wait(300)],
    ...[create(SUBNETS, 'q0', { cidrBlock: '10.40.0.0/24' }), wait(1_500)],
    create(eips, 'qeip', { externalSubnet: 'q0', ...(!isOvn && { natGwDp: 'gw0' }) }),
    ...[wait(1_000), create(rules, 'qrule', spec), wait(2_500)],
    ...[going(eips, 'qeip'), ...(random.chance(0.5) ? [going(SUBNETS, 'q0')] : []), wait(1_500)],
    ...(random.chance(0.5) ? [REST] : []),
    ...[going(rules, 'qrule'), wait(1_000)],
  ];
}

/** One of each kind is alone in a Subnet that is to go, with its Vpc. */
function alone(random: Random): readonly Step[] {
  const kept = { subnet: 'q1', podName: 'qk', namespace: NAMESPACE, podType: '', v4IpAddress: '10.41.0.9' };
  const [come, go] = random.pick<readonly [readonly Step[], Step]>([
    [pod(NAMESPACE, 'qp', on('q1')), going(PODS, 'qp', NAMESPACE)],
    [[create(VIPS, 'qvip', { subnet: 'q1' })], going(VIPS, 'qvip')],
    [[create(OVN_EIPS, 'qe', { externalSubnet: 'q1' })], going(OVN_EIPS, 'qe')],
    [[create(IPTABLES_EIPS, 'qi', { externalSubnet: 'q1', natGwDp: 'gw0' })], going(IPTABLES_EIPS, 'qi')],
    [[create(IPS, `qk.${NAMESPACE}`, kept)], going(IPS, `qk.${NAMESPACE}`)],
  ]);
  return [
    ...[inNamespace(NAMESPACE), create(VPCS, 'qv', {}), wait(300), create(SUBNETS, 'q1', { cidrBlock: '10.41.0.0/24', vpc: 'qv' })],
    ...[wait(1_500), ...come, wait(2_500), going(SUBNETS, 'q1'), going(VPCS, 'qv'), wait(1_500)],
    ...(random.chance(0.4) ? [REST] : []),
    ...[go, wait(1_500)],
  ];
}

/** A Vpc is to go, and of the network in it the Subnet says another provider, or was torn out and made again in another Vpc, under a pod that runs. */
function left(random: Random): readonly Step[] {
  const isRemade = random.chance(0.5);
  const changed = isRemade
    ? [vanish(SUBNETS, 'q2'), wait(300), create(SUBNETS, 'q2', { cidrBlock: '10.43.0.0/24' })]
    : [edit(SUBNETS, 'q2', { provider: `qnet.${NAMESPACE}` })];
  return [
    ...[going(PODS, 'ql', NAMESPACE), vanish(SUBNETS, 'q2'), wait(1_000)],
    ...[inNamespace(NAMESPACE), create(VPCS, 'qw', {}), wait(300), create(SUBNETS, 'q2', { cidrBlock: '10.42.0.0/24', vpc: 'qw' })],
    ...[wait(1_500), ...(isRemade || random.chance(0.3) ? pod(NAMESPACE, 'ql', on('q2')) : []), wait(500)],
    ...(random.chance(0.5) ? [REST] : []),
    ...[...changed, wait(1_000), going(VPCS, 'qw'), wait(1_500), REST],
    ...[going(PODS, 'ql', NAMESPACE), going(SUBNETS, 'q2'), wait(1_500)],
  ];
}

/** The first Subnet of a Namespace has one address, and the second one joins nodes, cannot be carried out, or has room. */
function full(random: Random): readonly Step[] {
  const namespace = 'held-full';
  const second = random.pick<readonly [readonly Step[], readonly Step[]]>([
    [[edit(SUBNETS, JOIN_SUBNET, { namespaces: [namespace] })], [edit(SUBNETS, JOIN_SUBNET, { namespaces: null })]],
    [[create(SUBNETS, 'q4', { cidrBlock: '10.45.0.0/24', vpc: 'nowhere', namespaces: [namespace] })], [vanish(SUBNETS, 'q4')]],
    [[create(SUBNETS, 'q5', { cidrBlock: '10.46.0.0/24', namespaces: [namespace] })], [going(SUBNETS, 'q5')]],
  ]);
  return [
    ...['qa', 'qb'].map((name) => going(PODS, name, namespace)),
    create(SUBNETS, 'h3', { cidrBlock: '10.44.0.0/29', excludeIps: ['10.44.0.3..10.44.0.6'], namespaces: [namespace] }),
    ...[inNamespace(namespace), ...second[0], wait(1_500), ...pod(namespace, 'qa'), wait(1_000), REST],
    ...[...pod(namespace, 'qb'), wait(1_500), REST],
    ...[...second[1], going(PODS, 'qb', namespace), wait(1_000)],
  ];
}

/** A pod names a Subnet and a pool of it; or a Subnet, or a pool, that is not there: it waits. */
function both(random: Random): readonly Step[] {
  const [subnet, pool] = random.pick([
    ['q6', 'qpool'],
    ['q6', 'qpool'],
    ['', 'qnone'],
    ['qnone', ''],
  ] as const);
  const annotations = { ...(subnet !== '' && on(subnet)), ...(pool !== '' && { [podAnnotation('ovn', 'ip_pool')]: pool }) };
  return [
    ...[inNamespace(NAMESPACE), create(SUBNETS, 'q6', { cidrBlock: '10.47.0.0/24' }), wait(1_500)],
    ...[create(IP_POOLS, 'qpool', { subnet: 'q6', ips: ['10.47.0.100..10.47.0.109'] }), going(PODS, 'qs', NAMESPACE), wait(1_500), REST],
    ...[...pod(NAMESPACE, 'qs', annotations), wait(1_000)],
  ];
}

/** A machine is stopped, and started again, or taken away: its address is kept for it meanwhile, and no longer. */
function machine(random: Random, cluster: SimulatedCluster): readonly Step[] {
  const name = 'qm';
  const instance = cluster.lab.store.get('virtualmachineinstances.kubevirt.io', `${NAMESPACE}/${name}`);
  const make = (path: ApiPath): Step =>
    doing({ do: 'create', path, namespace: NAMESPACE, object: { metadata: { name, namespace: NAMESPACE }, spec: {} } });
  const made = [
    create(SUBNETS, 'q7', { cidrBlock: '10.48.0.0/24', namespaces: [NAMESPACE] }),
    inNamespace(NAMESPACE),
    make(MACHINES),
    make(INSTANCES),
  ];
  if (instance === undefined) return [...made, wait(1_000)];
  const ownerReferences = [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name, uid: instance.metadata.uid }];
  const launcher = `${name}-${random.below(3)}`;
  const object = {
    metadata: { name: launcher, namespace: NAMESPACE, ownerReferences },
    spec: { ...podSpec(), nodeName: 'n0', restartPolicy: 'Never' },
  };
  const how = random.pick(['stopped', 'started', 'gone'] as const);
  return [
    ...[...made, wait(1_000), doing({ do: 'create', path: PODS, namespace: NAMESPACE, object }), wait(1_500), REST],
    ...[going(PODS, launcher, NAMESPACE), ...(how === 'started' ? [] : [going(INSTANCES, name, NAMESPACE)])],
    ...(how === 'gone' ? [going(MACHINES, name, NAMESPACE)] : []),
    ...[wait(2_500), REST],
  ];
}

/** A Subnet and a Vpc have one name: who came first is in effect, and when that goes the other is. */
function named(random: Random): readonly Step[] {
  const [vpc, subnet] = [create(VPCS, 'qn', {}), create(SUBNETS, 'qn', { cidrBlock: '10.49.0.0/24' })];
  const first = random.pick([VPCS, SUBNETS]);
  return [
    ...[vanish(VPCS, 'qn'), vanish(SUBNETS, 'qn'), wait(1_000)],
    ...(first === VPCS ? [vpc, wait(1_500), subnet] : [subnet, wait(1_500), vpc]),
    ...[wait(1_500), ...(random.chance(0.5) ? [REST] : [])],
    ...[going(first, 'qn'), wait(1_500)],
  ];
}
