/**
 * Draws what happens after something else has come to rest: who comes to a Subnet or a Vpc that is being deleted for long, a network that is made
 * smaller under those who are in it, pods and nodes that are made again at once, what other programs write on objects and into rows of Kiln's. More of them: `settled-lives.ts`, `claimed-lives.ts`, `undone-lives.ts`, `kept-lives.ts`, `bared-lives.ts`, `hindered-lives.ts`, `neighbour-lives.ts`, `overlooked-lives.ts`.
 *
 * From a generator of its own, as `draw-broad.ts`.
 */
import { routerToSwitchPort } from '../../../../src/api/names.ts';
import { DEFAULT_VPC, LEGACY_FINALIZERS } from '../../../../src/api/well-known.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import { drawBared } from './bared-lives.ts';
import { claimed, movable, shrunk, torn, unmoored } from './claimed-lives.ts';
import { IP_POOLS, NAMESPACES, NODES, OVN_EIPS, PODS, podSpec, SUBNETS, VIPS, VPCS } from '../operations.ts';
import { doing } from './incidents.ts';
import { drawCoveted } from './coveted-lives.ts';
import { drawHindered } from './hindered-lives.ts';
import { drawKept } from './kept-lives.ts';
import { drawNeighbours } from './neighbour-lives.ts';
import { drawOverlooked } from './overlooked-lives.ts';
import { OTHERS_DOMAIN } from '../../steps/step.ts';
import type { Random } from '../random.ts';
import { create, edit, wait } from './steps.ts';
import { faulty, listed, pooled, several, used } from './settled-lives.ts';
import type { SimulatedCluster } from '../../cluster/simulated-cluster.ts';
import type { ApiPath, Step } from '../../steps/step.ts';
import { undone } from './undone-lives.ts';

const SCENES = {
  late: 3,
  narrowed: 3,
  again: 3,
  node: 1,
  theirs: 3,
  overlap: 2,
  listed: 2,
  several: 3,
  pooled: 2,
  faulty: 2,
  used: 2,
  claimed: 4,
  movable: 3,
  torn: 2,
  shrunk: 1,
  unmoored: 2,
  bared: 2,
  undone: 9,
  kept: 6,
  hindered: 12,
  coveted: 8,
  neighbours: 20,
  overlooked: 30,
} as const;

/** Names that no other draw has. */
const NAMESPACE = 'settled';
const [VPC, IN_VPC, GOING, SHRINKING] = ['lv', 'l1', 'l0', 'l2'];
const REST: Step = { kind: 'rest' };

export function drawSettled(random: Random, cluster: SimulatedCluster): readonly Step[] {
  switch (random.weighted(SCENES)) {
    case 'late':
      return late(random);
    case 'narrowed':
      return narrowed(random);
    case 'again':
      return again(random);
    case 'overlap':
      return overlap(random);
    case 'theirs':
      return theirs(random);
    case 'listed':
      return listed(random);
    case 'several':
      return several(random);
    case 'pooled':
      return pooled(random);
    case 'faulty':
      return faulty(random);
    case 'used':
      return used(random);
    case 'claimed':
      return claimed(random);
    case 'movable':
      return movable(random);
    case 'torn':
      return torn(random);
    case 'shrunk':
      return shrunk(random);
    case 'unmoored':
      return unmoored(random);
    case 'bared':
      return drawBared(random, cluster);
    case 'undone':
      return undone(random, cluster);
    case 'kept':
      return drawKept(random);
    case 'neighbours':
      return drawNeighbours(random, cluster);
    case 'overlooked':
      return drawOverlooked(random, cluster);
    case 'hindered':
      return drawHindered(random);
    case 'coveted':
      return drawCoveted(random);
    case 'node':
      return [doing({ do: 'recreate', path: NODES, namespace: '', name: random.pick(['n0', 'n1']) }), wait(2_000)];
  }
}

function namespace(): Step {
  return doing({ do: 'create', path: NAMESPACES, namespace: '', object: { metadata: { name: NAMESPACE } } });
}

function pod(name: string, annotations: JsonObject, nodeName = 'n0'): Step {
  const metadata = { name, namespace: NAMESPACE, annotations };
  return doing({ do: 'create', path: PODS, namespace: NAMESPACE, object: { metadata, spec: { ...podSpec(), nodeName } } });
}

function without(name: string): Step {
  return doing({ do: 'delete', path: PODS, namespace: NAMESPACE, name, grace: 0 });
}

function on(subnet: string, address = ''): JsonObject {
  return { 'ovn.kubernetes.io/logical_switch': subnet, ...(address !== '' && { 'ovn.kubernetes.io/ip_address': address }) };
}

function gone(path: ApiPath, name: string): Step {
  return doing({ do: 'delete', path, namespace: '', name });
}

/** A Subnet and a Vpc that are to go, and wait for a pod: who comes now is told to wait, and when the pod is gone so are they. */
function late(random: Random): readonly Step[] {
  return [
    namespace(),
    create(VPCS, VPC, {}),
    create(SUBNETS, GOING, { cidrBlock: '10.89.0.0/24' }),
    create(SUBNETS, IN_VPC, { cidrBlock: '10.88.0.0/24', vpc: VPC }),
    wait(1_000),
    ...[without('k0'), without('k1'), wait(300)],
    pod('k0', on(GOING)),
    pod('k1', on(IN_VPC)),
    wait(2_000),
    ...[gone(SUBNETS, GOING), gone(SUBNETS, IN_VPC), gone(VPCS, VPC)],
    wait(1_000),
    REST,
    ...[without('k2'), gone(VIPS, 'lvip'), gone(IP_POOLS, 'lpool'), wait(300)],
    pod('k2', on(random.pick([GOING, IN_VPC]))),
    create(VIPS, 'lvip', { subnet: GOING }),
    create(OVN_EIPS, 'leip', { externalSubnet: GOING }),
    create(SUBNETS, 'l3', { cidrBlock: '10.87.0.0/24', vpc: VPC }),
    create(IP_POOLS, 'lpool', { subnet: GOING, ips: ['10.89.0.64/28'] }),
    wait(2_000),
    ...(random.chance(0.5) ? [REST] : []),
    ...[without('k0'), without('k1'), without('k2')],
    wait(1_000),
  ];
}

