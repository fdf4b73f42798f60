/**
 * Scenes of `draw-settled.ts` about whose a pod is: Namespaces that something claims which is not to have them, or that wait for a pool, pods that
 * are to be moved and those that are not, and networks that are torn out together with all that says who is in them.
 */
import { kilnAnnotation, podAnnotation } from '../../../../src/api/well-known.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import { IP_POOLS, IPS, NAMESPACES, OVN_EIPS, PODS, podSpec, STATEFUL_SETS, SUBNETS, VIPS, VPCS } from '../operations.ts';
import { doing } from './incidents.ts';
import type { Random } from '../random.ts';
import { create, edit, vanish, wait } from './steps.ts';
import { inNamespace, pod } from './settled-lives.ts';
import type { Step } from '../../steps/step.ts';

const REST: Step = { kind: 'rest' };

function gone(namespace: string, name: string): Step {
  return doing({ do: 'delete', path: PODS, namespace, name, grace: 0 });
}

function saying(namespace: string, annotations: JsonObject): Step {
  return doing({ do: 'edit', path: NAMESPACES, namespace: '', name: namespace, patch: { metadata: { annotations } } });
}

function set(namespace: string, name: string): Step {
  const labels = { app: name };
  const spec = { replicas: 1, serviceName: name, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec() } };
  return doing({ do: 'create', path: STATEFUL_SETS, namespace, object: { metadata: { name, namespace }, spec } });
}

/** What claims a Namespace and does not serve it: a Vpc that of the cluster's own, one whose default Subnet is elsewhere, a Subnet for attachments. */
export function claimed(random: Random): readonly Step[] {
  const namespace = random.pick(['claimed-b', 'claimed-c', 'claimed-d']);
  const own = 'kube-system';
  const claim = {
    'claimed-b': [
      create(SUBNETS, 'c1', { cidrBlock: '10.61.0.0/24' }),
      wait(1_000),
      create(VPCS, 'cw', { namespaces: [namespace], defaultSubnet: 'c1' }),
    ],
    'claimed-c': [create(SUBNETS, 'c2', { cidrBlock: '10.62.0.0/24', provider: 'cnet.claimed-c.ovn', namespaces: [namespace] })],
    'claimed-d': [
      create(SUBNETS, 'c3', { cidrBlock: '10.63.0.0/24', namespaces: [namespace] }),
      saying(namespace, { [kilnAnnotation.awaitIpPool]: random.pick(['true', 'cpool']) }),
    ],
  }[namespace];
  const pool = create(IP_POOLS, 'cpool', { subnet: 'c3', ips: ['10.63.0.64/28'], namespaces: [namespace] });
  return [
    create(VPCS, 'cv', { namespaces: [own], defaultSubnet: 'c0' }),
    create(SUBNETS, 'c0', { cidrBlock: '10.60.0.0/24', vpc: 'cv' }),
    inNamespace(namespace),
    ...(claim ?? []),
    wait(1_500),
    REST,
    ...pod(own, 'cp'),
    ...pod(namespace, 'cp'),
    // Before anything else decides.
    REST,
    ...(namespace !== 'claimed-d' ? [] : random.chance(0.5) ? [pool, wait(1_000)] : [vanish(IP_POOLS, 'cpool')]),
    gone(own, 'cp'),
    gone(namespace, 'cp'),
    wait(500),
  ];
}

/** Pods may be moved: those that nothing would make again stay, and all while there is nowhere to go; a pool takes the next pod of a StatefulSet. */
export function movable(random: Random): readonly Step[] {
  const [plain, pooled] = ['movable-a', 'movable-b'];
  const isRefused = random.chance(0.4);
  // Refused, as its network is another's in that Vpc.
  const coming = create(SUBNETS, 'c4', { cidrBlock: isRefused ? '10.16.0.0/20' : '10.64.0.0/24', namespaces: [plain] });
  return [
    ...[vanish(SUBNETS, 'c4'), inNamespace(plain), saying(plain, { [kilnAnnotation.misbound]: null }), set(plain, 'cs')],
    ...[vanish(IP_POOLS, 'cq'), inNamespace(pooled), saying(pooled, { [kilnAnnotation.misbound]: 'rebind' })],
    ...[create(SUBNETS, 'c5', { cidrBlock: '10.65.0.0/24', namespaces: [pooled] }), set(pooled, 'ct'), wait(2_000)],
    create(IP_POOLS, 'cq', { subnet: 'c5', ips: ['10.65.0.128/28'], namespaces: [pooled] }),
    ...pod(plain, 'cb'),
    ...(isRefused ? [coming, wait(1_000)] : []),
    REST,
    saying(plain, { [kilnAnnotation.misbound]: 'evict' }),
    ...(isRefused ? [] : [coming]),
    gone(pooled, 'ct-0'),
    wait(2_000),
  ];
}

