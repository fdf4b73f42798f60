/**
 * Whether there is a packet of a pod that takes what a user wrote into a Vpc: each static route, policy and peering. A policy comes before all
 * routes, and in OVN as released a route by source before each shorter one by destination. What is never taken is reported, with what takes its
 * packets first and the line that mends it.
 */
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf, wrongFields } from '../../api/validation/finding.ts';
import type { PolicyRoute } from '../../api/kinds/vpc.ts';
import { packetNetworks } from '../../api/values/match-text.ts';
import { formatAddress, parseAddress } from '../../net/address.ts';
import type { Address } from '../../net/address.ts';
import type { Cidr } from '../../net/cidr.ts';
import {
  cidrContains,
  cidrCovers,
  cidrsOverlap,
  formatCidr,
  hostOrCidr,
  parseCidr,
  parseInterfaceAddress,
  sameCidr,
} from '../../net/cidr.ts';
import { familiesOf, ofFamily, splitList } from '../../net/dual.ts';
import { commandText } from '../../text/command-text.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { connectedExternals } from '../nat/external-status.ts';
import { GATEWAY_PRIORITY } from '../subnet/rows/subnet-gateway.ts';
import { SUBNET_PRIORITY } from '../subnet/rows/subnet-routes.ts';
import { subnetAcceptance } from '../subnet/validity/subnet-acceptance.ts';
import type { SubnetView } from '../subnet/validity/subnet-view.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { requestedRoute } from './requested-route.ts';
import type { Lookup, Packet, PolicyEntry, RouteEntry } from './router-lookup.ts';
import { addressesApart, beforePolicy, beforeRoute, takes } from './router-lookup.ts';
import { routesLeftOut } from './routes-left-out.ts';
import { networksOfSubnet } from './unconnected-external.ts';
import { unreachableNextHops } from './vpc-next-hops.ts';
import { vpcFindings } from './vpc-state.ts';
import { vpcSpec, vpcView } from './vpc-view.ts';

/** Above the policies of gateways and of connected underlay Subnets, below those for nodes and Subnets. */
const MENDING_PRIORITY = 29_500;
/** In a custom Vpc, where no such policies are. */
const LOWEST_MENDING_PRIORITY = 100;
/** Most packets that are looked up for one item: beyond it nothing is reported. */
const MOST = 2_000;

interface Origin {
  readonly cidr: Cidr;
  readonly table: string;
}

interface Item<T> {
  readonly field: string;
  readonly value: string;
  readonly entry: T;
  readonly hops: readonly Address[];
}

interface Router {
  readonly lookup: Lookup;
  readonly origins: readonly Origin[];
  readonly routes: readonly Item<RouteEntry>[];
  readonly policies: readonly Item<PolicyEntry>[];
  readonly cuts: readonly Cidr[];
}

