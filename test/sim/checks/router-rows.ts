/**
 * Rows of routers and switches, column by column, as Kube-OVN's contract has them (architecture.md, reference): priorities, directions,
 * both sides of a link, load balancers. Like `specs-in-effect.ts`, this reads specs and rows, and uses no rule.
 */
import { portGroupAddressSet, routerToSwitchPort, subnetNodePortGroup, switchToRouterPort } from '../../../src/api/names.ts';
import type { Node } from '../../../src/api/kubernetes/core.ts';
import type { Subnet } from '../../../src/api/kinds/subnet.ts';
import type { Vpc } from '../../../src/api/kinds/vpc.ts';
import { DEFAULT_VPC, JOIN_SUBNET } from '../../../src/api/well-known.ts';
import { formatAddress, parseAddress } from '../../../src/net/address.ts';
import { formatCidr, parseCidr } from '../../../src/net/cidr.ts';
import { splitList } from '../../../src/net/dual.ts';
import type { Row, Uuid } from '../../../src/ovsdb/index.ts';
import type { World } from '../../../src/world/world.ts';
import { best, isInEffect, isTrue, mapOf, networksOf, rowsIn, ovnAnnotation, textOf } from './observed-state.ts';

const [INTO_SUBNET, TO_NODE, OUT_OF_SUBNET] = [31_000, 30_000, 29_000];
const [NODE_ALLOW, EAST_WEST, ALLOW, DROP] = [3_000, 1_900, 1_001, 1_000];

/** The rows of a Subnet in effect. */
export function subnetRowFaults(world: World, name: string, subnet: Subnet, ls: Row, router: Row): readonly string[] {
  const { spec } = subnet;
  const policies = rowsIn(world, router, 'policies');
  const link = best(world, 'Logical_Switch_Port', switchToRouterPort(name, spec.vpc ?? ''));
  const port = best(world, 'Logical_Router_Port', routerToSwitchPort(spec.vpc ?? '', name));
  const networks = networksOf(subnet);
  const table = mapOf(port?.['options']).get('route_table') ?? '';
  const gateways = networks.map(({ cidr, gateway }) => gateway + cidr.slice(cidr.indexOf('/'))).toSorted();
  const configs = (spec.ipv6RAConfigs ?? '').trim();
  const sent = [...mapOf(port?.['ipv6_ra_configs'])].map(([key, value]) => `${key}=${value}`);
  const isPolicyInto = (row: Row): boolean => networks.some(({ family, cidr }) => row['match'] === `ip${family}.dst == ${cidr}`);
  return [
    ...(link !== undefined && mapOf(link['options']).get('router-port') !== routerToSwitchPort(spec.vpc ?? '', name)
      ? [`link of its switch is to ${mapOf(link['options']).get('router-port') ?? 'nothing'}`]
      : []),
    ...(link !== undefined && textOf(link['addresses']) !== 'router' ? [`link of its switch has ${textOf(link['addresses'])}`] : []),
    ...(port !== undefined && table !== (spec.routeTable ?? '') ? [`table of its router port is "${table}"`] : []),
    ...(port !== undefined && textOf(port['networks']) !== gateways.join()
      ? [`networks of its router port are ${textOf(port['networks'])}, and not ${gateways.join()}`]
      : []),
    ...(configs !== '' && sent.length > 0 && splitList(configs).some((pair) => !sent.includes(pair))
      ? [`advertisements are ${sent.join()}, and not ${configs}`]
      : []),
    ...policies
      .filter((row) => isPolicyInto(row) && Number(row['priority']) !== INTO_SUBNET)
      .map((row) => `policy to it has priority ${textOf(row['priority'])}`),
    ...aclFaults(world, name, subnet, rowsIn(world, ls, 'acls')),
    ...sourceRouteFaults(world, name, subnet, router),
    ...gatewayPolicyFaults(world, name, subnet, policies),
    ...balancerFaults(world, name, subnet, ls),
  ];
}