/** A Subnet is torn out, and in the same moment the IP objects that name it: its network stays for the pods that run in it, as they were told. */
export function torn(random: Random): readonly Step[] {
  const namespace = 'torn';
  const names = ['w0', 'w1'];
  return [
    create(SUBNETS, 'c6', { cidrBlock: '10.66.0.0/24' }),
    inNamespace(namespace),
    wait(1_000),
    ...names.flatMap((name) => pod(namespace, name, { [podAnnotation('ovn', 'logical_switch')]: 'c6' })),
    REST,
    vanish(SUBNETS, 'c6'),
    ...names.map((name) => vanish(IPS, `${name}.${namespace}`)),
    wait(1_000),
    ...(random.chance(0.5) ? [REST] : []),
    ...(random.chance(0.5) ? [gone(namespace, 'w1'), wait(500)] : []),
    ...(random.chance(0.5) ? [create(SUBNETS, 'c6', { cidrBlock: '10.66.0.0/24' }), wait(1_000)] : []),
  ];
}

/** A Subnet is torn out under a Vip, an EIP or a pod, and its Vpc is to go: that waits, with its router, until nobody is left in the network. */
export function unmoored(random: Random): readonly Step[] {
  const namespace = 'torn';
  const who = random.pick(['vip', 'eip', 'pod'] as const);
  const coming = {
    vip: [create(VIPS, 'cvip', { subnet: 'c8' })],
    eip: [create(OVN_EIPS, 'ceip', { externalSubnet: 'c8' })],
    pod: pod(namespace, 'w2', { [podAnnotation('ovn', 'logical_switch')]: 'c8' }),
  }[who];
  const going = {
    vip: doing({ do: 'delete', path: VIPS, namespace: '', name: 'cvip' }),
    eip: doing({ do: 'delete', path: OVN_EIPS, namespace: '', name: 'ceip' }),
    pod: gone(namespace, 'w2'),
  }[who];
  return [
    ...[inNamespace(namespace), create(VPCS, 'cx', {}), create(SUBNETS, 'c8', { cidrBlock: '10.68.0.0/24', vpc: 'cx' }), wait(1_500)],
    ...[...coming, wait(500), REST],
    ...[vanish(SUBNETS, 'c8'), vanish(IPS, `w2.${namespace}`), wait(random.pick([1, 1_000]))],
    ...(random.chance(0.3) ? [REST] : []),
    ...[doing({ do: 'delete', path: VPCS, namespace: '', name: 'cx' }), wait(1_000), REST],
    ...[going, wait(1_000)],
  ];
}

/** The network of a StatefulSet is made smaller under its pod: the next one has an address of what is left. */
export function shrunk(random: Random): readonly Step[] {
  const namespace = 'shrunk';
  const whole = { cidrBlock: '10.67.0.0/24', gateway: '10.67.0.1' };
  return [
    create(SUBNETS, 'c7', { ...whole, namespaces: [namespace], excludeIps: ['10.67.0.1..10.67.0.199'] }),
    ...[edit(SUBNETS, 'c7', { ...whole, excludeIps: ['10.67.0.1..10.67.0.199'] }), wait(500)],
    ...[inNamespace(namespace), gone(namespace, 'cu-0'), set(namespace, 'cu'), wait(2_000)],
    edit(SUBNETS, 'c7', { ...whole, cidrBlock: '10.67.0.0/25', excludeIps: ['10.67.0.1'] }),
    wait(1_000),
    ...(random.chance(0.5) ? [REST] : []),
    gone(namespace, 'cu-0'),
    wait(2_000),
  ];
}
