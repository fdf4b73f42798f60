/**
 * Scenes of `draw-settled.ts` about who is beside a controller: other programs that have a name of Kiln's, or write into rows of Kiln's; objects that older
 * versions of Kube-OVN left; what is seen late; an API server that takes nothing for minutes, or nothing of the Lease alone; and many who are to be evicted.
 */
import { routerToSwitchPort, subnetNodePortGroup } from '../../../../src/api/names.ts';
import { DEFAULT_VPC, kilnAnnotation, LEGACY_FINALIZERS, podAnnotation } from '../../../../src/api/well-known.ts';
import { NAMESPACES, PODS, podSpec, STATEFUL_SETS, SUBNETS, VPCS } from '../operations.ts';
import { doing } from './incidents.ts';
import { OTHERS_DOMAIN } from '../../steps/step.ts';
import type { Random } from '../random.ts';
import { create, vanish, wait } from './steps.ts';
import { inNamespace, pod } from './settled-lives.ts';
import type { SimulatedCluster } from '../../cluster/simulated-cluster.ts';
import type { Step } from '../../steps/step.ts';
import { OTHER_VENDOR } from '../../judges/foreign-columns.ts';

const SCENES = { rows: 6, behind: 1, outage: 3, cut: 3, many: 2 } as const;
const NAMESPACE = 'neighbours';
const REST: Step = { kind: 'rest' };
const TABLES = ['Logical_Switch_Port', 'Logical_Switch', 'Logical_Router_Port', 'Port_Group', 'DHCP_Options'];

export function drawNeighbours(random: Random, cluster: SimulatedCluster): readonly Step[] {
  switch (random.weighted(SCENES)) {
    case 'rows':
      return [...namesake(random), ...written(random), ...disowned(random)];
    case 'behind':
      return behind(random);
    case 'outage':
      return outage();
    case 'cut':
      return cut(cluster);
    case 'many':
      return many();
  }
}

function gone(name: string): Step {
  return doing({ do: 'delete', path: PODS, namespace: NAMESPACE, name, grace: 0 });
}

function place(): readonly Step[] {
  return [inNamespace(NAMESPACE), create(SUBNETS, 'q0', { cidrBlock: '10.44.0.0/24,fd00:44::/120' }), wait(1_500)];
}

/** Another program has a port in a switch of Kiln's under the name that a pod's would have: the pod is told, and has its own when that is gone. */
function namesake(random: Random): readonly Step[] {
  const [name, stranger] = ['b0', { do: 'foreign', name: 'z9' } as const];
  return [
    ...[...place(), gone(name), wait(500)],
    doing({ ...stranger, what: 'port-in-ours', into: 'q0', called: `${name}.${NAMESPACE}` }),
    ...pod(NAMESPACE, name, { [podAnnotation('ovn', 'logical_switch')]: 'q0' }),
    ...(random.chance(0.3) ? [REST] : []),
    ...[doing({ ...stranger, what: 'remove' }), wait(1_000)],
  ];
}

/** Keys of another vendor in rows of Kiln's, and a network more on one of its router ports; a Vpc that an older version of Kube-OVN made. */
function written(random: Random): readonly Step[] {
  const networks = ['set', ['10.44.0.1/24', 'fd00:44::1/120', '10.251.0.1/24']];
  const keys = { [`${OTHER_VENDOR}port_name`]: 'theirs' };
  const port = routerToSwitchPort(DEFAULT_VPC, 'q0');
  return [
    ...[vanish(VPCS, 'qv'), create(VPCS, 'qv', {}, { finalizers: [LEGACY_FINALIZERS[0] ?? ''] }), ...place()],
    ...TABLES.map((table) => doing({ do: 'row', table, place: random.below(40), change: { kind: 'keys', column: 'external_ids', keys } })),
    doing({ do: 'row', table: 'Logical_Router_Port', place: 0, name: port, change: { kind: 'set', columns: { networks } } }),
    wait(300),
  ];
}

