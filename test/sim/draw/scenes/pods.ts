/** Scenes of pods: fields of their port, conflicts of addresses, attached networks, virtual machines, and pods that end. */
import { podSpec } from '../../../../src/testing/drawn-kind.ts';
import { annotationKey, kilnAnnotation, labelKey, MIGRATION_JOB_LABEL, podAnnotation } from '../../../../src/api/well-known.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import type { Step } from '../../steps/step.ts';
import { INSTANCES, IPS, MACHINES, NETWORKS, NODE_NAMES, OVN_EIPS, PODS, SUBNETS, VIPS } from '../objects.ts';
import { annotate, create, operation, edit, namespace, inSubnet, pod, remove, CONVERGE, setStatus, removeByForce, wait } from './steps.ts';
import type { Scene } from './scene.ts';

const ASKED: readonly JsonObject[] = [
  { [annotationKey.northGateway]: '10.95.0.77' },
  { 'ovn.kubernetes.io/layer2_forward': 'true' },
  { 'ovn.kubernetes.io/security_groups': 'web,db' },
  { 'ovn.kubernetes.io/activation_strategy': 'rarp' },
  { 'ovn.kubernetes.io/dhcp-v4-options': 'lease_time=77' },
  { 'ovn.kubernetes.io/ip_family': 'ipv4' },
  { 'ovn.kubernetes.io/ip_family': 'ipv6' },
  { 'ovn.kubernetes.io/mac_address': '0a:00:00:00:0c:01' },
  { 'ovn.kubernetes.io/port_security': 'true' },
  { [annotationKey.allowedAddressPairs]: 'pvip', 'ovn.kubernetes.io/port_security': 'true' },
];

/** Options of one port; a Vip that pods with a label may use. */
const portOptions: Scene = (random) => [
  create(SUBNETS, 'p0', { cidrBlock: '10.95.0.0/24,fd00:95::/120', namespaces: ['asking'], enableDHCP: true }),
  ...[...namespace('asking'), create(VIPS, 'pvip', { subnet: 'p0', namespace: 'asking', selector: ['app:r0'] }), wait(1_000)],
  edit(SUBNETS, 'p0', { gatewayType: random.pick(['distributed', 'centralized']), gatewayNode: 'n0,n1' }),
  ...['r0', 'r1', 'r2'].flatMap((name) => pod('asking', name, { ...random.pick(ASKED), ...random.pick(ASKED) })),
  ...(random.chance(0.3)
    ? [operation({ do: 'edit', path: PODS, namespace: 'asking', name: 'r0', patch: { metadata: { labels: { app: 'other' } } } })]
    : []),
  wait(1_000),
];

/** One or two attached networks; one is deleted, or detached, or has no free address. */
const attachedNetworks: Scene = (random) => {
  const definition = { config: '{"cniVersion":"0.3.0","type":"kube-ovn"}' };
  const networks = random.pick(['attached/anet', 'attached/anet@a1,attached/anet@a2']);
  return [
    ...[create(SUBNETS, 'p2', { cidrBlock: '10.97.0.0/24', provider: 'anet.attached.ovn' }), ...namespace('attached')],
    ...[create(NETWORKS, 'anet', definition, {}, 'attached'), edit(SUBNETS, 'p2', { excludeIps: null }), wait(1_000)],
    ...(random.chance(0.3) ? [edit(SUBNETS, 'p2', { excludeIps: ['10.97.0.2..10.97.0.254'] }), wait(1_000)] : []),
    ...[...pod('attached', 'r3', { [annotationKey.networkAttachments]: networks }), wait(1_000)],
    ...(random.chance(0.5) ? [CONVERGE] : []),
    random.chance(0.5)
      ? remove(NETWORKS, 'anet', 'attached')
      : annotate(PODS, 'r3', { [annotationKey.networkAttachments]: null }, 'attached'),
    wait(1_000),
  ];
};

