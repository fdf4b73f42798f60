/** Scenes of external networks: Vpcs with ports in external Subnets, EIPs, and the NAT rules that use them. */
import { annotationKey, EXTERNAL_GATEWAY_CONFIG, labelKey } from '../../../../src/api/well-known.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import type { Random } from '../../cluster/random.ts';
import type { Step } from '../../steps/step.ts';
import { NODES, node, OVN_EIPS, PODS, SUBNETS, VPCS } from '../objects.ts';
import { CONVERGE, create, edit, fault, inSubnet, namespace, operation, pod, ready, remove, removeByForce, wait } from './steps.ts';
import type { Scene } from './scene.ts';

const FIPS = 'kubeovn.io/v1/ovn-fips';
const SNATS = 'kubeovn.io/v1/ovn-snat-rules';
const DNATS = 'kubeovn.io/v1/ovn-dnat-rules';
const NAMES = { vpc: 'xnat', external: 'xext', inside: 'xin', namespace: 'natted', pod: 'xweb' } as const;
const GATEWAYS = ['n0', 'n1'] as const;

/** A node that its agent has registered, and that hosts external ports. */
function gateway(name: string, is = true): readonly Step[] {
  const metadata = {
    labels: { [labelKey.externalGateway]: is ? 'true' : null },
    annotations: { [annotationKey.chassis]: `chassis-${name}` },
  };
  return [operation({ do: 'edit', path: NODES, namespace: '', name, patch: { metadata } }), ready(name)];
}

/** What each scene starts with; objects of an earlier scene stay. */
function network(random: Random): readonly Step[] {
  const dual = random.chance(0.3);
  const eip = (name: string, at: number): Step =>
    create(OVN_EIPS, name, { externalSubnet: NAMES.external, ...(random.chance(0.5) && { v4Ip: `172.20.0.${at}` }) });
  return [
    ...GATEWAYS.flatMap((name) => [operation(node(name)), ...gateway(name)]),
    ...namespace(NAMES.namespace),
    create(SUBNETS, NAMES.external, { vpc: 'xout', cidrBlock: dual ? '172.20.0.0/28,fd20::/124' : '172.20.0.0/28' }),
    create(VPCS, 'xout', {}),
    create(VPCS, NAMES.vpc, { enableExternal: true, extraExternalSubnets: [NAMES.external] }),
    edit(VPCS, NAMES.vpc, { enableExternal: true, extraExternalSubnets: [NAMES.external] }),
    create(SUBNETS, NAMES.inside, { vpc: NAMES.vpc, cidrBlock: '10.44.0.0/24' }),
    wait(1_500),
    ...pod(NAMES.namespace, NAMES.pod, inSubnet(NAMES.inside)),
    ...[eip('xe0', 5), eip('xe1', 6)],
    create(FIPS, 'xf', { ovnEip: 'xe0', ipName: `${NAMES.pod}.${NAMES.namespace}`, type: random.pick(['distributed', 'centralized', '']) }),
    create(SNATS, 'xs', {
      ovnEip: 'xe1',
      ...random.pick<JsonObject>([{ vpcSubnet: NAMES.inside }, { vpc: NAMES.vpc, v4IpCidr: '10.44.0.0/25' }]),
    }),
    create(DNATS, 'xd', {
      ovnEip: 'xe1',
      vpc: NAMES.vpc,
      v4Ip: '10.44.0.77',
      protocol: random.pick(['tcp', 'UDP']),
      externalPort: '80',
      internalPort: '8080',
    }),
    wait(random.pick([0, 50, 1_500])),
    ...(random.chance(0.3) ? [CONVERGE] : []),
  ];
}

const stripped = (name: string): readonly Step[] => [
  operation({ do: 'remove-finalizers', path: OVN_EIPS, namespace: '', name }),
  wait(20),
  remove(OVN_EIPS, name),
];

