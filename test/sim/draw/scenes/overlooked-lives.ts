/**
 * Scenes of `draw-settled.ts` about what is easily passed over: pools that have addresses in common, or none left; pods that nothing makes again; a network that is
 * unplugged; Subnets that go, or join nodes, where a pod is to be; several selectors of which one is enough; links that others have. More of them:
 * `overlooked-addresses.ts`.
 */
import { annotationKey, JOIN_SUBNET, kilnAnnotation, labelKey, podAnnotation } from '../../../../src/api/well-known.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import { IP_POOLS, IPS, NAMESPACES, NETWORKS, NODES, podSpec, PODS, STATEFUL_SETS, SUBNETS, VPCS } from '../operations.ts';
import { doing } from './incidents.ts';
import { gone, leased, macs, moving, NAMESPACE, on } from './overlooked-addresses.ts';
import type { Random } from '../random.ts';
import { create, edit, vanish, wait } from './steps.ts';
import { inNamespace, pod } from './settled-lives.ts';
import type { SimulatedCluster } from '../../cluster/simulated-cluster.ts';
import type { Step } from '../../steps/step.ts';

const SCENES = { pools: 3, left: 3, unplugged: 3, going: 3, chosen: 3, linked: 1, macs: 2, moving: 3, leased: 2 } as const;
const REST: Step = { kind: 'rest' };
const READY: JsonObject = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };

export function drawOverlooked(random: Random, cluster: SimulatedCluster): readonly Step[] {
  switch (random.weighted(SCENES)) {
    case 'pools':
      return pools(random);
    case 'left':
      return left(random);
    case 'unplugged':
      return unplugged(random);
    case 'going':
      return going(random);
    case 'chosen':
      return chosen(random);
    case 'linked':
      return linked();
    case 'macs':
      return macs(random);
    case 'moving':
      return moving(random, cluster);
    case 'leased':
      return leased(random);
  }
}

/** Something makes its pod again. */
function set(namespace: string, name: string): Step {
  const labels = { app: name };
  const spec = { replicas: 1, serviceName: name, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec() } };
  return doing({ do: 'create', path: STATEFUL_SETS, namespace, object: { metadata: { name, namespace }, spec } });
}

function saying(namespace: string, metadata: JsonObject): Step {
  return doing({ do: 'edit', path: NAMESPACES, namespace: '', name: namespace, patch: { metadata } });
}

/** Two pools with addresses in common, and a third beside them; pods in the first and the third. The first may go, or be edited. */
function pools(random: Random): readonly Step[] {
  const wide = random.pick(['10.30.0.16/28', '10.30.0.24..10.30.0.40']);
  return [
    ...['oa', 'ob', 'oc'].map((name) => vanish(IP_POOLS, name)),
    ...[inNamespace(NAMESPACE), create(SUBNETS, 'o0', { cidrBlock: '10.30.0.0/24' }), wait(1_500)],
    ...[create(IP_POOLS, random.pick(['oa', 'ob']), { subnet: 'o0', ips: ['10.30.0.20..10.30.0.29'] }), wait(1_200)],
    ...['oa', 'ob'].map((name) => create(IP_POOLS, name, { subnet: 'o0', ips: [wide] })),
    create(IP_POOLS, 'oc', { subnet: 'o0', ips: ['10.30.0.64/29'] }),
    ...pod(NAMESPACE, 'o1', { [podAnnotation('ovn', 'ip_pool')]: 'oc' }),
    ...pod(NAMESPACE, 'o2', { [podAnnotation('ovn', 'ip_pool')]: random.pick(['oa', 'ob']) }),
    ...[wait(1_500), REST],
    ...(random.chance(0.4)
      ? [doing({ do: 'delete', path: IP_POOLS, namespace: '', name: random.pick(['oa', 'ob', 'oc']) }), wait(1_500)]
      : []),
  ];
}

/** A Subnet comes for a Namespace whose pods may be moved: what nothing makes again stays, and all do while the pool that they would move to is full. */
function left(random: Random): readonly Step[] {
  const namespace = 'overlooked-left';
  const isFull = random.chance(0.5);
  return [
    ...[vanish(IP_POOLS, 'od'), vanish(IPS, `x.${namespace}`), vanish(SUBNETS, 'o1'), gone('o3', namespace), gone('o4-0', namespace)],
    ...[inNamespace(namespace), saying(namespace, { annotations: { [kilnAnnotation.misbound]: null } }), wait(1_000)],
    ...[set(namespace, 'o4'), ...pod(namespace, 'o3'), wait(1_500)],
    create(SUBNETS, 'o1', { cidrBlock: '10.31.0.0/24', ...(!isFull && { namespaces: [namespace] }) }),
    wait(1_500),
    ...(isFull
      ? [
          create(IPS, `x.${namespace}`, { subnet: 'o1', podName: 'x', namespace, podType: '', v4IpAddress: '10.31.0.9' }),
          wait(1_200),
          create(IP_POOLS, 'od', { subnet: 'o1', ips: ['10.31.0.9'], namespaces: [namespace] }),
          ...[wait(1_500), edit(SUBNETS, 'o1', { namespaces: [namespace] }), wait(1_000)],
        ]
      : []),
    ...[saying(namespace, { annotations: { [kilnAnnotation.misbound]: 'evict' } }), wait(1_500)],
    ...(random.chance(0.5) ? [REST] : []),
  ];
}