const routerOf: Query<Router | undefined> = defineQuery('vpc-router-lookup', (world, name) => {
  const view = world.ask(vpcView, name);
  const spec = world.ask(vpcSpec, name);
  if (view === undefined || spec === undefined || view.external) return undefined;
  const { staticRoutes = [], policyRoutes = [], vpcPeerings = [] } = spec;
  if (staticRoutes.length + policyRoutes.length + vpcPeerings.length === 0) return undefined;
  const subnets = [...world.subnetVpcs.in(name)].toSorted().flatMap((subnet) => {
    const one = world.ask(subnetView, subnet);
    return one?.isOvn === true && world.ask(subnetAcceptance, subnet).kind !== 'invalid' ? [one] : [];
  });
  const wrong = wrongFields(world.ask(vpcFindings, name));
  const ignored = new Set(world.ask(unreachableNextHops, name).map(({ field }) => field.replace(/\.nextHopIP$/, '')));
  for (const { index } of world.ask(routesLeftOut, name)) ignored.add(`spec.staticRoutes[${index}]`);
  const routes = staticRoutes.flatMap((route, i): readonly Item<RouteEntry>[] => {
    const field = `spec.staticRoutes[${i}]`;
    return wrong.has(field) || ignored.has(field)
      ? []
      : requestedRoute(route).flatMap(({ table, policy, prefix, nexthop }) => {
          const [cidr, hop] = [hostOrCidr(prefix), parseAddress(nexthop)];
          if (cidr === undefined || hop === undefined) return [];
          const by = policy === 'src-ip' ? ('source' as const) : ('destination' as const);
          const text = `${field} (${policy === 'src-ip' ? 'policySrc' : 'policyDst'} ${prefix})`;
          return [{ field, value: prefix, hops: [hop], entry: { by, cidr, table, text } }];
        });
  });
  const policies = policyRoutes.flatMap((policy, i): readonly Item<PolicyEntry>[] => {
    const field = `spec.policyRoutes[${i}]`;
    // OVN ignores one of priority 0, which is reported by itself.
    if (wrong.has(field) || ignored.has(field) || (policy.priority ?? 0) === 0) return [];
    const hops = policy.action === 'reroute' ? splitList(policy.nextHopIP ?? '').flatMap((hop) => parseAddress(hop) ?? []) : [];
    return [{ field, value: String(policy.priority), hops, entry: userPolicy(policy, field) }];
  });
  const connected = [
    ...subnets.filter(({ routed, interconnected }) => routed || interconnected).flatMap((one) => connectedOf(one)),
    ...linksOf(spec).map(({ cidr, remoteVpc }) => connectedEntry(cidr, `the link to Vpc ${remoteVpc}`)),
    ...world
      .ask(connectedExternals, name)
      .flatMap((one) => networksOfSubnet(world, one).map((cidr) => connectedEntry(cidr, `the network of Subnet ${one}`))),
  ];
  const all = [...policies.map(({ entry }) => entry), ...subnets.flatMap((one) => policiesOf(world, one))];
  const lookup: Lookup = {
    routes: [...routes.map(({ entry }) => entry), ...connected],
    policies: all.toSorted((a, b) => b.priority - a.priority),
  };
  const cuts = [
    ...lookup.routes.map(({ cidr }) => cidr),
    ...lookup.policies.flatMap(({ sources = [], destinations = [] }) => [...sources, ...destinations]),
  ];
  const origins = subnets
    .filter((one) => (one.routed || one.interconnected) && !one.isJoin)
    .flatMap((one) => cidrsOf(one).map((cidr) => ({ cidr, table: one.routeTable })));
  return { lookup, origins, routes, policies, cuts };
});

function cidrsOf(view: SubnetView): readonly Cidr[] {
  return familiesOf(view).flatMap((family) => parseCidr(ofFamily(view, family)?.cidr ?? '') ?? []);
}

function connectedOf(view: SubnetView): readonly RouteEntry[] {
  return cidrsOf(view).map((cidr) => connectedEntry(cidr, `the network of Subnet ${view.name}`));
}

function connectedEntry(cidr: Cidr, text: string): RouteEntry {
  return { by: 'connected', cidr, table: '', text: `${text}, ${formatCidr(cidr)}` };
}

function userPolicy({ priority = 0, match = '', action }: PolicyRoute, field: string): PolicyEntry {
  const { family, sources, destinations, isWhole } = packetNetworks(match);
  const cidrs = (texts: readonly string[] | undefined): readonly Cidr[] | undefined => texts?.flatMap((text) => hostOrCidr(text) ?? []);
  const text = `${field} (priority ${priority}, ${match.trim()})`;
  return { priority, family, sources: cidrs(sources), destinations: cidrs(destinations), isWhole, allows: action === 'allow', text };
}

/** Those that rules make for a Subnet: to it, and in the default Vpc from it to its gateway. */
function policiesOf(world: World, view: SubnetView): readonly PolicyEntry[] {
  if (!view.routed) return [];
  const joined = familiesOf(world.ask(subnetView, world.settings.joinSubnet) ?? {});
  return cidrsOf(view).flatMap((cidr): readonly PolicyEntry[] => {
    const { family } = cidr;
    const of = { family, isWhole: true } as const;
    const to: PolicyEntry = {
      ...of,
      priority: SUBNET_PRIORITY,
      sources: undefined,
      destinations: [cidr],
      allows: true,
      text: `the policy to Subnet ${view.name}`,
    };
    if (!view.inDefaultVpc || view.isJoin || !joined.includes(family)) return [to];
    const text = `the gateway of Subnet ${view.name} (policy ${GATEWAY_PRIORITY}, which sends all that ${formatCidr(cidr)} sends out of the cluster to a node)`;
    return [to, { ...of, priority: GATEWAY_PRIORITY, sources: [cidr], destinations: undefined, allows: false, text }];
  });
}