/** What happens to an external network in use. */
const DISTURBANCES: Readonly<Record<string, (random: Random) => readonly Step[]>> = {
  stripped: (random) =>
    random.chance(0.5)
      ? stripped(random.pick(['xe0', 'xe1']))
      : [removeByForce(OVN_EIPS, random.pick(['xe0', 'xe1', `${NAMES.vpc}-${NAMES.external}`]))],
  'deleted while no controller runs': (random) => [
    ...['a', 'b'].map((controller) => fault({ fault: 'kill', controller, afterWrites: 0, restartMs: 4_000 })),
    wait(10),
    ...random.pick([
      [remove(FIPS, 'xf'), remove(OVN_EIPS, 'xe0')],
      [...stripped('xe1'), removeByForce(SNATS, 'xs')],
      [removeByForce(FIPS, 'xf'), create(FIPS, 'xf', { ovnEip: 'xe1', vpc: NAMES.vpc, v4Ip: '10.44.0.78' })],
      [removeByForce(DNATS, 'xd'), removeByForce(OVN_EIPS, 'xe1')],
    ]),
    wait(8_000),
  ],
  'moved between EIPs': (random) => [
    edit(FIPS, 'xf', { ovnEip: 'xe1' }),
    edit(SNATS, 'xs', { ovnEip: 'xe0' }),
    ...(random.chance(0.5) ? [wait(20), edit(DNATS, 'xd', { ovnEip: 'xe0', externalPort: '443' })] : []),
    ...(random.chance(0.5) ? [wait(300), edit(FIPS, 'xf', { ovnEip: 'xe0', type: 'distributed' })] : []),
  ],
  'its pod is another one': () => [...pod(NAMES.namespace, NAMES.pod, inSubnet(NAMES.inside))],
  'its Subnet torn out': (random) => [
    random.chance(0.5) ? removeByForce(SUBNETS, NAMES.external) : remove(SUBNETS, NAMES.external),
    ...[wait(random.pick([20, 1_500])), remove(OVN_EIPS, 'xe0'), remove(FIPS, 'xf')],
    ...[wait(500), ...(random.chance(0.5) ? [remove(SNATS, 'xs'), remove(DNATS, 'xd'), remove(OVN_EIPS, 'xe1')] : [])],
  ],
  'gateway nodes go': (random) => [
    ...random.pick([
      gateway('n0', false),
      [ready('n0', 'False')],
      [remove(NODES, 'n0')],
      [...gateway('n0', false), ...gateway('n1', false)],
    ]),
    ...[wait(300), ...(random.chance(0.5) ? [CONVERGE] : []), operation(node('n0')), ...gateway('n0'), ...gateway('n1')],
  ],
  'switched off and on': (random) => [
    edit(VPCS, NAMES.vpc, { enableExternal: false }),
    ...[wait(random.pick([10, 500])), ...(random.chance(0.4) ? [CONVERGE] : []), edit(VPCS, NAMES.vpc, { enableExternal: true })],
  ],
  'everything goes': (random) => [
    ...(random.chance(0.5) ? [remove(VPCS, NAMES.vpc), remove(SUBNETS, NAMES.external)] : []),
    ...[remove(OVN_EIPS, 'xe0'), remove(OVN_EIPS, 'xe1'), remove(DNATS, 'xd'), remove(SNATS, 'xs'), remove(FIPS, 'xf')],
    ...[remove(PODS, NAMES.pod, NAMES.namespace), remove(SUBNETS, NAMES.inside), remove(VPCS, NAMES.vpc), remove(SUBNETS, NAMES.external)],
  ],
};

/** One or two things happen to an external network in use. */
const externalNetwork: Scene = (random) => {
  const names = Object.keys(DISTURBANCES);
  const chosen = [random.pick(names), ...(random.chance(0.4) ? [random.pick(names)] : [])];
  return [
    ...network(random),
    ...chosen.flatMap((name) => [...(DISTURBANCES[name]?.(random) ?? []), wait(random.pick([20, 1_500]))]),
    CONVERGE,
  ];
};

/** Rules in effect are edited to name an EIP that comes before or after. */
const editedNatRules: Scene = (random) => {
  const eip = create(OVN_EIPS, 'xe2', { externalSubnet: NAMES.external });
  const edits = [
    edit(FIPS, 'xf', { ovnEip: 'xe2' }),
    ...(random.chance(0.5) ? [edit(DNATS, 'xd', { ovnEip: random.pick(['xe2', 'xe0']), externalPort: '443' })] : []),
    ...(random.chance(0.3) ? [edit(SNATS, 'xs', { ovnEip: 'xe2' })] : []),
  ];
  return [
    ...network(random),
    CONVERGE,
    ...(random.chance(0.5) ? [eip, wait(random.pick([0, 500])), ...edits] : [...edits, wait(random.pick([0, 500])), eip]),
    ...(random.chance(0.4) ? [wait(20), remove(OVN_EIPS, random.pick(['xe0', 'xe1', 'xe2']))] : []),
    CONVERGE,
  ];
};

const CONFIGS = 'v1/configmaps';
const CLUSTER = { external: 'external', namespace: 'cluster', pods: ['xc0', 'xc1'] } as const;