/** A pod is attached to a network and asks for an address there; then it is not any more. */
function unplugged(random: Random): readonly Step[] {
  const network = `onet.${NAMESPACE}.ovn`;
  const asked = {
    [annotationKey.networkAttachments]: `${NAMESPACE}/onet`,
    [podAnnotation(network, 'ip_address')]: '10.32.0.9',
    [podAnnotation(network, 'ip_family')]: 'ipv4',
  };
  const definition = { metadata: { name: 'onet', namespace: NAMESPACE }, spec: { config: '{"cniVersion":"0.3.0","type":"kube-ovn"}' } };
  return [
    ...[inNamespace(NAMESPACE), create(SUBNETS, 'o2', { cidrBlock: '10.32.0.0/24', provider: network })],
    ...[doing({ do: 'create', path: NETWORKS, namespace: NAMESPACE, object: definition }), wait(1_500)],
    ...[...pod(NAMESPACE, 'o5', asked), wait(1_000)],
    ...(random.chance(0.5) ? [REST] : []),
    doing({
      do: 'edit',
      path: PODS,
      namespace: NAMESPACE,
      name: 'o5',
      patch: { metadata: { annotations: { [annotationKey.networkAttachments]: null } } },
    }),
    ...[wait(1_000), REST],
  ];
}

/** A pod names the Subnet that joins nodes, or one of its Namespace's two Subnets is to go: nobody gets there. Or an IP object by its name is another's. */
function going(random: Random): readonly Step[] {
  const namespace = 'overlooked-going';
  const reserved = { labels: { [labelKey.ipReserved]: 'true' } };
  const kept = (podName: string): JsonObject => ({
    subnet: 'o3',
    podName,
    namespace,
    podType: '',
    v4IpAddress: '10.33.0.77',
    ipAddress: '10.33.0.77',
  });
  const isAnothers = random.chance(0.5);
  return [
    ...[
      ...['o6', 'o7', 'o8', 'o9'].map((name) => gone(name, namespace)),
      vanish(IPS, `o9.${namespace}`),
      vanish(SUBNETS, 'o3'),
      wait(1_000),
    ],
    ...['o3', 'o4'].map((name, i) => create(SUBNETS, name, { cidrBlock: `10.${33 + i}.0.0/24`, namespaces: [namespace] })),
    ...[inNamespace(namespace), wait(1_500), ...pod(namespace, 'o6', on('o3'))],
    create(IPS, `o9.${namespace}`, kept(isAnothers ? 'other' : 'o9'), reserved),
    ...[wait(1_000), doing({ do: 'delete', path: SUBNETS, namespace: '', name: 'o3' }), wait(1_500), REST],
    ...pod(namespace, 'o7'),
    // Before anything else decides.
    REST,
    ...[...pod(namespace, 'o8', on(JOIN_SUBNET)), ...pod(namespace, 'o9', on('o4')), REST],
    ...(random.chance(0.5) ? [gone('o6', namespace), vanish(IPS, `o9.${namespace}`), wait(1_000)] : []),
  ];
}

/** Of several selectors one is enough: of a Subnet for Namespaces, and for the nodes that its traffic leaves by. One node, or both, or none take it. */
function chosen(random: Random): readonly Step[] {
  const namespace = 'overlooked-chosen';
  const by = (key: string, values: readonly string[]): JsonObject[] => values.map((value) => ({ matchLabels: { [key]: value } }));
  const nodes = random.pick([
    ['n0', 'n1'],
    ['n1', 'n9'],
    ['nobody', 'n9'],
    ['n0', 'n1'],
  ]);
  const gateway = random.pick<JsonObject>([
    { gatewayNode: null, gatewayNodeSelectors: by('zone', nodes) },
    { gatewayNode: nodes.join(','), gatewayNodeSelectors: null },
  ]);
  return [
    ...['n0', 'n1'].map((name) => doing({ do: 'edit', path: NODES, namespace: '', name, patch: READY, status: true })),
    ...[inNamespace(namespace), saying(namespace, { labels: { overlooked: 'b' } })],
    create(SUBNETS, 'o5', { cidrBlock: '10.35.0.0/24', namespaceSelectors: by('overlooked', ['a', 'b']), gatewayType: 'centralized' }),
    edit(SUBNETS, 'o5', { ...gateway, enableEcmp: random.pick([true, null]) }),
    ...[gone('oa', namespace), wait(2_000), REST],
    ...[...pod(namespace, 'oa'), REST],
  ];
}

/** The Vpc that one names as its peer names another one. */
function linked(): readonly Step[] {
  const link = (remoteVpc: string, side: number): JsonObject => ({ remoteVpc, localConnectIP: `169.254.8.${side}/30` });
  return [
    create(VPCS, 'op', { vpcPeerings: [link('oq', 1)] }),
    create(VPCS, 'oq', { vpcPeerings: [link('or', 2)] }),
    create(VPCS, 'or', { vpcPeerings: [link('oq', 5)] }),
    ...[wait(1_000), REST],
  ];
}
