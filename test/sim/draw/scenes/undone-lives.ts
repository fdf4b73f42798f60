/**
 * Scenes of `draw-settled.ts` about what is asked and then not any more, and what is refused and then mended: advertisements, gateways that
 * share traffic or cannot take it, Subnets and pools, EIPs with several rules, networks that are torn out, or refused, under those in them; and Kube-OVN's
 * own controller, that comes and goes.
 */
import { JOIN_SUBNET, KUBE_OVN_LEASE, labelKey, podAnnotation } from '../../../../src/api/well-known.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import { INSTANCES, IP_POOLS, IPS, MACHINES, node, NODES, OVN_EIPS, PODS, podSpec, SUBNETS, VIPS, VPCS } from '../operations.ts';
import { doing } from './incidents.ts';
import type { Random } from '../random.ts';
import { create, edit, vanish, wait } from './steps.ts';
import { inNamespace, pod } from './settled-lives.ts';
import type { SimulatedCluster } from '../../cluster/simulated-cluster.ts';
import type { Step } from '../../steps/step.ts';

/** Of both families. */
const JOINED = { cidrBlock: '100.64.0.0/16,fd00:100:64::/112', gateway: '100.64.0.1,fd00:100:64::1' };
const REST: Step = { kind: 'rest' };
const RULES = ['kubeovn.io/v1/ovn-fips', 'kubeovn.io/v1/ovn-snat-rules', 'kubeovn.io/v1/ovn-dnat-rules'] as const;

export function undone(random: Random, cluster: SimulatedCluster): readonly Step[] {
  switch (random.pick(['shared', 'mended', 'translated', 'left', 'beside', 'stopped', 'elsewhere'] as const)) {
    case 'shared':
      return shared(random);
    case 'mended':
      return mended(random);
    case 'translated':
      return translated(random);
    case 'left':
      return left(random);
    case 'beside':
      return beside(random);
    case 'elsewhere':
      return elsewhere(random);
    case 'stopped':
      return stopped(random, cluster);
  }
}

/** Both nodes are ready: one is the gateway, or both share it, or each pod's own; what is advertised is not any more. One family is the nodes' own. Two Vpcs name
 * each other, or one the other alone. */
function shared(random: Random): readonly Step[] {
  const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
  const out = (): JsonObject =>
    random.pick<JsonObject>([
      { gatewayType: 'centralized', gatewayNode: 'n0,n1', enableEcmp: true },
      { gatewayType: 'centralized', gatewayNode: 'n0:172.18.0.9,n1:172.18.0.10', enableEcmp: null },
      { gatewayType: 'distributed', gatewayNode: null, enableEcmp: null },
    ]);
  const advertised = random.chance(0.5);
  return [
    ...['n0', 'n1'].map((name) => doing({ do: 'edit', path: NODES, namespace: '', name, patch: ready, status: true })),
    ...[create(VPCS, 'yp', { vpcPeerings: [link('yq', 1)] }), create(VPCS, 'yq', {})],
    edit(VPCS, 'yq', { vpcPeerings: random.pick([[link('yp', 2)], null]) }),
    create(SUBNETS, 'y0', { cidrBlock: '10.50.0.0/24,fd00:50::/120' }),
    ...(random.chance(0.3) ? [edit(SUBNETS, JOIN_SUBNET, JOINED), wait(1_000)] : []),
    create(SUBNETS, 'y1', { cidrBlock: 'fd00:51::/120', gatewayType: 'centralized', gatewayNode: 'n0' }),
    edit(SUBNETS, 'y0', { ...out(), enableIPv6RA: advertised ? true : null }),
    wait(1_000),
    ...(random.chance(0.5) ? [edit(SUBNETS, 'y0', { ...out(), enableIPv6RA: advertised ? null : true }), wait(1_000)] : []),
    REST,
  ];
}

function link(remoteVpc: string, side: 1 | 2): JsonObject {
  return { remoteVpc, localConnectIP: `169.254.7.${side}/30` };
}

/** A Subnet of a Vpc that is not there, with a pool in it; then that comes. And a pool of which an item is wrong, and then right. */
function mended(random: Random): readonly Step[] {
  const ips = ['10.52.0.64/28'];
  return [
    ...[vanish(SUBNETS, 'y2'), doing({ do: 'delete', path: VPCS, namespace: '', name: 'yv' }), wait(1_000)],
    create(SUBNETS, 'y2', { cidrBlock: '10.52.0.0/24', vpc: 'yv' }),
    create(IP_POOLS, 'ypool', { subnet: 'y2', ips }),
    edit(IP_POOLS, 'ypool', { ips: random.pick([ips, ['10.53.9.0/28']]) }),
    wait(1_000),
    ...(random.chance(0.5) ? [REST] : []),
    ...(random.chance(0.7) ? [create(VPCS, 'yv', {}), edit(IP_POOLS, 'ypool', { ips }), wait(1_000)] : []),
  ];
}