/** Pods of the default Vpc with external addresses by annotation, and what becomes of these when their Subnet or the gateway goes. */
const podAddresses: Scene = (random) => {
  const address = (): string => random.pick(['172.21.0.5', '172.21.0.6', '172.21.0.7', '172.21.0.9', '172.22.0.5', 'oops']);
  const annotations = (): JsonObject => ({
    ...(random.chance(0.7) && { [annotationKey.podEip]: address() }),
    ...(random.chance(0.5) && { [annotationKey.podSnat]: address() }),
  });
  const annotated = (name: string): Step =>
    operation({
      ...({ do: 'edit', path: PODS, namespace: CLUSTER.namespace, name } as const),
      patch: { metadata: { annotations: { [annotationKey.podEip]: null, [annotationKey.podSnat]: null, ...annotations() } } },
    });
  const data = (): JsonObject => ({
    'external-gw-nodes': GATEWAYS.join(','),
    type: random.pick(['centralized', 'distributed']),
    'nic-ip': random.pick(['', '172.21.0.9/28', '172.21.0.10/28']),
  });
  const config = (): Step =>
    operation({ do: 'edit', path: CONFIGS, namespace: 'kube-system', name: EXTERNAL_GATEWAY_CONFIG, patch: { data: data() } });
  const subnet = create(SUBNETS, CLUSTER.external, { vpc: 'xout', cidrBlock: '172.21.0.0/28' });
  const happens: Readonly<Record<string, () => readonly Step[]>> = {
    'annotations change': () => CLUSTER.pods.map(annotated),
    'the gateway changes': () => [config()],
    'the gateway goes': () => [remove(CONFIGS, EXTERNAL_GATEWAY_CONFIG, 'kube-system')],
    'its Subnet torn out and back': () => [
      removeByForce(SUBNETS, CLUSTER.external),
      wait(500),
      ...CLUSTER.pods.map(annotated),
      wait(500),
      subnet,
    ],
    'another object names the address': () => [create(OVN_EIPS, 'xe3', { externalSubnet: CLUSTER.external, v4Ip: '172.21.0.5' })],
    'a pod goes': () => [remove(PODS, CLUSTER.pods[0], CLUSTER.namespace)],
  };
  const chosen = [random.pick(Object.keys(happens)), random.pick(Object.keys(happens))];
  return [
    ...GATEWAYS.flatMap((name) => [operation(node(name)), ...gateway(name)]),
    ...namespace(CLUSTER.namespace),
    create(VPCS, 'xout', {}),
    subnet,
    operation({
      ...({ do: 'create', path: CONFIGS, namespace: 'kube-system' } as const),
      object: { metadata: { name: EXTERNAL_GATEWAY_CONFIG, namespace: 'kube-system' }, data: data() },
    }),
    wait(1_500),
    ...CLUSTER.pods.flatMap((name) => pod(CLUSTER.namespace, name, annotations())),
    ...[wait(random.pick([0, 1_500])), ...(random.chance(0.3) ? [CONVERGE] : [])],
    ...chosen.flatMap((name) => [...(happens[name]?.() ?? []), wait(random.pick([20, 1_500]))]),
    CONVERGE,
  ];
};

/** BFD of Vpcs: sessions with the gateway and with nodes, shared routes, the port for other gateways. */
const watchedGateways: Scene = (random) => {
  const nodePort = (name: string): Step => create(OVN_EIPS, name, { externalSubnet: NAMES.external, type: 'lsp' });
  const port = (): JsonObject => ({
    enabled: random.chance(0.8),
    ip: random.pick(['10.255.255.255', '10.255.255.254', 'oops']),
    ...(random.chance(0.5) && { nodeSelector: { matchLabels: { zone: random.pick(GATEWAYS) } } }),
  });
  const happens: Readonly<Record<string, () => readonly Step[]>> = {
    'BFD off': () => [edit(VPCS, NAMES.vpc, { enableBfd: false })],
    'shared routes off': () => [edit(SUBNETS, NAMES.inside, { enableEcmp: false })],
    'the port changes': () => [edit(VPCS, NAMES.vpc, { bfdPort: port() })],
    'the port goes': () => [edit(VPCS, NAMES.vpc, { bfdPort: null })],
    'a node goes': () => [remove(OVN_EIPS, 'n0'), remove(NODES, 'n0')],
    'the Vpc is cut off': () => [edit(VPCS, NAMES.vpc, { enableExternal: false })],
  };
  const chosen = [random.pick(Object.keys(happens)), random.pick(Object.keys(happens))];
  return [
    ...network(random),
    ...GATEWAYS.map(nodePort),
    edit(VPCS, NAMES.vpc, { enableBfd: true, ...(random.chance(0.6) && { bfdPort: port() }) }),
    ...(random.chance(0.6) ? [edit(SUBNETS, NAMES.inside, { enableEcmp: true })] : []),
    ...[wait(random.pick([0, 1_500])), ...(random.chance(0.4) ? [CONVERGE] : [])],
    ...chosen.flatMap((name) => [...(happens[name]?.() ?? []), wait(random.pick([20, 1_500]))]),
    CONVERGE,
  ];
};

export const EXTERNAL_SCENES = { externalNetwork, editedNatRules, podAddresses, watchedGateways };