/** Two IP objects of users have one address, and then their pods are created: the older object has precedence. */
const rivalIpObjects: Scene = (random) => {
  const address = `10.77.0.${50 + random.below(8)}`;
  const [older = '', younger = ''] = random.chance(0.5) ? ['p0', 'p1'] : ['p1', 'p0'];
  const ip = (podName: string, isReserved: boolean): Step => {
    const spec = { podName, namespace: 'rivals', subnet: 'p3', podType: '', ipAddress: address, v4IpAddress: address };
    return create(IPS, `${podName}.rivals`, spec, isReserved ? { labels: { [labelKey.ipReserved]: 'true' } } : {});
  };
  const come = (name: string): readonly Step[] => [
    create(PODS, name, { ...podSpec(), nodeName: random.pick(NODE_NAMES) }, { annotations: inSubnet('p3') }, 'rivals'),
  ];
  return [
    ...[create(SUBNETS, 'p3', { cidrBlock: '10.77.0.0/24' }), ...namespace('rivals')],
    ...[older, younger].flatMap((name) => [remove(PODS, name, 'rivals'), removeByForce(IPS, `${name}.rivals`)]),
    ...[wait(2_000), ip(older, true), wait(2_000), CONVERGE, ip(younger, random.chance(0.5)), wait(random.pick([5, 2_000]))],
    ...[...(random.chance(0.5) ? [...come(younger), ...come(older)] : come(younger)), wait(3_000)],
  ];
};

type Requester = 'pod' | 'ip' | 'vip' | 'eip';

/**
 * One object has an address or a MAC, or the address is the gateway's, and another object requests it: it waits, a condition reports the
 * conflict, and it gets the address once that is free.
 */
const addressConflict: Scene = (random) => {
  const request = (kind: Requester, name: string, address: string, mac: string): readonly Step[] =>
    ({
      pod: pod('coveted', name, { ...inSubnet('p4', address), ...(mac !== '' && { [podAnnotation('ovn', 'mac_address')]: mac }) }),
      ip: [
        create(IPS, `${name}.coveted`, {
          subnet: 'p4',
          podName: name,
          namespace: 'coveted',
          podType: '',
          v4IpAddress: address,
          macAddress: mac,
        }),
      ],
      vip: [create(VIPS, name, { subnet: 'p4', v4ip: address, ...(mac !== '' && { macAddress: mac }) })],
      eip: [create(OVN_EIPS, name, { externalSubnet: 'p4', v4Ip: address, ...(mac !== '' && { macAddress: mac }) })],
    })[kind];
  const anyKind = (): Requester => random.pick(['pod', 'pod', 'ip', 'vip', 'eip'] as const);
  const mac = random.pick(['', '', '0a:00:00:00:0e:01']);
  const gateway = random.pick(['10.58.0.1', '10.58.0.1', '10.58.0.9']);
  const gone = (name: string): readonly Step[] => [
    remove(PODS, name, 'coveted'),
    removeByForce(IPS, `${name}.coveted`),
    removeByForce(VIPS, name),
    removeByForce(OVN_EIPS, name),
  ];
  return [
    ...[create(SUBNETS, 'p4', { cidrBlock: '10.58.0.0/28', gateway }), ...namespace('coveted'), ...gone('w1'), ...gone('w2')],
    ...[
      edit(SUBNETS, 'p4', { gateway }),
      wait(1_500),
      ...request(anyKind(), 'w1', '10.58.0.9', mac),
      random.chance(0.5) ? CONVERGE : wait(3_000),
    ],
    ...[...request(anyKind(), 'w2', random.pick(['10.58.0.9', '10.58.0.2']), mac), random.chance(0.5) ? CONVERGE : wait(1_000)],
    ...(random.chance(0.5) ? [...gone('w1'), wait(1_500)] : []),
  ];
};

/**
 * Addresses requested by name: a pod that requests an excluded one gets it, and no other pod does; an IP object requests one that it cannot
 * have, and then for another.
 */
const requestedAddresses: Scene = (random) => [
  ...[create(SUBNETS, 'p5', { cidrBlock: '10.90.0.0/24', namespaces: ['named'] }), ...namespace('named')],
  edit(SUBNETS, 'p5', { excludeIps: random.pick([['10.90.0.2..10.90.0.9'], ['10.90.0.3', '10.90.0.20..10.90.0.40'], null]) }),
  ...[removeByForce(IPS, 'n6.named'), wait(1_000), CONVERGE],
  ...pod('named', 'n2', random.pick([{}, inSubnet('p5', '10.90.0.3'), inSubnet('p5', '10.90.0.4'), inSubnet('p5', '10.91.0.4')])),
  create(
    IPS,
    'n6.named',
    { podName: 'n6', namespace: 'named', subnet: 'p5', podType: '', ipAddress: '10.90.0.1' },
    random.pick([{}, { annotations: { [kilnAnnotation.lease]: '3s' } }]),
  ),
  ...[wait(1_000), edit(IPS, 'n6.named', { ipAddress: random.pick(['10.90.0.61', '10.90.0.1']) }), ...pod('named', 'n6'), wait(1_000)],
];

