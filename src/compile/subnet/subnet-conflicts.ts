/**
 * Subnets that cannot be carried out together: overlapping networks in one Vpc (across Vpcs they are fine), addresses of nodes
 * inside an overlay network of the default Vpc, a Subnet with the name of a Vpc.
 *
 * Of two that overlap, the one that is in effect stays, else the older one; the other says which it overlaps. One that is refused for
 * another reason, with no network running, is in nobody's way. What a Subnet that vanished left in the router is in the way of all others
 * while somebody has an address of it.
 */
import { vpcIntent } from '../../world/intent.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { familiesOf, ofFamily } from '../../net/dual.ts';
import type { Finding } from '../../api/finding.ts';
import { isLeftOut } from '../../api/subnet-validation.ts';
import { subnetHoldsNode, subnetNamedAsVpc, subnetOverlap, vanished } from '../../api/subnet-conflicts.ts';
import { formatAddress, parseAddress } from '../../net/address.ts';
import { parseCidr } from '../../net/cidr.ts';
import { nodeView } from '../node/node-view.ts';
import { leftInUse } from './left-in-use.ts';
import type { Claim } from './overlapping-claims.ts';
import { givingWay } from './overlapping-claims.ts';
import { isRunning, subnetBasics, subnetSpec } from './subnet-basics.ts';
import type { SubnetBasics } from './subnet-basics.ts';
import { subnetFindings } from './subnet-findings.ts';
import type { SubnetNetworks } from './subnet-networks.ts';
import { askedNetworks } from './subnet-networks.ts';

/** In the order of who goes first: after those in effect, and before those that are to be. */
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

function refusedAnyway(world: World, view: SubnetBasics): boolean {
  return isNamedAsVpc(world, view) || world.ask(subnetFindings, view.name).some((finding) => !isLeftOut(finding));
}

/** By Subnet of the Vpc: what it overlaps. One pass for all of them, so that a new Subnet costs no square. */
const vpcOverlaps: Query<ReadonlyMap<string, Finding>> = defineQuery('vpc-overlaps', (world, vpc) => {
  const claims = [...world.subnetVpcs.in(vpc)].flatMap((name) => claimsOf(world, name));
  claims.push(...leftClaims(world, vpc));
  if (vpc === world.settings.defaultVpc) claims.push(...nodeClaims(world.ask(nodeAddresses, '')));
  const first = new Map<string, Claim>();
  for (const [{ holder }, before] of givingWay(claims)) {
    const other = first.get(holder);
    if (other === undefined || before.rank < other.rank) first.set(holder, before);
  }
  const found = new Map<string, Finding>();
  for (const [holder, before] of first) {
    const subnet = { name: holder, spec: world.ask(subnetSpec, holder) ?? {} };
    const { family, base } = before.cidr;
    found.set(
      holder,
      before.node
        ? subnetHoldsNode(subnet, before.holder, formatAddress({ family, value: base }))
        : subnetOverlap(subnet, vpc, before.cidr, before.holder),
    );
  }
  return found;
});

/** Before those that are not in effect yet; who has the name of one takes it over. */
function leftClaims(world: World, vpc: string): Claim[] {
  return world
    .ask(leftInUse, vpc)
    .filter(({ subnet }) => world.ask(subnetBasics, subnet) === undefined)
    .flatMap(({ subnet, cidrs }) =>
      cidrs.map((cidr) => ({ holder: vanished(subnet), node: false, cidr, vlan: '', rank: `${PLACE_OF_LEFT} ${subnet}` })),
    );
}

function claimsOf(world: World, name: string): Claim[] {
  const view = world.ask(subnetBasics, name);
  if (view === undefined || !view.isOvn) return [];
  const networks = world.ask(askedNetworks, name);
  const running = isRunning(world, name);
  if (refusedAnyway(world, view) && !running) return [];
  const place = networks.inPlace ? 1 : running ? placeOfMoving(world, name, networks) : placeOfComing(world, view);
  return familiesOf(networks).flatMap((family) => {
    const cidr = parseCidr(ofFamily(networks, family)?.cidr ?? '');
    if (cidr === undefined) return [];
    // In effect first, as far as that can be told, then by age, then by uid.
    return [{ holder: name, node: false, cidr, vlan: view.vlan, rank: `${place} ${view.created} ${view.uid}` }];
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
          node: true,
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