/** Traffic of pods that leaves the default Vpc: which traffic, and before which other policies. */
function gatewayPolicyFaults(world: World, name: string, subnet: Subnet, policies: readonly Row[]): readonly string[] {
  if (subnet.spec.vpc !== DEFAULT_VPC || name === JOIN_SUBNET) return [];
  const groups = new Set(
    [...world.nodes.entries()].flatMap(([node]) =>
      ([4, 6] as const).map((family) => `ip${family}.src == $${portGroupAddressSet(subnetNodePortGroup(name, node), family)}`),
    ),
  );
  const own = new Set(networksOf(subnet).map(({ family, cidr }) => `ip${family}.src == ${cidr}`));
  const join = world.subnets.peek(JOIN_SUBNET);
  const joined = join === undefined ? [] : networksOf(join);
  const rerouted = policies.filter(
    (row) => groups.has(String(row['match'])) || (own.has(String(row['match'])) && row['action'] === 'reroute'),
  );
  const gateway = splitList(subnet.status?.activateGateway ?? '')[0];
  return [
    ...rerouted
      .filter((row) => Number(row['priority']) !== OUT_OF_SUBNET && mapOf(row['external_ids']).get('subnet') === name)
      .map((row) => `policy ${String(row['match'])} has priority ${textOf(row['priority'])}`),
    ...(subnet.spec.gatewayType === 'centralized' && gateway !== undefined
      ? networksOf(subnet)
          .filter(({ family }) => joined.some((one) => one.family === family) && hasFamily(world, gateway, family))
          .filter(
            ({ family, cidr }) => !policies.some((row) => row['match'] === `ip${family}.src == ${cidr}` && row['action'] === 'reroute'),
          )
          .map(({ family }) => `traffic of IPv${family} does not leave by its gateway ${gateway}`)
      : []),
  ];
}

function hasFamily(world: World, node: string, family: 4 | 6): boolean {
  const object = world.nodes.peek(node);
  return object !== undefined && splitList(ovnAnnotation(object, 'ip_address')).some((text) => text.includes(':') === (family === 6));
}

/** In a custom Vpc with one Subnet and no routes in its spec, traffic of the Subnet goes to its gateway, in its route table. */
function sourceRouteFaults(world: World, name: string, subnet: Subnet, router: Row): readonly string[] {
  const { vpc = '', routeTable = '' } = subnet.spec;
  const object = world.vpcs.peek(vpc);
  const routes = rowsIn(world, router, 'static_routes').filter((row) => row['policy'] === 'src-ip');
  const own = networksOf(subnet);
  if (vpc === DEFAULT_VPC)
    return routes
      .filter((row) => own.some(({ cidr, gateway }) => row['ip_prefix'] === cidr && row['nexthop'] === gateway))
      .map((row) => `route from ${String(row['ip_prefix'])} is there, and precedes all policies`);
  // A Subnet that names another Vpc now may still run in this one.
  const isIn = (other: string, { spec }: Subnet): boolean =>
    (spec.vpc ?? '') === vpc || best(world, 'Logical_Router_Port', routerToSwitchPort(vpc, other)) !== undefined;
  const others = [...world.subnets.entries()].filter(([other, object]) => other !== name && isIn(other, object));
  if (object === undefined || others.length > 0 || (object.spec.staticRoutes ?? []).length > 0) return [];
  return own
    .filter(
      ({ cidr, gateway }) =>
        !routes.some((row) => row['ip_prefix'] === cidr && row['nexthop'] === gateway && row['route_table'] === routeTable),
    )
    .map(({ cidr, gateway }) => `route from ${cidr} by ${gateway} is not in table "${routeTable}"`);
}

