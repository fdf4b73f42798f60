/**
 * Conflicts between Subnets: overlapping networks in one Vpc (different Vpcs may overlap), addresses of nodes inside an overlay network of
 * the default Vpc, an address of the API server in any network of that, and a Subnet with the name of a Vpc.
 *
 * Of two Subnets that overlap, the one in effect stays, else the older one; the other reports the overlap. A network counts as long as it
 * is in effect: a Subnet that requests another network, and cannot have it, keeps its present one. The requested network of a Subnet that
 * is invalid for another reason blocks no other Subnet. An orphaned network blocks all others while an address of it is in use.
 */
import { isOvnProvider } from '../../../api/names.ts';
import type { SubnetIntent } from '../../../world/intent.ts';
import { subnetIntent, vpcIntent } from '../../../world/intent.ts';
import type { Query, World } from '../../../world/world.ts';
import { apiServerAddresses } from '../../service/service-view.ts';
import { defineQuery } from '../../../world/world.ts';
import { familiesOf, ofFamily } from '../../../net/dual.ts';
import type { Finding } from '../../../api/validation/finding.ts';
import { isLeftOut } from '../../../api/validation/subnet-validation.ts';
import {
  heldAddress,
  subnetHoldsApiServer,
  subnetHoldsNode,
  subnetNamedAsVpc,
  subnetOverlap,
  subnetProviderChanged,
  subnetRouterPortDropped,
  subnetVpcChanged,
  removedSubnetText,
} from '../../../api/validation/subnet-conflicts.ts';
import { subnetCidrs } from '../../../api/defaults/subnet-defaults.ts';
import { formatAddress, parseAddress } from '../../../net/address.ts';
import { parseCidr } from '../../../net/cidr.ts';
import { acceptedSpec, keptNetworks } from './accepted-spec.ts';
import { externalRouted } from './external-routed.ts';
import { externalVlanExchanged } from './external-vlan.ts';
import { changeUnderPods, mayChangeUnderPods } from './change-under-pods.ts';
import { usersText } from './gateway-users.ts';
import { nodeView } from '../../node/node-view.ts';
import { orphanedInUse } from './orphaned-in-use.ts';
import type { Claim } from './overlapping-claims.ts';
import { yieldingClaims } from './overlapping-claims.ts';
import { isRunning, requestedBasics, requestedSpec } from './subnet-basics.ts';
import type { SubnetBasics } from './subnet-basics.ts';
import { subnetFindings } from './subnet-findings.ts';
import type { SubnetNetworks } from './subnet-networks.ts';
import { cidrsOf, requestedNetworks, routerPortUsers } from './subnet-networks.ts';

/** Ranks; the lowest has precedence: networks in effect, those that were (2 to 4), orphaned networks, new networks. */
const RANK_IN_EFFECT = 1;
const RANK_OF_ORPHANED = 5;
const RANK_OF_NEW = 6;

/** Networks of claims, beside the names of Vlans: what pods reach through the router alone, and all that has a port in the router of the Vpc. */
const OVERLAY = ' overlay';
const ROUTER = ' router';
const OF_OVERLAY = [OVERLAY, ROUTER];

/** The conflict of a Subnet, or undefined. */
export const subnetConflict: Query<Finding | undefined> = defineQuery('subnet-conflict', (world, name) => {
  const view = world.ask(requestedBasics, name);
  if (view === undefined || !view.isOvn) return undefined;
  if (isNamedAsVpc(world, view)) return subnetNamedAsVpc(name);
  return holdsApiServer(world, view) ?? world.ask(vpcOverlaps, view.vpc).get(name);
});

/** Pods of a Subnet that contains an address of the API server would look for that address on their own switch. */
function holdsApiServer(world: World, { name, inDefaultVpc, isOvn }: SubnetBasics): Finding | undefined {
  const addresses = inDefaultVpc && isOvn ? world.ask(apiServerAddresses, '') : [];
  if (addresses.length === 0) return undefined;
  const spec = world.ask(requestedSpec, name) ?? {};
  const held = heldAddress(subnetCidrs(spec), addresses);
  return held === undefined ? undefined : subnetHoldsApiServer({ name, spec }, held);
}

function isNamedAsVpc(world: World, { name, created }: SubnetBasics): boolean {
  const vpc = world.ask(vpcIntent, name);
  return vpc !== undefined && vpc.metadata.creationTimestamp <= created;
}

/** Whether the Subnet is invalid for another reason than an overlap. */
function isInvalidAnyway(world: World, view: SubnetBasics): boolean {
  return (
    isNamedAsVpc(world, view) ||
    holdsApiServer(world, view) !== undefined ||
    world.ask(immutableFieldChanged, view.name) !== undefined ||
    world.ask(subnetFindings, view.name).some((finding) => !isLeftOut(finding))
  );
}

