/**
 * Subnets that cannot be carried out together: overlapping networks in one Vpc (across Vpcs they are fine), addresses of nodes
 * inside an overlay network of the default Vpc, a Subnet with the name of a Vpc.
 *
 * Of two that overlap, the one that is in effect stays, else the older one; the other says which it overlaps. What is in effect counts as long as
 * it is: a Subnet that asks for another network, and may not have it, keeps its own from others. One that is refused for another reason is in
 * nobody's way with what it asks for. What a Subnet that vanished left in the router is in the way of all others while somebody has an address
 * of it.
 */
import { isOvnProvider } from '../../../api/names.ts';
import { subnetIntent, vpcIntent } from '../../../world/intent.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { familiesOf, ofFamily } from '../../../net/dual.ts';
import type { Finding } from '../../../api/validation/finding.ts';
import { isLeftOut } from '../../../api/validation/subnet-validation.ts';
import {
  subnetHoldsNode,
  subnetNamedAsVpc,
  subnetOverlap,
  subnetProviderChanged,
  subnetVpcChanged,
  vanished,
} from '../../../api/validation/subnet-conflicts.ts';
import { formatAddress, parseAddress } from '../../../net/address.ts';
import { parseCidr } from '../../../net/cidr.ts';
import { nodeView } from '../../node/node-view.ts';
import { leftInUse } from './left-in-use.ts';
import type { Claim } from './overlapping-claims.ts';
import { givingWay } from './overlapping-claims.ts';
import { isRunning, subnetBasics, subnetSpec } from './subnet-basics.ts';
import type { SubnetBasics } from './subnet-basics.ts';
import { subnetFindings } from './subnet-findings.ts';
import type { SubnetNetworks } from './subnet-networks.ts';
import { askedNetworks, carriedNetworks } from './subnet-networks.ts';

/** In the order of who goes first: those in effect, those that were, what somebody left, and those that are to be. */
const PLACE_IN_EFFECT = 1;
const PLACE_OF_LEFT = 5;
const PLACE_OF_NEW = 6;

/** What is in the way of the Subnet, or undefined. */
export const subnetConflict: Query<Finding | undefined> = defineQuery('subnet-conflict', (world, name) => {
  const view = world.ask(subnetBasics, name);
  if (view === undefined || !view.isOvn) return undefined;
  return isNamedAsVpc(world, view) ? subnetNamedAsVpc(name) : world.ask(vpcOverlaps, view.vpc).get(name);
});

function isNamedAsVpc(world: World, { name, created }: SubnetBasics): boolean {
  const vpc = world.ask(vpcIntent, name);
  return vpc !== undefined && vpc.metadata.creationTimestamp <= created;
}

/** Whatever it overlaps. */
function refusedAnyway(world: World, view: SubnetBasics): boolean {
  return (
    isNamedAsVpc(world, view) ||
    world.ask(subnetStays, view.name) !== undefined ||
    world.ask(subnetFindings, view.name).some((finding) => !isLeftOut(finding))
  );
}

/** What its spec asks that cannot be while it runs: it stays in the Vpc that its router port is in, and one that runs in OVN stays there. */
export const subnetStays: Query<Finding | undefined> = defineQuery('subnet-stays', (world, name) => {
  const view = world.ask(subnetBasics, name);
  const subnet = world.ask(subnetIntent, name);
  if (view === undefined || subnet === undefined) return undefined;
  const { vpc, provider, isOvn } = view;
  const said = world.subnetVpcs.requested(subnet);
  if (said !== vpc) return subnetVpcChanged(name, vpc, said);
  return isOvn && !isOvnProvider(provider) ? subnetProviderChanged(name, provider) : undefined;
});

/** By Subnet of the Vpc: what it overlaps. One pass for all of them, so that a new Subnet costs no square. */
const vpcOverlaps: Query<ReadonlyMap<string, Finding>> = defineQuery('vpc-overlaps', (world, vpc) => {
  const claims = [...world.subnetVpcs.in(vpc)].flatMap((name) => claimsOf(world, name));
  claims.push(...leftClaims(world, vpc));
  if (vpc === world.settings.defaultVpc) claims.push(...nodeClaims(world.ask(nodeAddresses, '')));
  const first = new Map<string, Claim>();
  for (const [{ holder }, before] of givingWayTo(world, claims)) {
    const other = first.get(holder);
    if (other === undefined || before.rank < other.rank) first.set(holder, before);
  }
  const found = new Map<string, Finding>();
  for (const [holder, before] of first) {
    const subnet = { name: holder, spec: world.ask(subnetSpec, holder) ?? {} };
    const { family, base } = before.cidr;
    found.set(
      holder,
      before.kind === 'node'
        ? subnetHoldsNode(subnet, before.holder, formatAddress({ family, value: base }))
        : subnetOverlap(subnet, vpc, before.cidr, before.holder),
    );
  }
  return found;
});