/** Its own ACLs by direction, those of a private Subnet by priority, and the one that allows traffic within it. */
function aclFaults(world: World, name: string, subnet: Subnet, acls: readonly Row[]): readonly string[] {
  const { spec } = subnet;
  const has = (direction: string, priority: number, match: string, action: string): boolean =>
    acls.some(
      (row) => row['direction'] === direction && Number(row['priority']) === priority && row['match'] === match && row['action'] === action,
    );
  const join = world.subnets.peek(JOIN_SUBNET);
  const joins = join === undefined || !isInEffect(join) || name === JOIN_SUBNET ? [] : networksOf(join);
  const isPrivate = spec.private === true;
  return [
    ...(spec.acls ?? [])
      .filter(({ direction = '', priority = 0, match = '', action = '' }) => !has(direction, priority, match.trim(), action))
      .map(({ direction = '', match = '' }) => `ACL ${match} in direction ${direction} is not on its switch`),
    ...(isPrivate && !has('to-lport', DROP, 'ip', 'drop') ? [`ACL that drops all is not at priority ${DROP}`] : []),
    ...networksOf(subnet).flatMap(({ family, cidr }) => {
      const both = `ip${family}.src == ${cidr} && ip${family}.dst == ${cidr}`;
      const nodes = joins.find((one) => one.family === family)?.cidr;
      const allowed = (spec.allowSubnets ?? []).flatMap((text) => {
        const other = parseCidr(text);
        return other?.family === family ? [formatCidr(other)] : [];
      });
      const missing = allowed.filter(
        (there) =>
          !acls.some(
            (row) =>
              Number(row['priority']) === ALLOW &&
              String(row['match']).includes(`ip${family}.src == ${cidr} && ip${family}.dst == ${there}`) &&
              String(row['match']).includes(`ip${family}.src == ${there} && ip${family}.dst == ${cidr}`),
          ),
      );
      const within = spec.allowEWTraffic === true && (spec.acls ?? []).length > 0;
      return [
        ...(isPrivate ? missing.map((there) => `ACL for ${there} does not allow both directions`) : []),
        ...(isPrivate && !has('to-lport', ALLOW, both, 'allow-related') ? [`ACL for its own ${cidr} is not at priority ${ALLOW}`] : []),
        ...(isPrivate && nodes !== undefined && !has('to-lport', NODE_ALLOW, `ip${family}.src == ${nodes}`, 'allow-related')
          ? [`ACL for nodes of ${nodes} is not at priority ${NODE_ALLOW}`]
          : []),
        ...(within ? ['to-lport', 'from-lport'] : [])
          .filter((direction) => !has(direction, EAST_WEST, both, 'allow'))
          .map((direction) => `traffic within ${cidr} is not allowed in direction ${direction}`),
      ];
    }),
  ];
}

/** Either all six load balancers of its Vpc, or none; never on the join Subnet. */
function balancerFaults(world: World, name: string, { spec }: Subnet, ls: Row): readonly string[] {
  const held = ls['load_balancer'];
  const own = [...(held instanceof Set ? held : [])].filter((uuid) => world.rows.entry(uuid as Uuid)?.ownership.kind === 'ours').length;
  if (name === JOIN_SUBNET) return own === 0 ? [] : [`load balancers of pods are on its switch, and it has none`];
  const vpc = world.vpcs.peek(spec.vpc ?? '');
  if (spec.enableLb !== true || vpc === undefined || !isTrue(vpc.status?.conditions, 'Ready')) return [];
  const there = balancersOf(vpc).filter(([balancer]) => best(world, 'Load_Balancer', balancer) !== undefined).length;
  return own === there ? [] : [`load balancers on its switch are ${own}, and its Vpc has ${there}`];
}

const BALANCERS = ['tcp', 'udp', 'sctp'].flatMap((protocol) => [
  [`${protocol}LoadBalancer`, protocol, false] as const,
  [`${protocol}SessionLoadBalancer`, protocol, true] as const,
]);

function balancersOf({ status }: Vpc): readonly (readonly [name: string, protocol: string, session: boolean])[] {
  const named = (status ?? {}) as Readonly<Record<string, unknown>>;
  return BALANCERS.flatMap(([field, protocol, session]) => {
    const name = named[field];
    return typeof name === 'string' && name !== '' ? [[name, protocol, session] as const] : [];
  });
}