/** A group loses its ports, or a pod comes to a switch, and right before that is written the row is another program's: nothing is put into it. */
function disowned(random: Random): readonly Step[] {
  const name = 'b8';
  const group = subnetNodePortGroup('q3', 'n0');
  const coming = pod(NAMESPACE, name, { [podAnnotation('ovn', 'logical_switch')]: 'q3' });
  const race: Step = { kind: 'fault', fault: 'race', how: 'disown' };
  return [
    ...[...place(), create(SUBNETS, 'q3', { cidrBlock: '10.42.0.0/24' }), wait(1_500)],
    ...(random.chance(0.5)
      ? [
          ...coming,
          race,
          doing({ do: 'row', table: 'Port_Group', place: 0, name: group, change: { kind: 'clear-members', column: 'ports' } }),
        ]
      : [gone(name), wait(1_000), race, ...coming]),
    wait(500),
    ...(random.chance(0.5) ? [doing({ do: 'foreign', name: 'race', what: 'remove' }), wait(500)] : []),
  ];
}

/** Somebody writes a Subnet, and it takes a while until controllers see it: what they write for the version before is refused, and tried again now and then. */
function behind(random: Random): readonly Step[] {
  const patch = { metadata: { labels: { [`${OTHERS_DOMAIN}seen`]: String(random.below(1_000)) } } };
  return [
    ...[...place(), wait(1_500)],
    { kind: 'fault', fault: 'delay', plural: 'subnets', ms: 2_000 },
    doing({ do: 'edit', path: SUBNETS, namespace: '', name: 'q0', patch }),
    ...[...pod(NAMESPACE, 'b9', { [podAnnotation('ovn', 'logical_switch')]: 'q0' }), wait(2_000)],
    { kind: 'fault', fault: 'delay', plural: 'subnets', ms: 0 },
    wait(500),
  ];
}

/** The API server takes no write for longer than one is tried again: all is carried out once it does. */
function outage(): readonly Step[] {
  return [
    ...place(),
    { kind: 'fault', fault: 'api', what: { sort: 'write', fate: 'unavailable', after: 0, times: 10_000 } },
    ...[create(SUBNETS, 'q1', { cidrBlock: '10.45.0.0/24' }), ...pod(NAMESPACE, 'b1'), wait(75_000), REST],
  ];
}

/** Who leads cannot renew its Lease, and nothing else is wrong: another leads when that is over, and this one writes no more. */
function cut(cluster: SimulatedCluster): readonly Step[] {
  const [leader] = cluster.leaders;
  if (leader === undefined || cluster.controllers.size < 2) return [];
  const names = ['b2', 'b3', 'b4', 'b5', 'b6', 'b7'];
  const come = (name: string): Step =>
    doing({
      ...{ do: 'create', path: PODS, namespace: NAMESPACE },
      object: { metadata: { name, namespace: NAMESPACE }, spec: { ...podSpec(), nodeName: 'n0' } },
    });
  return [
    ...[...place(), ...names.map(gone), wait(500)],
    { kind: 'fault', fault: 'lease-cut', controller: leader.name, ms: 70_000 },
    wait(33_000),
    ...names.flatMap((name) => [come(name), wait(3_000)]),
  ];
}

/** A Subnet comes to a Namespace, and all pods of a large StatefulSet are in another one: a few of them leave at a time. */
function many(): readonly Step[] {
  const [namespace, name] = ['neighbours-b', 'many'];
  const labels = { app: name };
  const spec = { replicas: 8, serviceName: name, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec() } };
  const metadata = { annotations: { [kilnAnnotation.misbound]: 'evict' } };
  return [
    ...[vanish(SUBNETS, 'q2'), inNamespace(namespace), wait(1_000)],
    doing({ do: 'edit', path: NAMESPACES, namespace: '', name: namespace, patch: { metadata } }),
    doing({ do: 'create', path: STATEFUL_SETS, namespace, object: { metadata: { name, namespace }, spec } }),
    wait(3_000),
    create(SUBNETS, 'q2', { cidrBlock: '10.43.0.0/24', namespaces: [namespace] }),
    wait(3_000),
  ];
}