/**
 * By claim that gives way: the first of those it gives way to. Who gives way with what it asks for keeps what it has, and others give way to that;
 * nobody is asked to keep anything twice, so this ends.
 */
function givingWayTo(world: World, claims: Claim[]): ReadonlyMap<Claim, Claim> {
  const keeping = new Set<string>();
  for (;;) {
    const found = givingWay(claims);
    const before = keeping.size;
    for (const { holder, kind } of found.keys()) {
      if (kind !== 'asked' || keeping.has(holder)) continue;
      const kept = keptClaims(world, holder);
      if (kept.length > 0) keeping.add(holder);
      claims.push(...kept);
    }
    if (keeping.size === before) return found;
  }
}

/** Of a Subnet whose router port carries other networks than it asks for: these. */
function keptClaims(world: World, name: string): readonly Claim[] {
  const view = world.ask(subnetBasics, name);
  const asked = world.ask(askedNetworks, name);
  return view === undefined || asked.inPlace || !asked.carries
    ? []
    : claimsTo(world.ask(carriedNetworks, name), view, 'kept', PLACE_IN_EFFECT);
}

/**
 * Before those that are not in effect yet. Who has the name of one takes it over, and keeps it from others until then; one of that name in
 * another Vpc does not.
 */
function leftClaims(world: World, vpc: string): Claim[] {
  return world.ask(leftInUse, vpc).flatMap(({ subnet, cidrs }) => {
    const holder = world.ask(subnetBasics, subnet)?.vpc === vpc ? subnet : vanished(subnet);
    return cidrs.map((cidr) => ({ holder, kind: 'kept' as const, cidr, vlan: '', rank: `${PLACE_OF_LEFT} ${subnet}` }));
  });
}

function claimsOf(world: World, name: string): readonly Claim[] {
  const view = world.ask(subnetBasics, name);
  if (view === undefined || !view.isOvn) return [];
  const running = isRunning(world, name);
  const refused = refusedAnyway(world, view);
  if (refused && !running) return [];
  const networks = world.ask(askedNetworks, name);
  const place = networks.inPlace ? PLACE_IN_EFFECT : running ? placeOfMoving(world, name, networks) : placeOfComing(world, view);
  const elsewhere = refused && !networks.inPlace && networks.carries;
  const asked = claimsTo(networks, view, elsewhere ? 'vain' : 'asked', place);
  return elsewhere ? [...keptClaims(world, name), ...asked] : asked;
}

function claimsTo(
  networks: SubnetNetworks,
  { name, vlan, created, uid }: SubnetBasics,
  kind: Claim['kind'],
  place: number,
): readonly Claim[] {
  return familiesOf(networks).flatMap((family) => {
    const cidr = parseCidr(ofFamily(networks, family)?.cidr ?? '');
    if (cidr === undefined) return [];
    // In effect first, as far as that can be told, then by age, then by uid.
    return [{ holder: name, kind, cidr, vlan, rank: `${place} ${created} ${uid}` }];
  });
}

/**
 * One whose router port somebody took away, or wrote another network into, is in effect all the same; one whose spec was edited since it was
 * accepted, and whose port carries another network, is about to move.
 */
function placeOfMoving(world: World, name: string, { carries }: SubnetNetworks): number {
  const place = world.ask(placeWithoutPort, name);
  return place > 2 && carries ? PLACE_OF_NEW : place;
}

function placeOfComing(world: World, { name, vpc }: SubnetBasics): number {
  return world.ask(leftInUse, vpc).some(({ subnet }) => subnet === name) ? PLACE_OF_LEFT : PLACE_OF_NEW;
}

/**
 * Where somebody deletes a whole router, no port says which of two was in effect: the one that is said to be accepted as its spec is, before
 * one that was edited since, before one that is refused. Value, not object: other parts of a status run nobody's rule.
 */
const placeWithoutPort: Query<2 | 3 | 4> = defineQuery('subnet-place-without-port', (world, name) => {
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
          holder: node,
          kind: 'node' as const,
          cidr: { family: address.family, base: address.value, prefix: address.family === 4 ? 32 : 128 },
          vlan: '',
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