/** The rows of a Vpc in effect: routes by source, what its router learns, its load balancers. */
export function vpcRowFaults(world: World, vpc: Vpc, router: Row): readonly string[] {
  const routes = rowsIn(world, router, 'static_routes');
  const options = mapOf(router['options']);
  const peers = (vpc.spec.vpcPeerings ?? []).length > 0;
  const learns = options.get('always_learn_from_arp_request') !== 'false';
  const connected = [...world.subnets.entries()].some(([, { spec }]) => spec.u2oInterconnection === true);
  const config = [...world.externalGatewayConfigs.entries()].find(([, { spec }]) => spec['enable-external-gw'] !== 'false');
  const external = vpc.spec.enableExternal === true || (vpc.metadata.name === world.settings.defaultVpc && config !== undefined);
  return [
    ...(vpc.spec.staticRoutes ?? []).flatMap(({ cidr = '', nextHopIP = '', policy }) => {
      const [network, host, hop] = [parseCidr(cidr), parseAddress(cidr), parseAddress(nextHopIP)];
      const prefix = network !== undefined ? formatCidr(network) : host !== undefined ? formatAddress(host) : '';
      const expected = policy === 'policySrc' ? 'src-ip' : 'dst-ip';
      const alike = routes.filter((row) => row['ip_prefix'] === prefix && hop !== undefined && row['nexthop'] === formatAddress(hop));
      return alike.length === 0 || alike.some((row) => textOf(row['policy']) === expected)
        ? []
        : [`route ${cidr} by ${nextHopIP} is by ${alike.map((row) => textOf(row['policy'])).join()}, and not ${expected}`];
    }),
    ...(learns || !peers || options.size === 0 ? [] : ['router does not learn from ARP requests of its peers']),
    ...(learns && !peers && !connected && !external && options.size > 0 ? ['router learns from every ARP request'] : []),
    ...balancersOf(vpc).flatMap(([name, protocol, session]) => {
      const row = best(world, 'Load_Balancer', name);
      if (row === undefined) return [];
      const hasAffinity = textOf(row['selection_fields']).startsWith('ip_src');
      return [
        ...(textOf(row['protocol']) === protocol ? [] : [`load balancer ${name} is of ${textOf(row['protocol'])}`]),
        ...(hasAffinity === session
          ? []
          : [`load balancer ${name} ${hasAffinity ? 'keeps' : 'does not keep'} clients with their backends`]),
      ];
    }),
  ];
}

/** Addresses of a joined node are routed to its own port, in each family, before gateways. @param policies of the default Vpc's router */
export function nodeRowFaults({ metadata, status }: Node, policies: readonly Row[]): readonly string[] {
  if (metadata.deletionTimestamp !== undefined || ovnAnnotation({ metadata }, 'allocated') !== 'true') return [];
  const hops = splitList(ovnAnnotation({ metadata }, 'ip_address'));
  return (status?.addresses ?? []).flatMap(({ type, address: text }) => {
    const address = parseAddress(text);
    if (type !== 'InternalIP' || address === undefined) return [];
    const match = `ip${address.family}.dst == ${formatAddress(address)}`;
    // A policy of another node with the same address may belong to the older node.
    const row = policies.find((one) => one['match'] === match && mapOf(one['external_ids']).get('node') === metadata.name);
    const hop = hops.find((one) => one.includes(':') === (address.family === 6));
    if (row === undefined) return [];
    return [
      ...(textOf(row['nexthops']) === hop
        ? []
        : [`policy for ${text} reroutes to ${textOf(row['nexthops'])}, and not ${hop ?? 'anywhere'}`]),
      ...(Number(row['priority']) === TO_NODE ? [] : [`policy for ${text} has priority ${textOf(row['priority'])}`]),
    ];
  });
}