interface Link {
  readonly index: number;
  readonly remoteVpc: string;
  readonly cidr: Cidr;
}

function linksOf({
  vpcPeerings = [],
}: {
  readonly vpcPeerings?: readonly { readonly remoteVpc?: string; readonly localConnectIP?: string }[];
}): readonly Link[] {
  return vpcPeerings.flatMap(({ remoteVpc = '', localConnectIP = '' }, index) =>
    splitList(localConnectIP).flatMap((text) => {
      const cidr = parseInterfaceAddress(text)?.cidr;
      return cidr === undefined ? [] : [{ index, remoteVpc, cidr }];
    }),
  );
}

const EVERYTHING = { 4: parseCidr('0.0.0.0/0'), 6: parseCidr('::/0') } as const;

/** What takes all packets before a route; undefined if a packet may take it, or none of a pod can come to it. */
function takenBeforeRoute({ lookup, origins, cuts }: Router, route: RouteEntry): string | undefined {
  const { cidr } = route;
  const every = EVERYTHING[cidr.family];
  const from = origins.filter((one) => one.cidr.family === cidr.family && (route.by === 'connected' || one.table === route.table));
  const sources = from.flatMap((one) =>
    (route.by === 'source' ? common(one.cidr, cidr) : [one.cidr]).map((network) => ({ network, table: one.table })),
  );
  return everyPacket(sources, route.by === 'source' ? (every === undefined ? [] : [every]) : [cidr], cuts, (packet) =>
    takes(route, packet) ? beforeRoute(lookup, route, packet) : undefined,
  );
}

function takenBeforePolicy({ lookup, origins, cuts }: Router, policy: PolicyEntry): string | undefined {
  const families = ([4, 6] as const).filter(
    (family) => (policy.family ?? family) === family && origins.some(({ cidr }) => cidr.family === family),
  );
  const taken = families.map((family) => {
    const every = EVERYTHING[family];
    if (every === undefined) return undefined;
    const from = origins.filter(({ cidr }) => cidr.family === family);
    const sources = from.flatMap(({ cidr, table }) =>
      (policy.sources ?? [every]).flatMap((one) => common(cidr, one)).map((network) => ({ network, table })),
    );
    return everyPacket(sources, policy.destinations ?? [every], cuts, (packet) => beforePolicy(lookup, policy, packet));
  });
  return taken.includes(undefined) ? undefined : taken[0];
}

/** The smaller of two networks that overlap. */
function common(one: Cidr, other: Cidr): readonly Cidr[] {
  if (one.family !== other.family || !cidrsOverlap(one, other)) return [];
  return [cidrCovers(one, other) ? other : one];
}

/** What takes the first packet, if something takes each packet. */
function everyPacket(
  sources: readonly { readonly network: Cidr; readonly table: string }[],
  destinations: readonly Cidr[],
  cuts: readonly Cidr[],
  before: (packet: Packet) => string | undefined,
): string | undefined {
  let first: string | undefined;
  let looked = 0;
  const to = destinations.flatMap((cidr) => addressesApart(cidr, cuts));
  for (const { network, table } of sources)
    for (const source of addressesApart(network, cuts))
      for (const destination of to) {
        const taken = destination.family === source.family ? before({ source, destination, table }) : undefined;
        if (taken === undefined || ++looked > MOST) return undefined;
        first ??= taken;
      }
  return first;
}

