/**
 * Draws pointed scenes: one thing each that a controller may get wrong where nothing else shows it. They are played right before a rest, or
 * right after one, so that they cost no rest of their own: what somebody puts into Kiln's rows, networks that meet, addresses by name of
 * what is kept back, leases, fields that are edited while pods are there.
 *
 * From a generator of its own, as `draw-broad.ts`.
 */
import { ipPoolAddressSet, routerToSwitchPort, switchToRouterPort } from '../../../../src/api/names.ts';
import { DEFAULT_VPC, kilnAnnotation } from '../../../../src/api/well-known.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import { IP_POOLS, IPS, NAMESPACES, PODS, podSpec, SUBNETS, VIPS, VPCS } from '../operations.ts';
import { doing } from './incidents.ts';
import type { Random } from '../random.ts';
import type { ApiPath, RowChange, Step } from '../../steps/step.ts';

const BEFORE = {
  members: 2,
  parents: 2,
  elements: 1,
  unstated: 3,
  displaced: 2,
  leased: 2,
  gateway: 1,
  kept: 2,
  allowed: 1,
  paired: 2,
  alike: 1,
  claim: 2,
} as const;

/** A Subnet, a Namespace and names that no other draw has. */
const [SUBNET, NAMESPACE] = ['g0', 'pointed'];
const CLAIMED = 'pointed-vpc';
const NODES = ['n0', 'n1'];

export function drawBeforeRest(random: Random): readonly Step[] {
  switch (random.weighted(BEFORE)) {
    case 'members':
      return [row(random, 'Port_Group', { kind: 'put', column: 'ports', of: 'Logical_Switch_Port', at: random.below(40) }), wait(20)];
    case 'parents':
      return [random.chance(0.5) ? intoSwitch(random) : intoRouter(random), wait(20)];
    case 'elements':
      return [
        ...place(),
        pool(),
        wait(2_000),
        row(random, 'Address_Set', { kind: 'set', columns: MORE }, ipPoolAddressSet('gpool')),
        wait(20),
      ];
    case 'unstated':
      return unstated(random);
    case 'displaced':
      return displaced();
    case 'leased':
      return leased(random);
    case 'gateway':
      return [...place(), pod(random), wait(1_000), edit(SUBNETS, SUBNET, { gateway: random.pick(['10.90.0.1', '10.90.0.7']) }), wait(300)];
    case 'kept':
      return kept(random);
    case 'allowed':
      return [...place(), edit(SUBNETS, SUBNET, random.chance(0.3) ? NOT_ALLOWED : ALLOWED), wait(300)];
    case 'paired':
      return paired(random);
    case 'alike':
      return [
        ...place(),
        ...['g0', 'g1'].flatMap((name) => again(random, name, { 'ovn.kubernetes.io/mac_address': '0a:00:00:00:0b:01' })),
        wait(300),
      ];
    case 'claim':
      return claim(random);
  }
}

/** Pods of a Namespace that a Vpc claims: they come while nobody changes what their network follows from. */
export function drawAfterRest(random: Random): readonly Step[] {
  const where = { path: PODS, namespace: CLAIMED, name: random.pick(['g0', 'g1']) };
  return [doing({ do: 'delete', ...where, grace: 0 }), podNamed(random, where.name, CLAIMED, {}), wait(2_000)];
}

function wait(ms: number): Step {
  return { kind: 'wait', ms };
}

function create(path: ApiPath, name: string, spec: JsonObject, metadata: JsonObject = {}): Step {
  return doing({ do: 'create', path, namespace: '', object: { metadata: { name, ...metadata }, spec } });
}

function edit(path: ApiPath, name: string, spec: JsonObject): Step {
  return doing({ do: 'edit', path, namespace: '', name, patch: { spec } });
}

function row(random: Random, table: string, change: RowChange, name?: string): Step {
  return doing({ do: 'row', table, place: random.below(40), ...(name === undefined ? {} : { name }), change });
}

function place(): readonly Step[] {
  return [
    create(SUBNETS, SUBNET, { cidrBlock: '10.90.0.0/24', namespaces: [NAMESPACE] }),
    doing({ do: 'create', path: NAMESPACES, namespace: '', object: { metadata: { name: NAMESPACE } } }),
  ];
}

function pool(): Step {
  return create(IP_POOLS, 'gpool', { subnet: SUBNET, ips: ['10.90.0.64/28'], enableAddressSet: true });
}

const MORE: JsonObject = { addresses: ['set', ['10.90.0.64/28', '10.90.0.200']] };

function podNamed(random: Random, name: string, namespace: string, annotations: JsonObject): Step {
  const metadata = { name, namespace, annotations, labels: { app: name } };
  const spec = { ...podSpec(), nodeName: random.pick(NODES) };
  return doing({ do: 'create', path: PODS, namespace, object: { metadata, spec } });
}

function pod(random: Random): Step {
  return podNamed(random, random.pick(['g0', 'g1']), NAMESPACE, {});
}

function again(random: Random, name: string, annotations: JsonObject): readonly Step[] {
  return [
    doing({ do: 'delete', path: PODS, namespace: NAMESPACE, name, grace: 0 }),
    wait(300),
    podNamed(random, name, NAMESPACE, annotations),
  ];
}

