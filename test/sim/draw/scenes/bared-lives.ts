/**
 * Scenes of `draw-settled.ts` about what stays though somebody takes away what says so: the network of a pod that nothing but its port speaks of,
 * the address of a Vip that a pod has; and about who has led, and does not know yet that another does since.
 */
import { annotationKey, podAnnotation } from '../../../../src/api/well-known.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import { IPS, PODS, podSpec, SUBNETS, VIPS } from '../operations.ts';
import { doing } from './incidents.ts';
import type { Random } from '../random.ts';
import { create, vanish, wait } from './steps.ts';
import { inNamespace, pod } from './settled-lives.ts';
import type { SimulatedCluster } from '../../cluster/simulated-cluster.ts';
import type { Step } from '../../steps/step.ts';

const REST: Step = { kind: 'rest' };
const NAMESPACE = 'bared';

export function drawBared(random: Random, cluster: SimulatedCluster): readonly Step[] {
  return [...slept(cluster), ...bared(random), ...shared(random)];
}

/** The machine of who leads sleeps until another leads, and pods come when it wakes: it writes for them as long as it takes to be told, and no longer. */
function slept(cluster: SimulatedCluster): readonly Step[] {
  const [leader] = cluster.leaders;
  if (leader === undefined || cluster.controllers.size < 2) return [];
  const names = ['s0', 's1', 's2', 's3', 's4'];
  const where = { path: PODS, namespace: NAMESPACE };
  const come = (name: string): Step =>
    doing({ do: 'create', ...where, object: { metadata: { name, namespace: NAMESPACE }, spec: { ...podSpec(), nodeName: 'n0' } } });
  return [
    ...[inNamespace(NAMESPACE), ...names.map((name) => doing({ do: 'delete', ...where, name, grace: 0 })), wait(1_000)],
    { kind: 'fault', fault: 'stop', controller: leader.name, ms: 45_000, asleep: true },
    wait(44_990),
    // Else it asks for its Lease as it wakes, and knows.
    { kind: 'fault', fault: 'api', what: { sort: 'lease', fate: 'unavailable', after: 0, times: 2 } },
    wait(20),
    ...names.flatMap((name) => [come(name), wait(100)]),
  ];
}

const SAID = ['allocated', 'ip_address', 'mac_address', 'cidr', 'gateway'] as const;

/** A Subnet is to go, and somebody takes away all that says who has addresses of it but the port: the pod runs on, and the Subnet waits for it. */
function bared(random: Random): readonly Step[] {
  const annotations = Object.fromEntries(SAID.map((suffix): [string, null] => [podAnnotation('ovn', suffix), null]));
  const patch: JsonObject = { metadata: { annotations } };
  return [
    ...[inNamespace(NAMESPACE), create(SUBNETS, 'z7', { cidrBlock: '10.47.0.0/24' }), wait(1_500)],
    ...pod(NAMESPACE, 'kb', { [podAnnotation('ovn', 'logical_switch')]: 'z7' }),
    ...[REST, doing({ do: 'delete', path: SUBNETS, namespace: '', name: 'z7' }), wait(random.pick([1, 1_000]))],
    doing({ do: 'edit', path: PODS, namespace: NAMESPACE, name: 'kb', patch }),
    ...[vanish(IPS, `kb.${NAMESPACE}`), wait(1_000), REST],
    ...[doing({ do: 'delete', path: PODS, namespace: NAMESPACE, name: 'kb', grace: 0 }), wait(500)],
  ];
}

/** A Vip that a pod was given is made again: it has its address again, together with the pod. */
function shared(random: Random): readonly Step[] {
  return [
    ...[inNamespace(NAMESPACE), create(SUBNETS, 'z6', { cidrBlock: '10.46.0.0/24' }), wait(1_500)],
    ...[create(VIPS, 'zvip', { subnet: 'z6', namespace: NAMESPACE }), wait(500)],
    ...pod(NAMESPACE, 'ks', { [annotationKey.vip]: 'zvip' }),
    ...(random.chance(0.5) ? [REST] : []),
    doing({ do: 'recreate', path: VIPS, namespace: '', name: 'zvip' }),
    wait(1_000),
  ];
}
