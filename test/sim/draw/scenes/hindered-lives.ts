/**
 * Scenes of `draw-settled.ts` about what is in somebody's way, and goes again or not: a port of another program with an address of a Subnet, an IP object
 * by the name of a node's, one of two networks that has no room, an IP object that is taken away while nobody looks; and pods that go on elsewhere.
 */
import { annotationKey, labelKey, podAnnotation } from '../../../../src/api/well-known.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import { IPS, NETWORKS, node, NODES, PODS, podSpec, STATEFUL_SETS, SUBNETS, VIPS, VPCS } from '../operations.ts';
import { doing } from './incidents.ts';
import type { Random } from '../random.ts';
import { create, edit, vanish, wait } from './steps.ts';
import { inNamespace, pod } from './settled-lives.ts';
import type { Step } from '../../steps/step.ts';

const REST: Step = { kind: 'rest' };
const NAMESPACE = 'hindered';
const RESERVED = { [labelKey.ipReserved]: 'true' };
/** Longer than a label's value may be. */
const LONG_NODE = `n${'9'.repeat(70)}`;

const SCENES = { squatted: 2, joining: 2, spared: 2, bereft: 1, carried: 2, alike: 2 } as const;

export function drawHindered(random: Random): readonly Step[] {
  switch (random.weighted(SCENES)) {
    case 'squatted':
      return squatted(random);
    case 'joining':
      return joining(random);
    case 'spared':
      return spared(random);
    case 'bereft':
      return bereft();
    case 'carried':
      return carried(random);
    case 'alike':
      return alike(random);
  }
}

/**
 * Names that are one where they are put together: the router port of both Subnets is ha-hb-hc. Either comes first, and who had the name goes
 * again or not.
 */
function alike(random: Random): readonly Step[] {
  const networks = [
    [create(VPCS, 'ha', {}), create(SUBNETS, 'hb-hc', { vpc: 'ha', cidrBlock: '10.57.0.0/24' })],
    [create(VPCS, 'ha-hb', {}), create(SUBNETS, 'hc', { vpc: 'ha-hb', cidrBlock: '10.57.1.0/24' })],
  ];
  return [
    ...(random.chance(0.5) ? networks : networks.toReversed()).flatMap((steps) => [...steps, wait(random.pick([0, 1_500]))]),
    REST,
    ...(random.chance(0.5) ? [doing({ do: 'delete', path: SUBNETS, namespace: '', name: random.pick(['hc', 'hb-hc']) }), wait(500)] : []),
  ];
}

function gone(name: string): Step {
  return doing({ do: 'delete', path: PODS, namespace: NAMESPACE, name, grace: 0 });
}

function on(subnet: string): JsonObject {
  return { [podAnnotation('ovn', 'logical_switch')]: subnet };
}

/** Another program has a port in the switch of a Subnet, with the address that the next pod would be given. */
function squatted(random: Random): readonly Step[] {
  const stranger = { do: 'foreign', name: `z${random.below(3)}` } as const;
  const addresses = `0a:00:00:00:0d:01 10.56.0.${random.pick([2, 3, 4])}`;
  return [
    create(SUBNETS, 'h0', { cidrBlock: '10.56.0.0/28' }),
    ...[inNamespace(NAMESPACE), wait(1_500)],
    doing({ ...stranger, what: 'port-in-ours', into: 'h0', addresses }),
    ...(random.chance(0.5) ? [REST] : [wait(500)]),
    ...pod(NAMESPACE, 'h0', on('h0')),
    ...pod(NAMESPACE, 'h1', on('h0')),
    ...(random.chance(0.3) ? [REST, doing({ ...stranger, what: 'remove' }), wait(500)] : []),
  ];
}