/**
 * A change of the spec that a running Subnet cannot make: to another Vpc, to a provider outside of OVN, or to an underlay without a router
 * port while routes of running pods lead to that port, or to a network with one, or on another Vlan, while EIPs have the physical gateway.
 */
export const immutableFieldChanged: Query<Finding | undefined> = defineQuery('subnet-immutable-field-changed', (world, name) => {
  const view = world.ask(requestedBasics, name);
  const subnet = world.ask(subnetIntent, name);
  if (view === undefined || subnet === undefined) return undefined;
  const { vpc, provider, isOvn } = view;
  const requestedVpc = world.subnetVpcs.requested(subnet);
  if (requestedVpc !== vpc) return subnetVpcChanged(name, vpc, requestedVpc);
  if (isOvn && !isOvnProvider(provider)) return subnetProviderChanged(name, provider);
  const accepted = isRunning(world, name) ? world.ask(acceptedSpec, name) : undefined;
  const dropped = routerPortDropped(world, subnet);
  if (dropped !== undefined || accepted === undefined) return dropped;
  return externalRouted(world, name, accepted, subnet.spec) ?? externalVlanExchanged(world, accepted, subnet);
});

/** The gateway that pods have leaves OVN. Undefined if an administrator allows it. */
export function routerPortDropped(world: World, subnet: SubnetIntent): Finding | undefined {
  const { vlan = '', logicalGateway = false } = subnet.spec;
  if (vlan === '' || logicalGateway || mayChangeUnderPods(subnet)) return undefined;
  const users = routerPortUsers(world, subnet);
  return users.count === 0
    ? undefined
    : subnetRouterPortDropped(subnet.metadata.name, vlan, usersText(users), changeUnderPods(subnet.metadata.name));
}

/** The first claim that each Subnet of a Vpc yields to, by Subnet. One pass for all, so that the cost does not grow with the square. */
const firstOverlaps: Query<ReadonlyMap<string, Claim>> = defineQuery('vpc-first-overlaps', (world, vpc) => {
  const claims = [...world.subnetVpcs.in(vpc)].flatMap((name) => claimsOf(world, name));
  claims.push(...orphanedClaims(world, vpc));
  if (vpc === world.settings.defaultVpc) claims.push(...nodeClaims(world.ask(nodeAddresses, '')));
  const first = new Map<string, Claim>();
  for (const [{ owner }, before] of yieldingTo(world, claims)) {
    const other = first.get(owner);
    if (other === undefined || before.rank < other.rank) first.set(owner, before);
  }
  return first;
});

const vpcOverlaps: Query<ReadonlyMap<string, Finding>> = defineQuery('vpc-overlaps', (world, vpc) => {
  const first = world.ask(firstOverlaps, vpc);
  const found = new Map<string, Finding>();
  for (const [owner, before] of first) {
    const subnet = { name: owner, spec: world.ask(requestedSpec, owner) ?? {} };
    const { family, base } = before.cidr;
    found.set(
      owner,
      before.kind === 'node'
        ? subnetHoldsNode(subnet, before.owner, formatAddress({ family, value: base }))
        : subnetOverlap(subnet, vpc, before.cidr, before.owner),
    );
  }
  return found;
});

/**
 * The claims that yield, each with the first claim that it yields to. If the requested network of a Subnet yields, the one in effect stays,
 * so that is claimed as well, and others may yield to it. Each Subnet adds these claims once, so the loop ends.
 */
function yieldingTo(world: World, claims: Claim[]): ReadonlyMap<Claim, Claim> {
  const keeping = new Set<string>();
  for (;;) {
    const found = yieldingClaims(claims);
    const before = keeping.size;
    for (const { owner, kind } of found.keys()) {
      if (kind !== 'requested' || keeping.has(owner)) continue;
      const present = claimsInEffect(world, owner);
      if (present.length > 0) keeping.add(owner);
      claims.push(...present);
    }
    if (keeping.size === before) return found;
  }
}

/** The networks that a Subnet keeps while its spec is refused, if they differ from the requested ones. */
function claimsInEffect(world: World, name: string): readonly Claim[] {
  const view = world.ask(requestedBasics, name);
  if (view === undefined || !keepsOthers(world, name)) return [];
  return claimsTo(world.ask(keptNetworks, name), view, 'inEffect', RANK_IN_EFFECT, world.ask(acceptedSpec, name));
}

function keepsOthers(world: World, name: string): boolean {
  const requested = world.ask(requestedNetworks, name);
  const accepted = world.ask(acceptedSpec, name);
  if (accepted === undefined) return !requested.inPlace && requested.carries;
  const isWithin = (spec: ClaimingSpec): string => networksWithin(spec).join();
  return (
    cidrsOf(world.ask(keptNetworks, name)) !== cidrsOf(requested) || isWithin(accepted) !== isWithin(world.ask(requestedSpec, name) ?? {})
  );
}

/**
 * The orphaned networks, before those that are not in effect yet. A Subnet of the same name and Vpc takes its network over, so it claims
 * the network as its own.
 */