/** Half of a network is left out, or a family, while somebody is in it; or its gateway is to be where somebody is. */
function narrowed(random: Random): readonly Step[] {
  const whole = { cidrBlock: '10.86.0.0/24,fd00:86::/120', gateway: '10.86.0.1,fd00:86::1' };
  const [v4, v6] = random.pick<readonly [string, string]>([
    ['10.86.0.200', 'fd00:86::c8'],
    ['10.86.0.210', 'fd00:86::d2'],
    ['10.86.0.220', 'fd00:86::dc'],
  ]);
  const spec = random.pick<JsonObject>([
    { ...whole, cidrBlock: '10.86.0.0/25,fd00:86::/120' },
    { ...whole, cidrBlock: '10.86.0.0/24,fd00:86::/121' },
    { cidrBlock: '10.86.0.0/24', gateway: '10.86.0.1' },
    { ...whole, gateway: `${v4},fd00:86::1` },
  ]);
  const holder = {
    '10.86.0.200': [without('k3'), wait(300), pod('k3', on(SHRINKING, `${v4},${v6}`))],
    '10.86.0.210': [create(VIPS, 'svip', { subnet: SHRINKING, v4ip: v4, v6ip: v6 })],
    '10.86.0.220': [create(OVN_EIPS, 'seip', { externalSubnet: SHRINKING, v4Ip: v4, v6Ip: v6 })],
  }[v4];
  return [
    namespace(),
    create(SUBNETS, SHRINKING, whole),
    ...[gone(VIPS, 'svip'), gone(OVN_EIPS, 'seip'), without('k3')],
    edit(SUBNETS, SHRINKING, whole),
    wait(2_500),
    ...(holder ?? []),
    wait(2_000),
    edit(SUBNETS, SHRINKING, { ...spec, excludeIps: null }),
    wait(1_000),
  ];
}

/** Two networks of one Vpc that have addresses in common, and one that has addresses of nodes; the first may go. */
function overlap(random: Random): readonly Step[] {
  return [
    create(SUBNETS, 'l5', { cidrBlock: '10.83.0.0/24,fd00:83::/120' }),
    wait(1_500),
    create(SUBNETS, 'l6', { cidrBlock: random.pick(['10.83.0.128/25', '10.82.0.0/23', '10.84.0.0/24,fd00:83::80/121']) }),
    create(SUBNETS, 'l7', { cidrBlock: '172.18.0.0/24' }),
    wait(1_000),
    ...(random.chance(0.3) ? [gone(SUBNETS, 'l5'), wait(1_000)] : []),
  ];
}

/** Under its name at once, in the same Subnet or in another, before what was its own is gone. */
function again(random: Random): readonly Step[] {
  const where = (): JsonObject => random.pick<JsonObject>([{}, {}, on('ovn-default')]);
  return [
    namespace(),
    without('k4'),
    wait(1_000),
    pod('k4', where()),
    wait(2_000),
    without('k4'),
    ...(random.chance(0.5) ? [wait(random.pick([1, 5, 20]))] : []),
    pod('k4', where(), random.pick(['n0', 'n1'])),
    wait(1_000),
  ];
}

/** What other programs write beside Kiln: on objects, and into sets of its rows; and a Subnet with the finalizer of an older version. */
function theirs(random: Random): readonly Step[] {
  const mark = (name: string): string => `${OTHERS_DOMAIN}${name}`;
  const marks = { labels: { [mark('team')]: 'a' }, annotations: { [mark('note')]: 'kept' } };
  const on = (path: ApiPath, name: string): Step => doing({ do: 'edit', path, namespace: '', name, patch: { metadata: marks } });
  const checked = { type: mark('Checked'), status: 'True', reason: 'Checked', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const port = routerToSwitchPort(DEFAULT_VPC, 'l4');
  const networks = ['set', ['10.85.0.1/24', '10.250.0.1/24']];
  return [
    namespace(),
    create(VPCS, VPC, {}),
    create(SUBNETS, SHRINKING, { cidrBlock: '10.86.0.0/24,fd00:86::/120', gateway: '10.86.0.1,fd00:86::1' }),
    create(SUBNETS, 'l4', { cidrBlock: '10.85.0.0/24' }, { finalizers: [LEGACY_FINALIZERS[0] ?? ''] }),
    wait(1_500),
    ...[on(SUBNETS, SHRINKING), on(VPCS, VPC), on(NAMESPACES, NAMESPACE), on(NODES, 'n0')],
    doing({ do: 'edit', path: SUBNETS, namespace: '', name: SHRINKING, patch: { status: { conditions: [checked] } }, status: true }),
    doing({ do: 'row', table: 'Logical_Router_Port', place: 0, name: port, change: { kind: 'set', columns: { networks } } }),
    wait(300),
    edit(SUBNETS, SHRINKING, { private: random.pick([true, null]), enableDHCP: random.pick([true, null]) }),
    wait(300),
  ];
}