/** Findings for routes and policies that are valid otherwise. */
export const hiddenRoutes: Query<readonly Finding[]> = defineQuery('vpc-hidden-routes', (world, name) => {
  const router = world.ask(routerOf, name);
  const subject = { kind: 'Vpc', name };
  const edit = commandText`kubectl edit vpc ${name}`;
  const zero = (world.ask(vpcSpec, name)?.policyRoutes ?? []).flatMap(({ priority = 0 }, i) =>
    priority === 0
      ? [
          findingOf(subject, {
            code: 'PolicyPriorityZero',
            field: `spec.policyRoutes[${i}].priority`,
            value: '0',
            problem: 'has no effect: OVN takes a policy of priority 0, as one without a priority has, for no packet',
            rule: `write a priority from 1 on, such as ${lowestPriority(world, name)}; ${edit}`,
          }),
        ]
      : [],
  );
  if (router === undefined) return zero;
  const routes = router.routes.flatMap(({ field, value, entry, hops }) => {
    const first = takenBeforeRoute(router, entry);
    if (first === undefined) return [];
    const line = mendingLine(world, name, networksOf(entry), hops[0]);
    const rule = `a policy comes before all routes, and a longer prefix before a shorter one, source or destination; add to spec.policyRoutes ${line}, or remove the route; ${edit}`;
    return [findingOf(subject, { code: 'RouteHidden', field, value, problem: takenText(first), rule })];
  });
  const policies = router.policies.flatMap(({ field, value, entry }) => {
    const first = takenBeforePolicy(router, entry);
    if (first === undefined) return [];
    const rule = `of policies the highest priority comes first: write a priority above that one, or remove the policy; ${edit}`;
    return [findingOf(subject, { code: 'RouteHidden', field: `${field}.priority`, value, problem: takenText(first), rule })];
  });
  return [...zero, ...routes, ...policies];
});

function takenText(first: string): string {
  return `is taken by no packet of a pod: ${first} takes them first`;
}

function lowestPriority(world: World, name: string): number {
  return name === world.settings.defaultVpc ? MENDING_PRIORITY : LOWEST_MENDING_PRIORITY;
}

function networksOf({ by, cidr }: RouteEntry): string {
  return `ip${cidr.family}.${by === 'source' ? 'src' : 'dst'} == ${formatCidr(cidr)}`;
}

function mendingLine(world: World, name: string, match: string, hop: Address | undefined): string {
  const next = hop === undefined ? 'NEXT_HOP' : formatAddress(hop);
  return `{priority: ${lowestPriority(world, name)}, match: "${match}", action: reroute, nextHopIP: "${next}"}`;
}

/**
 * Why no packet of a pod passes over a peering that is right otherwise: all that leads to it is hidden.
 * @param index in `spec.vpcPeerings`
 * @param far `localConnectIP` of the other end
 */
export function hiddenPeering(world: World, name: string, index: number, far: string): string | undefined {
  const router = world.ask(routerOf, name);
  const links = linksOf(world.ask(vpcSpec, name) ?? {}).filter((link) => link.index === index);
  const [link] = links;
  if (router === undefined || link === undefined) return undefined;
  const leads = ({ hops }: { readonly hops: readonly Address[] }): boolean =>
    hops.some((hop) => links.some(({ cidr }) => cidrContains(cidr, hop)));
  const ways = [
    ...router.routes.filter(leads).map(({ entry }) => takenBeforeRoute(router, entry)),
    ...router.policies.filter(leads).map(({ entry }) => takenBeforePolicy(router, entry)),
  ];
  const connected = router.lookup.routes.find(({ by, cidr }) => by === 'connected' && sameCidr(cidr, link.cidr));
  const taken = ways.length > 0 ? ways : [connected === undefined ? undefined : takenBeforeRoute(router, connected)];
  const [first] = taken;
  if (first === undefined || taken.includes(undefined)) return undefined;
  const { remoteVpc } = link;
  const hop = splitList(far).flatMap((text) => parseInterfaceAddress(text)?.address ?? [])[0];
  const there = [...world.subnetVpcs.in(remoteVpc)].toSorted().flatMap((one) => networksOfSubnet(world, one));
  const [network] = there.filter(({ family }) => family === link.cidr.family);
  const line = mendingLine(world, name, `ip${link.cidr.family}.dst == ${network === undefined ? 'NETWORK' : formatCidr(network)}`, hop);
  return `no packet of a pod passes over it: ${first} takes them first; add to spec.policyRoutes ${line}; ${commandText`kubectl edit vpc ${name}`}`;
}