function orphanedClaims(world: World, vpc: string): Claim[] {
  return world.ask(orphanedInUse, vpc).flatMap(({ subnet, cidrs }) => {
    const owner = world.ask(requestedBasics, subnet)?.vpc === vpc ? subnet : removedSubnetText(subnet);
    return cidrs.map((cidr) => ({ owner, kind: 'inEffect' as const, cidr, networks: OF_OVERLAY, rank: `${RANK_OF_ORPHANED} ${subnet}` }));
  });
}

function claimsOf(world: World, name: string): readonly Claim[] {
  const view = world.ask(requestedBasics, name);
  if (view === undefined || !view.isOvn) return [];
  const running = isRunning(world, name);
  const isInvalid = isInvalidAnyway(world, view);
  if (isInvalid && !running) return [];
  const networks = world.ask(requestedNetworks, name);
  const precedence = networks.inPlace ? RANK_IN_EFFECT : running ? rankOfMoving(world, name, networks) : rankOfNew(world, view);
  const elsewhere = isInvalid && keepsOthers(world, name);
  const requested = claimsTo(networks, view, elsewhere ? 'impossible' : 'requested', precedence);
  return elsewhere ? [...claimsInEffect(world, name), ...requested] : requested;
}

type ClaimingSpec = Pick<SubnetIntent['spec'], 'vlan' | 'logicalGateway' | 'u2oInterconnection'>;

function networksWithin({ vlan = '', logicalGateway, u2oInterconnection }: ClaimingSpec): readonly string[] {
  if (vlan === '') return OF_OVERLAY;
  return logicalGateway === true || u2oInterconnection === true ? [vlan, ROUTER] : [vlan];
}

function claimsTo(
  networks: SubnetNetworks,
  { name, vlan, logicalGateway, interconnected, created, uid }: SubnetBasics,
  kind: Claim['kind'],
  precedence: number,
  spec: ClaimingSpec = { vlan, logicalGateway, u2oInterconnection: interconnected },
): readonly Claim[] {
  const within = networksWithin(spec);
  return familiesOf(networks).flatMap((family) => {
    const cidr = parseCidr(ofFamily(networks, family)?.cidr ?? '');
    if (cidr === undefined) return [];
    // By rank, then by age, then by uid.
    return [{ owner: name, kind, cidr, networks: within, rank: `${precedence} ${created} ${uid}` }];
  });
}

/**
 * A Subnet without its router port, or with another network in it by hand, is in effect all the same. If its spec was edited since it was
 * accepted, and the port has another network, the Subnet is about to move.
 */
function rankOfMoving(world: World, name: string, { carries }: SubnetNetworks): number {
  const precedence = world.ask(rankWithoutPort, name);
  return precedence > 2 && carries ? RANK_OF_NEW : precedence;
}

function rankOfNew(world: World, { name, vpc }: SubnetBasics): number {
  return world.ask(orphanedInUse, vpc).some(({ subnet }) => subnet === name) ? RANK_OF_ORPHANED : RANK_OF_NEW;
}

/**
 * If a whole router was deleted, no port shows which of two Subnets was in effect. Then the order is: accepted with the present spec,
 * edited since it was accepted, not accepted. A query of one value, so that other changes of the status run no rule again.
 */
const rankWithoutPort: Query<2 | 3 | 4> = defineQuery('subnet-rank-without-port', (world, name) => {
  const { metadata, status } = world.subnets.get(name) ?? {};
  const accepted = status?.conditions?.find(({ type, status: is }) => type === 'Accepted' && is === 'True');
  if (accepted === undefined) return 4;
  return accepted.observedGeneration === metadata?.generation ? 2 : 3;
});

function nodeClaims(addresses: Readonly<Record<string, readonly string[]>>): Claim[] {
  return Object.entries(addresses).flatMap(([node, texts]) =>
    texts.flatMap((text) => {
      const address = parseAddress(text);
      if (address === undefined) return [];
      return [
        {
          owner: node,
          kind: 'node' as const,
          cidr: { family: address.family, base: address.value, prefix: address.family === 4 ? 32 : 128 },
          networks: [OVERLAY],
          rank: `0 ${node}`,
        },
      ];
    }),
  );
}

/** By node: its InternalIPs. */
const nodeAddresses: Query<Readonly<Record<string, readonly string[]>>> = defineQuery('node-addresses', (world) => {
  const found: Record<string, readonly string[]> = {};
  for (const name of world.nodes.keys()) found[name] = world.ask(nodeView, name)?.internalIps ?? [];
  return found;
});

/** The node whose InternalIP keeps a Subnet of the default Vpc from taking effect. */
export const nodeInSubnet: Query<string | undefined> = defineQuery('subnet-node-inside', (world, name) => {
  const before = world.ask(firstOverlaps, world.settings.defaultVpc).get(name);
  return before?.kind === 'node' ? before.owner : undefined;
});
