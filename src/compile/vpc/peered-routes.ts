/**
 * Routes of a Vpc over a peering to networks that the remote Vpc neither has nor routes further: it drops what they send there, or sends it
 * straight back. A route or policy of the remote Vpc counts if its own next hop leads on, over as many peerings as it takes.
 */
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf, wrongFields } from '../../api/validation/finding.ts';
import type { Address } from '../../net/address.ts';
import { formatAddress, parseAddress } from '../../net/address.ts';
import type { Cidr } from '../../net/cidr.ts';
import { cidrContains, cidrCovers, cidrsOverlap, formatCidr, hostOrCidr, parseCidr, parseInterfaceAddress } from '../../net/cidr.ts';
import { familiesOf, ofFamily, splitList } from '../../net/dual.ts';
import { destinationsInMatch } from '../../api/values/match-text.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { vpcFindings } from './vpc-state.ts';
import { vpcSpec, vpcView } from './vpc-view.ts';

/** Findings for routes that are valid otherwise. */
export const ineffectivePeeredRoutes: Query<readonly Finding[]> = defineQuery('vpc-ineffective-peered-routes', (world, name) => {
  if ((world.ask(vpcSpec, name)?.vpcPeerings ?? []).length === 0) return [];
  const { routes, links } = world.ask(routing, name);
  return routes.flatMap(({ field, value, hops, ...route }) => {
    const lacking = hops.flatMap((hop) => {
      const remote = links.find(({ cidr }) => cidrContains(cidr, hop))?.remoteVpc;
      const targets = targetsFor(route, hop);
      const search: Search = { origin: name, seen: new Set() };
      return remote === undefined || targets.some((target) => isServed(world, remote, target, search)) ? [] : [{ remote, hop }];
    });
    const [first] = lacking;
    if (first === undefined) return [];
    const { remote } = first;
    const everything = route.destinations === undefined;
    const problem = everything
      ? `leads to Vpc ${remote}, where its next hop ${formatAddress(first.hop)} is, and which has no network and no route that leads on`
      : `lies in no network of Vpc ${remote}, where its next hop ${formatAddress(first.hop)} is`;
    const rule = `Vpc ${remote} drops what this route sends there, or sends it back, until a Subnet or a route of it has the network`;
    return [findingOf({ kind: 'Vpc', name }, { code: 'PeerLacksNetwork', field, value, problem, rule })];
  });
});

interface PeeredRoute {
  readonly field: string;
  readonly value: string;
  readonly hops: readonly Address[];
  /** Undefined for any: a route by source, or a policy whose match does not limit it. */
  readonly destinations: readonly Cidr[] | undefined;
  /** Undefined for any. */
  readonly source: Cidr | undefined;
}

interface Routing {
  readonly routes: readonly PeeredRoute[];
  readonly links: readonly { readonly remoteVpc: string; readonly cidr: Cidr }[];
}

/** The valid routes, policies with next hops, and peerings of a Vpc. */
const routing: Query<Routing> = defineQuery('vpc-routing', (world, name) => {
  const { staticRoutes = [], policyRoutes = [], vpcPeerings = [] } = world.ask(vpcSpec, name) ?? {};
  const wrong = wrongFields(staticRoutes.length + policyRoutes.length + vpcPeerings.length === 0 ? [] : world.ask(vpcFindings, name));
  const routes = staticRoutes.flatMap(({ policy = '', cidr = '', nextHopIP = '' }, i): PeeredRoute[] => {
    const [hop, network] = [parseAddress(nextHopIP), hostOrCidr(cidr)];
    if (hop === undefined || network === undefined || wrong.has(`spec.staticRoutes[${i}]`)) return [];
    const bySource = policy === 'policySrc';
    const field = `spec.staticRoutes[${i}].cidr`;
    return [{ field, value: cidr, hops: [hop], destinations: bySource ? undefined : [network], source: bySource ? network : undefined }];
  });
  const policies = policyRoutes.flatMap(({ action, match = '', nextHopIP = '' }, i): PeeredRoute[] => {
    if (action !== 'reroute' || wrong.has(`spec.policyRoutes[${i}]`)) return [];
    const hops = splitList(nextHopIP).flatMap((hop) => parseAddress(hop) ?? []);
    const texts = destinationsInMatch(match);
    const networks = texts?.flatMap((text) => hostOrCidr(text) ?? []);
    const destinations = networks === undefined || networks.length < (texts ?? []).length ? undefined : networks;
    return [{ field: `spec.policyRoutes[${i}].match`, value: match, hops, destinations, source: undefined }];
  });
  const links = vpcPeerings.flatMap(({ remoteVpc = '', localConnectIP = '' }, i) =>
    wrong.has(`spec.vpcPeerings[${i}]`)
      ? []
      : splitList(localConnectIP).flatMap((text) => {
          const cidr = parseInterfaceAddress(text)?.cidr;
          return cidr === undefined ? [] : [{ remoteVpc, cidr }];
        }),
  );
  return { routes: [...routes, ...policies], links };
});

const EVERYTHING = { 4: parseCidr('0.0.0.0/0'), 6: parseCidr('::/0') } as const;

function targetsFor({ destinations }: Pick<PeeredRoute, 'destinations'>, { family }: Address): readonly Cidr[] {
  if (destinations !== undefined) return destinations;
  const everything = EVERYTHING[family];
  return everything === undefined ? [] : [everything];
}

interface Search {
  readonly origin: string;
  /** `<vpc> <target>` */
  readonly seen: Set<string>;
}

/** Whether packets to some address of the target arrive. True for a Vpc that does not exist, has a foreign router, or is the default one. */
function isServed(world: World, vpc: string, target: Cidr, search: Search): boolean {
  const key = `${vpc} ${formatCidr(target)}`;
  if (vpc === search.origin || search.seen.has(key)) return false;
  search.seen.add(key);
  const view = world.ask(vpcView, vpc);
  if (view === undefined || view.external || view.isDefault) return true;
  const { routes, links } = world.ask(routing, vpc);
  if (links.some(({ cidr }) => cidrCovers(cidr, target))) return true;
  if (networksOf(world, vpc).some((network) => cidrsOverlap(network, target))) return true;
  return routes.some(({ hops, destinations, source }) => {
    if (source !== undefined && !isFrom(world, search.origin, source)) return false;
    return hops.some((hop) => {
      if (hop.family !== target.family) return false;
      const common = destinations?.filter((network) => cidrsOverlap(network, target)) ?? [target];
      const next = links.find(({ cidr }) => cidrContains(cidr, hop))?.remoteVpc;
      return common.some((network) => next === undefined || isServed(world, next, cidrCovers(network, target) ? target : network, search));
    });
  });
}

/** Whether the Vpc may send from the network; true while it has none. */
function isFrom(world: World, vpc: string, source: Cidr): boolean {
  const networks = networksOf(world, vpc);
  return networks.length === 0 || networks.some((network) => cidrsOverlap(network, source));
}

function networksOf(world: World, vpc: string): readonly Cidr[] {
  return [...world.subnetVpcs.in(vpc)].flatMap((subnet) => {
    const view = world.ask(subnetView, subnet);
    if (view === undefined || !view.isOvn || !view.routed) return [];
    return familiesOf(view).flatMap((family) => parseCidr(ofFamily(view, family)?.cidr ?? '') ?? []);
  });
}
