/**
 * Scenes of `draw-seldom.ts` about who comes, has, moves and goes: StatefulSets that do not count from zero, Namespaces that wait for their
 * Subnet, Vips of a type, what was asked for in vain and is not any more, a machine that has moved, nodes of both families, pods that are
 * over or take their time.
 */
import { annotationKey, JOIN_SUBNET, kilnAnnotation, MIGRATION_JOB_LABEL } from '../../../../src/api/well-known.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import { doing } from './incidents.ts';
import { INSTANCES, IPS, MACHINES, NAMESPACES, NODES, OVN_EIPS, PODS, podSpec, STATEFUL_SETS, SUBNETS, VIPS } from '../operations.ts';
import type { Random } from '../random.ts';
import { create, edit, NAMESPACE, place, pod, SUBNET, vanish, wait, within } from './steps.ts';
import type { SimulatedCluster } from '../../cluster/simulated-cluster.ts';
import type { Step } from '../../steps/step.ts';

/** A StatefulSet whose first pod is not number 0, and that is made smaller or shifted. */
export function counted(random: Random): readonly Step[] {
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
export function awaited(random: Random): readonly Step[] {
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
export function typed(random: Random): readonly Step[] {
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
export function rival(random: Random): readonly Step[] {
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
export function taken(random: Random): readonly Step[] {
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
export function moved(random: Random, cluster: SimulatedCluster): readonly Step[] {
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
export function families(): readonly Step[] {
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
export function ended(random: Random): readonly Step[] {
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
export function patient(random: Random): readonly Step[] {
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
export function leaving(random: Random): readonly Step[] {
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