/** An EIP that rules of several kinds use; what it has does not change, and who asks for something else is told. */
function translated(random: Random): readonly Step[] {
  const asks: JsonObject = random.pick<JsonObject>([{ v4Ip: '10.53.0.99' }, { type: 'lsp' }, { v4Ip: '10.53.0.20', type: 'nat' }]);
  return [
    create(SUBNETS, 'y3', { cidrBlock: '10.53.0.0/24' }),
    wait(1_000),
    create(OVN_EIPS, 'yeip', { externalSubnet: 'y3', type: 'nat', v4Ip: '10.53.0.20' }),
    create(VIPS, 'yvip', { subnet: 'y3', v4ip: '10.53.0.21' }),
    ...RULES.map((path, i) => create(path, `yrule${i}`, { ovnEip: 'yeip' })),
    wait(1_000),
    edit(OVN_EIPS, 'yeip', asks),
    edit(VIPS, 'yvip', { v4ip: random.pick(['10.53.0.21', '10.53.0.98']) }),
    ...RULES.flatMap((path, i) => (random.chance(0.4) ? [doing({ do: 'delete', path, namespace: '', name: `yrule${i}` })] : [])),
    ...(random.chance(0.5) ? [REST, doing({ do: 'delete', path: OVN_EIPS, namespace: '', name: 'yeip' }), wait(500)] : []),
    wait(1_000),
  ];
}

/** A network is left by its Subnet under a pod or a Vip, and its router by the Vpc: both stay, with what serves those in it. */
function left(random: Random): readonly Step[] {
  const namespace = 'left';
  const isPod = random.chance(0.5);
  return [
    ...[
      inNamespace(namespace),
      create(VPCS, 'yw', {}),
      create(SUBNETS, 'y4', { cidrBlock: '10.54.0.0/24', vpc: 'yw', enableDHCP: true }),
      edit(SUBNETS, 'y4', { vpc: 'yw', enableDHCP: true }),
      wait(1_500),
    ],
    ...(isPod ? pod(namespace, 'y', { [podAnnotation('ovn', 'logical_switch')]: 'y4' }) : [create(VIPS, 'ywip', { subnet: 'y4' })]),
    wait(1_000),
    REST,
    ...random.pick<readonly Step[]>([
      [vanish(SUBNETS, 'y4'), vanish(VPCS, 'yw')],
      [vanish(SUBNETS, 'y4')],
      [vanish(SUBNETS, 'y4'), create(SUBNETS, 'y4', { cidrBlock: '10.55.0.0/24', vpc: 'yw' })],
      [edit(SUBNETS, 'y4', { vpc: 'nowhere', enableDHCP: random.pick([true, null]) })],
    ]),
    ...[wait(1_000), REST],
    doing(isPod ? { do: 'delete', path: PODS, namespace, name: 'y', grace: 0 } : { do: 'delete', path: VIPS, namespace: '', name: 'ywip' }),
    wait(1_000),
  ];
}

/** Kube-OVN's own controller leads for a while, and all goes on meanwhile: what came then is carried out when that is gone. */
function beside(random: Random): readonly Step[] {
  const lease = { path: 'coordination.k8s.io/v1/leases', namespace: 'kube-system', name: KUBE_OVN_LEASE };
  const renewed = (at: number): JsonObject => ({ renewTime: `2026-01-01T00:00:0${at}.000000Z` });
  const spec = { holderIdentity: 'kube-ovn', leaseDurationSeconds: 40, ...renewed(0) };
  return [
    doing({
      do: 'create',
      path: lease.path,
      namespace: lease.namespace,
      object: { metadata: { name: lease.name, namespace: lease.namespace }, spec },
    }),
    ...[1, 2, 3].flatMap((at) => [wait(25_000), doing({ do: 'edit', ...lease, patch: { spec: renewed(at) } })]),
    ...[create(SUBNETS, 'y5', { cidrBlock: '10.56.0.0/24' }), inNamespace('left'), ...pod('left', 'y6')],
    edit(SUBNETS, 'y5', { private: random.pick([true, null]) }),
    wait(3_000),
    doing({ do: 'delete', ...lease }),
    wait(3_000),
  ];
}

/** A virtual machine is stopped: its address is kept for it, and so is its port. */
function stopped(random: Random, cluster: SimulatedCluster): readonly Step[] {
  const [namespace, name] = ['left', 'ym'];
  const made = [MACHINES, INSTANCES].map((path) =>
    doing({ do: 'create', path, namespace, object: { metadata: { name, namespace }, spec: {} } }),
  );
  const instance = cluster.lab.store.get('virtualmachineinstances.kubevirt.io', `${namespace}/${name}`);
  if (instance === undefined) return [inNamespace(namespace), ...made];
  const owner = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name, uid: instance.metadata.uid };
  const launcher = { name: `launcher-${name}`, namespace, ownerReferences: [owner] };
  const gone = doing({ do: 'delete', path: PODS, namespace, name: launcher.name, grace: 0 });
  return [
    ...made,
    doing({ do: 'create', path: PODS, namespace, object: { metadata: launcher, spec: { ...podSpec(), nodeName: 'n0' } } }),
    ...[wait(2_000), gone, wait(1_000), REST],
    ...(random.chance(0.3) ? [doing({ do: 'delete', path: MACHINES, namespace, name }), wait(500)] : []),
  ];
}

/** The IP object that has the name of a node's port is there for somebody else: the node has no address, and is told why. */
function elsewhere(random: Random): readonly Step[] {
  const name = 'n9';
  const spec = { subnet: JOIN_SUBNET, podName: 'nobody', namespace: 'left', v4IpAddress: '100.64.9.9', ipAddress: '100.64.9.9' };
  return [
    ...[doing({ do: 'delete', path: NODES, namespace: '', name }), wait(1_000), vanish(IPS, `node-${name}`), wait(300)],
    create(IPS, `node-${name}`, spec, { labels: { [labelKey.ipReserved]: 'true' } }),
    ...[wait(1_000), doing(node(name)), wait(1_000), REST],
    ...(random.chance(0.5) ? [vanish(IPS, `node-${name}`), wait(1_000)] : []),
  ];
}