/**
 * A virtual machine with two pods while it migrates, or one that is stopped, started again or deleted: its address is retained meanwhile,
 * and no longer.
 */
const virtualMachine: Scene = (random, cluster) => {
  const instance = cluster.lab.store.get('virtualmachineinstances.kubevirt.io', 'machines/vm');
  const made = [
    ...[create(SUBNETS, 'p7', { cidrBlock: '10.48.0.0/24', namespaces: ['machines'] }), ...namespace('machines')],
    ...[MACHINES, INSTANCES].map((path) => create(path, 'vm', {}, {}, 'machines')),
    wait(1_000),
  ];
  if (instance === undefined) return made;
  const ownerReferences = [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid: instance.metadata.uid }];
  const run = (name: string, nodeName: string, metadata: JsonObject = {}): readonly Step[] =>
    pod('machines', name, {}, { nodeName, restartPolicy: 'Never' }, { ownerReferences, labels: {}, ...metadata });
  const migrationUid = `0000-${random.below(1_000)}`;
  const target = { annotations: { [annotationKey.migrationJob]: 'job' }, labels: { [MIGRATION_JOB_LABEL]: migrationUid } };
  const state = { migrationUid: random.pick([migrationUid, 'other']), completed: true, failed: random.pick([true, null]) };
  const moved = [
    ...[remove(PODS, 'vm-1', 'machines'), ...run('vm-0', 'n0'), ...run('vm-1', 'n1', target), CONVERGE],
    operation({ do: 'edit', path: INSTANCES, namespace: 'machines', name: 'vm', patch: { status: { migrationState: state } } }),
  ];
  const stopped = [...run('vm-0', 'n0'), CONVERGE, remove(PODS, 'vm-0', 'machines'), remove(INSTANCES, 'vm', 'machines')];
  const gone = [...stopped, remove(MACHINES, 'vm', 'machines')];
  return [...random.pick([moved, moved, stopped, gone]), wait(1_500), CONVERGE];
};

/**
 * Containers that have ended and are restarted, or not; or a pod with a long grace period on a lost node: it keeps its address until it is
 * over.
 */
const endedPods: Scene = (random) => {
  const status = random.pick<JsonObject>([{ phase: 'Succeeded' }, { phase: 'Failed' }, { phase: 'Failed', reason: 'Evicted' }]);
  const come = pod(
    'ended',
    'r5',
    {},
    { nodeName: 'n1', terminationGracePeriodSeconds: 30, restartPolicy: random.pick(['Always', 'OnFailure', 'Never']) },
  );
  if (random.chance(0.6)) return [...namespace('ended'), ...come, setStatus(PODS, 'r5', status, 'ended'), wait(1_000)];
  const up = (is: boolean): Step => operation({ do: 'node', name: 'n1', up: is });
  return [
    ...[...namespace('ended'), ...come, up(false), operation({ do: 'delete', path: PODS, namespace: 'ended', name: 'r5' })],
    ...[wait(random.pick([5_000, 33_000, 40_000])), { kind: 'converge', lost: true } as const, up(true), wait(300)],
  ];
};

/**
 * A pod is deleted and made again at once, elsewhere, or with its former address, before its former objects are gone. Or its IP object is
 * deleted, and another pod requests the address at the same time.
 */
const recreatedPod: Scene = (random) => {
  const requested = random.pick([{}, inSubnet('p8', '10.99.0.5')]);
  const come = (name: string, annotations: JsonObject): Step =>
    create(PODS, name, { ...podSpec(), nodeName: random.pick(['n0', 'n1']) }, { annotations }, 'again');
  return [
    ...[...namespace('again'), create(SUBNETS, 'p8', { cidrBlock: '10.99.0.0/28' }), remove(PODS, 'k5', 'again'), wait(1_000)],
    ...[...pod('again', 'k4', requested), wait(500)],
    ...(random.chance(0.5)
      ? [removeByForce(IPS, 'k4.again'), come('k5', inSubnet('p8', '10.99.0.5'))]
      : [remove(PODS, 'k4', 'again'), wait(random.pick([0, 1, 20])), come('k4', random.pick([{}, requested]))]),
    wait(1_000),
  ];
};

export const POD_SCENES = {
  portOptions,
  attachedNetworks,
  rivalIpObjects,
  addressConflict,
  requestedAddresses,
  virtualMachine,
  endedPods,
  recreatedPod,
};