/** A port of ours into another switch of ours as well. */
function intoSwitch(random: Random): Step {
  return row(random, 'Logical_Switch', { kind: 'put', column: 'ports', of: 'Logical_Switch_Port', at: random.below(40) });
}

function intoRouter(random: Random): Step {
  const [column, of] = random.pick([
    ['policies', 'Logical_Router_Policy'],
    ['static_routes', 'Logical_Router_Static_Route'],
  ] as const);
  return row(random, 'Logical_Router', { kind: 'put', column, of, at: random.below(40) });
}

/** Columns that no rule says anything of, and that decide whether a row works. */
function unstated(random: Random): readonly Step[] {
  const routerPort = routerToSwitchPort(DEFAULT_VPC, SUBNET);
  const [table, columns, name] = random.pick<readonly [string, JsonObject, string?]>([
    ['Logical_Switch_Port', { enabled: false }],
    ['Logical_Switch_Port', { tag: 7, port_security: '00:00:00:00:00:09' }, switchToRouterPort(SUBNET, DEFAULT_VPC)],
    ['Logical_Router', { enabled: false }],
    ['Logical_Router_Port', { enabled: false }],
    ['Logical_Router_Port', { ipv6_prefix: '2001:db8::/64' }, routerPort],
    ['Logical_Router_Port', { ipv6_ra_configs: ['map', [['address_mode', 'slaac']]] }],
    ['Logical_Router_Policy', { nexthop: '10.250.0.1' }],
    ['ACL', { severity: 'alert', name: 'theirs' }],
  ]);
  return [...(name === undefined ? [] : [...place(), wait(1_000)]), row(random, table, { kind: 'set', columns }, name), wait(20)];
}

/** The older of two is edited onto the network that the younger one has in effect. */
function displaced(): readonly Step[] {
  const [older, younger] = ['g1', 'g2'];
  return [
    ...[younger, older].map((name) => doing({ do: 'vanish', path: SUBNETS, namespace: '', name })),
    wait(1_000),
    create(SUBNETS, older, { cidrBlock: '10.91.0.0/24' }),
    wait(1_500),
    create(SUBNETS, younger, { cidrBlock: '10.92.0.0/24' }),
    wait(2_000),
    edit(SUBNETS, older, { cidrBlock: '10.92.0.0/24', gateway: '10.92.0.1', excludeIps: ['10.92.0.1'] }),
    wait(1_000),
  ];
}

/** An address that is kept for some seconds where nobody uses it. */
function leased(random: Random): readonly Step[] {
  const annotations = { [kilnAnnotation.lease]: random.pick(['2s', '3s']) };
  const name = `g3.${NAMESPACE}`;
  const [path, spec]: readonly [ApiPath, JsonObject] = random.chance(0.5)
    ? [IPS, { subnet: SUBNET, podName: 'g3', namespace: NAMESPACE, podType: '' }]
    : [VIPS, { subnet: SUBNET }];
  return [...place(), wait(1_000), create(path, name, spec, { annotations }), wait(8_000)];
}

/** What is kept back is given to nobody but to who asks for it by name. */
function kept(random: Random): readonly Step[] {
  const asked = random.chance(0.7) ? { 'ovn.kubernetes.io/ip_address': random.pick(['10.90.0.3', '10.90.0.4']) } : {};
  const excludeIps = random.pick([['10.90.0.2..10.90.0.9'], ['10.90.0.3', '10.90.0.20..10.90.0.40'], ['10.90.0.3..10.90.0.200']]);
  return [...place(), edit(SUBNETS, SUBNET, { excludeIps }), wait(1_000), ...again(random, 'g2', asked), wait(1_000)];
}

const ALLOWED: JsonObject = { private: true, allowSubnets: ['10.9.0.0/16', '10.11.0.0/16'] };
const NOT_ALLOWED: JsonObject = { private: null, allowSubnets: null };

/** A Vip that pods may use beside their own address, chosen by label or not. */
function paired(random: Random): readonly Step[] {
  const annotations = { 'ovn.kubernetes.io/aaps': 'gvip', 'ovn.kubernetes.io/port_security': 'true' };
  return [
    ...place(),
    create(VIPS, 'gvip', { subnet: SUBNET, namespace: NAMESPACE, selector: ['app:g0'] }),
    ...(['g0', 'g1'] as const).flatMap((name) => again(random, name, random.chance(0.8) ? annotations : {})),
    wait(1_000),
  ];
}

/** A Vpc claims a Namespace and says which of its Subnets is the first for that. */
function claim(random: Random): readonly Step[] {
  return [
    create(VPCS, 'gv', { namespaces: [CLAIMED] }),
    ...['g4', 'g5'].map((name, at) => create(SUBNETS, name, { vpc: 'gv', cidrBlock: `10.9${4 + at}.0.0/24` })),
    edit(VPCS, 'gv', { namespaces: [CLAIMED], defaultSubnet: random.pick(['g4', 'g5', null]) }),
    doing({ do: 'create', path: NAMESPACES, namespace: '', object: { metadata: { name: CLAIMED } } }),
    wait(1_000),
  ];
}