/** An IP object with the name of a node's is there for a pod: the node waits, and joins when that is gone. */
function joining(random: Random): readonly Step[] {
  const [name, ip] = ['n7', 'node-n7'];
  return [
    doing({ do: 'delete', path: NODES, namespace: '', name }),
    ...[wait(2_000), vanish(IPS, ip)],
    create(IPS, ip, { subnet: 'ovn-default', podName: 'elsewhere', namespace: NAMESPACE, podType: '' }, { labels: RESERVED }),
    wait(1_000),
    doing(node(name)),
    ...(random.chance(0.5) ? [REST] : [wait(2_000)]),
    ...[vanish(IPS, ip), wait(2_000)],
    ...(random.chance(0.5) ? [REST, doing({ do: 'delete', path: NODES, namespace: '', name })] : []),
  ];
}

/** A pod of two networks, of which its own has no room: it has neither, and is told what both lack when the other one fills up meanwhile. */
function spared(random: Random): readonly Step[] {
  const [own, other, network] = ['h1', 'h2', 'hnet'];
  const provider = `${network}.${NAMESPACE}.ovn`;
  const definition = { metadata: { name: network, namespace: NAMESPACE }, spec: { config: '{"cniVersion":"0.3.0","type":"kube-ovn"}' } };
  const full = ['10.57.0.1..10.57.0.2'];
  return [
    create(SUBNETS, own, { cidrBlock: '10.57.0.0/30', excludeIps: full }),
    create(SUBNETS, other, { cidrBlock: '10.57.1.0/30', provider }),
    inNamespace(NAMESPACE),
    doing({ do: 'create', path: NETWORKS, namespace: NAMESPACE, object: definition }),
    ...[edit(SUBNETS, own, { excludeIps: full }), vanish(VIPS, 'hvip'), wait(1_500)],
    ...pod(NAMESPACE, 'h2', { ...on(own), [annotationKey.networkAttachments]: `${NAMESPACE}/${network}` }),
    ...(random.chance(0.5) ? [REST] : []),
    ...[create(VIPS, 'hvip', { subnet: other }), wait(1_000)],
    ...(random.chance(0.5) ? [REST, vanish(VIPS, 'hvip'), wait(500)] : []),
    ...(random.chance(0.5) ? [edit(SUBNETS, own, { excludeIps: ['10.57.0.1'] }), wait(1_000)] : []),
  ];
}

/** While no controller runs, somebody takes the IP object of a StatefulSet's pod away: what it was told, and its port, say what it has. */
function bereft(): readonly Step[] {
  const [name, labels] = ['hs', { app: 'hs' }];
  const spec = { replicas: 1, serviceName: name, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec() } };
  return [
    inNamespace(NAMESPACE),
    doing({ do: 'create', path: STATEFUL_SETS, namespace: NAMESPACE, object: { metadata: { name, namespace: NAMESPACE }, spec } }),
    ...[gone('h5'), wait(2_000), REST],
    { kind: 'fault', fault: 'kill', controller: 'a', afterWrites: 0, restartMs: 4_000 },
    // Its next write is its last.
    ...pod(NAMESPACE, 'h5'),
    ...[vanish(IPS, `${name}-0.${NAMESPACE}`), wait(5_000), REST],
  ];
}

/** An address that is kept goes with its pod from node to node; not every name of a node can be a label. */
function carried(random: Random): readonly Step[] {
  const ip = `h4.${NAMESPACE}`;
  const at = (nodeName: string): Step => {
    const metadata = { name: 'h4', namespace: NAMESPACE };
    return doing({ do: 'create', path: PODS, namespace: NAMESPACE, object: { metadata, spec: { ...podSpec(), nodeName } } });
  };
  return [
    inNamespace(NAMESPACE),
    gone('h4'),
    create(IPS, ip, { subnet: 'ovn-default', podName: 'h4', namespace: NAMESPACE, podType: '' }, { labels: RESERVED }),
    ...[wait(500), at('n0'), wait(1_500)],
    ...(random.chance(0.5) ? [REST] : []),
    ...[gone('h4'), ...(random.chance(0.5) ? [wait(500)] : []), at(random.pick(['n1', LONG_NODE])), wait(1_500)],
    REST,
  ];
}
