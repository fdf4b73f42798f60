/**
 * Scenes of `draw-settled.ts` about what is kept, and let go: Subnets that another program keeps, IP objects that somebody edits under their pods,
 * ports that say no more whose they are, StatefulSets and machines that are there no longer, requests that nobody can answer.
 */
import { kilnAnnotation, LEGACY_FINALIZERS, podAnnotation } from '../../../../src/api/well-known.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import { IPS, MACHINES, PODS, podSpec, STATEFUL_SETS, SUBNETS, VPCS } from '../operations.ts';
import { doing } from './incidents.ts';
import { OTHERS_DOMAIN } from '../../steps/step.ts';
import type { Random } from '../random.ts';
import { create, edit, vanish, wait } from './steps.ts';
import { inNamespace, pod } from './settled-lives.ts';
import type { ApiPath, Step } from '../../steps/step.ts';

const REST: Step = { kind: 'rest' };
const THEIRS = `${OTHERS_DOMAIN}keep`;
const [NAMESPACE, SUBNET] = ['kept-on', 'k0'];
const ON: JsonObject = { [podAnnotation('ovn', 'logical_switch')]: SUBNET };

const SCENES = { detained: 2, edited: 2, disowned: 2, going: 2, former: 3, asked: 3, reserved: 1, elsewhere: 3, joint: 2 } as const;

export function drawKept(random: Random): readonly Step[] {
  // Before anybody else does something to them.
  return [...scene(random), ...scene(random), ...scene(random), REST];
}

function scene(random: Random): readonly Step[] {
  switch (random.weighted(SCENES)) {
    case 'detained':
      return detained(random);
    case 'edited':
      return edited(random);
    case 'disowned':
      return disowned();
    case 'going':
      return going();
    case 'former':
      return former();
    case 'asked':
      return asked(random);
    case 'reserved':
      return reserved();
    case 'elsewhere':
      return elsewhere();
    case 'joint':
      return joint(random);
  }
}

function place(): readonly Step[] {
  return [create(SUBNETS, SUBNET, { cidrBlock: '10.69.0.0/24' }), inNamespace(NAMESPACE), wait(1_000)];
}

function gone(name: string): Step {
  return doing({ do: 'delete', path: PODS, namespace: NAMESPACE, name, grace: 0 });
}

function without(path: ApiPath, name: string): Step {
  return doing({ do: 'delete', path, namespace: '', name });
}

/** Somebody takes Kiln's finalizer from a Subnet that goes, and another program's stays: its Vpc waits for who is in it, and not for the object. */
export function detained(random: Random): readonly Step[] {
  return [
    ...[inNamespace(NAMESPACE), create(VPCS, 'kv', {}), create(SUBNETS, 'k1', { cidrBlock: '10.59.0.0/24', vpc: 'kv' }), wait(1_500)],
    ...[...pod(NAMESPACE, 'kd', { [podAnnotation('ovn', 'logical_switch')]: 'k1' }), REST],
    doing({ do: 'edit', path: SUBNETS, namespace: '', name: 'k1', patch: { metadata: { finalizers: [THEIRS] } } }),
    without(SUBNETS, 'k1'),
    wait(random.pick([5, 1_000])),
    doing({ do: 'edit', path: SUBNETS, namespace: '', name: 'k1', patch: { metadata: { finalizers: [THEIRS] } } }),
    ...[wait(500), without(VPCS, 'kv'), wait(1_000), REST],
    ...[gone('kd'), wait(1_000), REST],
    vanish(SUBNETS, 'k1'),
  ];
}

/** An IP object that is said to be another pod's goes, and its pod, which runs, has one of its own. */
export function edited(random: Random): readonly Step[] {
  return [
    ...place(),
    ...pod(NAMESPACE, 'ke', ON),
    ...(random.chance(0.5) ? [REST] : []),
    edit(IPS, `ke.${NAMESPACE}`, random.pick<JsonObject>([{ podName: 'nobody' }, { namespace: 'default' }])),
    wait(1_000),
  ];
}

/** A pod goes, and in the same moment its port says no more whose it is. */
export function disowned(): readonly Step[] {
  return [
    ...place(),
    ...pod(NAMESPACE, 'kf', ON),
    gone('kf'),
    doing({ do: 'row', table: 'Logical_Switch_Port', place: 0, name: `kf.${NAMESPACE}`, change: { kind: 'forget-owner' } }),
    wait(1_000),
  ];
}

function set(name: string, metadata: JsonObject): Step {
  const labels = { app: name };
  const template = { metadata: { labels, annotations: ON }, spec: podSpec() };
  const spec = { replicas: 1, serviceName: name, selector: { matchLabels: labels }, template };
  const object = { metadata: { name, namespace: NAMESPACE, ...metadata }, spec };
  return doing({ do: 'create', path: STATEFUL_SETS, namespace: NAMESPACE, object });
}

/** A StatefulSet that is deleted and waits for another program makes no pods any more. */
export function going(): readonly Step[] {
  return [
    ...[...place(), set('kg', { finalizers: [THEIRS] }), wait(2_000), REST],
    doing({ do: 'delete', path: STATEFUL_SETS, namespace: NAMESPACE, name: 'kg' }),
    ...[gone('kg-0'), wait(1_000), REST],
    doing({ do: 'vanish', path: STATEFUL_SETS, namespace: NAMESPACE, name: 'kg' }),
  ];
}

/** The next pod of a StatefulSet is declared elsewhere before anybody has seen it: what was kept for it goes. */
export function elsewhere(): readonly Step[] {
  const annotations = { [podAnnotation('ovn', 'logical_switch')]: 'k2' };
  return [
    ...[...place(), create(SUBNETS, 'k2', { cidrBlock: '10.57.0.0/24' }), set('kq', {}), wait(2_000), REST],
    ...['a', 'b'].map((controller): Step => ({ kind: 'fault', fault: 'stop', controller, ms: 1_500, asleep: false })),
    ...[gone('kq-0'), wait(500)],
    doing({ do: 'edit', path: PODS, namespace: NAMESPACE, name: 'kq-0', patch: { metadata: { annotations } } }),
    wait(3_000),
  ];
}

/** From a backup: the IP object of a machine that was there before the one that has its name. */
export function former(): readonly Step[] {
  const annotations = { [kilnAnnotation.podUid]: 'a-former-pod', [kilnAnnotation.ownerUid]: 'a-former-machine' };
  const spec = { subnet: SUBNET, podName: 'km', namespace: NAMESPACE, podType: 'VirtualMachine' };
  const address = { ipAddress: '10.69.0.60', v4IpAddress: '10.69.0.60', macAddress: '0a:00:00:00:0c:01' };
  return [
    ...place(),
    doing({ do: 'create', path: MACHINES, namespace: NAMESPACE, object: { metadata: { name: 'km', namespace: NAMESPACE }, spec: {} } }),
    create(IPS, `km.${NAMESPACE}`, { ...spec, ...address }, { annotations, finalizers: [LEGACY_FINALIZERS[0] ?? ''] }),
    wait(1_000),
  ];
}

/** An address is asked for where there is none, for some seconds: it is not asked for any more when these are over. */
export function asked(random: Random): readonly Step[] {
  const annotations = { [kilnAnnotation.lease]: '3s' };
  const subnet = random.pick([SUBNET, 'nowhere']);
  const spec = { subnet, podName: 'kh', namespace: NAMESPACE, podType: '', ipAddress: subnet === SUBNET ? '10.58.0.9' : '' };
  return [...place(), create(IPS, `kh.${NAMESPACE}`, spec, { annotations }), wait(70_000)];
}

/** A person keeps the address of a pod that comes, and goes. */
export function reserved(): readonly Step[] {
  const spec = { subnet: SUBNET, podName: 'ki', namespace: NAMESPACE, podType: '' };
  return [...place(), create(IPS, `ki.${NAMESPACE}`, spec), wait(1_000), ...pod(NAMESPACE, 'ki', ON), gone('ki'), wait(1_000)];
}

/** Another program puts its finalizer on an object right before a controller writes its own. */
export function joint(random: Random): readonly Step[] {
  const rush: Step = { kind: 'fault', fault: 'overtake', how: 'claim' };
  const [path, name, spec] = random.pick<readonly [ApiPath, string, JsonObject]>([
    [VPCS, 'kw', {}],
    [SUBNETS, 'k8', { cidrBlock: '10.55.0.0/24' }],
  ]);
  return [REST, rush, create(path, name, spec), wait(1_000), REST, vanish(path, name)];
}
