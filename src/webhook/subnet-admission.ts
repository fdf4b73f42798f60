/**
 * Judges the creation and change of a Subnet. A Vpc that does not exist yet is no error, with or without the webhook: manifests come in any
 * order.
 */
import type { Finding } from '../api/validation/finding.ts';
import { isOvnProvider } from '../api/names.ts';
import type { SubnetSurroundings } from '../api/validation/subnet-conflicts.ts';
import { subnetConflicts, subnetProviderChanged, subnetUpdateFindings, vanished } from '../api/validation/subnet-conflicts.ts';
import type { NamedSubnet } from '../api/defaults/subnet-defaults.ts';
import { effectiveProvider, effectiveVpc } from '../api/defaults/subnet-defaults.ts';
import { acceptsNoSubnet } from '../blockers/vpc-subnets.ts';
import { allowedHostBits, hostBitsFinding } from '../api/validation/host-bits.ts';
import { servicesOverlap } from '../api/validation/service-network.ts';
import { subnetFindings } from '../api/validation/subnet-validation.ts';
import type { Subnet } from '../api/kinds/subnet.ts';
import { nodeView } from '../compile/node/node-view.ts';
import { subnetAcceptance, vpcMissing, vpcTerminating } from '../compile/subnet/judging/subnet-acceptance.ts';
import { isRunning, subnetBasics } from '../compile/subnet/judging/subnet-basics.ts';
import {
  requestedNetworks,
  routerPortNetworks,
  cidrsOf,
  networkInUse,
  networksRequestedBy,
} from '../compile/subnet/judging/subnet-networks.ts';
import type { NetworkInUse } from '../compile/subnet/judging/orphaned-in-use.ts';
import { orphanedInUse } from '../compile/subnet/judging/orphaned-in-use.ts';
import { networkMissing } from '../compile/subnet/judging/subnet-provider.ts';
import { unsupportedSubnetFields } from '../compile/subnet/subnet-spec.ts';
import { unsupportedSentence } from '../compile/unsupported.ts';
import { peeringOverlaps } from '../compile/vpc/peering-overlaps.ts';
import { vpcFindings } from '../compile/vpc/vpc-state.ts';
import { vpcSpec, vpcView } from '../compile/vpc/vpc-view.ts';
import type { Cidr } from '../net/cidr.ts';
import { formatCidr, parseCidr } from '../net/cidr.ts';
import { splitList } from '../net/dual.ts';
import type { World } from '../world/world.ts';
import type { Objection, Observed, Opinion } from './opinion.ts';
import { forbidden, invalid, newOnes } from './opinion.ts';

export function subnetCreated(subnet: Subnet, observed: Observed): Opinion {
  const { world, complete } = observed;
  const named = namedOf(subnet);
  const objections: Objection[] = subnetFindings(named).map(invalid);
  const warnings = [...warningsOf(named, observed)];
  if (complete && isOvn(named)) {
    if (objections.length === 0) objections.push(...conflictsOf(world, named).map(invalid));
    const vpc = effectiveVpc(named.spec, world.settings);
    const view = world.ask(vpcView, vpc);
    if (view === undefined) warnings.push(vpcMissing(named.name, vpc).message);
    else if (world.ask(acceptsNoSubnet, vpc)) objections.push(forbidden(vpcTerminating(named.name, vpc), 'spec.vpc'));
  }
  return { objections, warnings };
}

export function subnetChanged(before: Subnet, after: Subnet, observed: Observed): Opinion {
  const { world, complete } = observed;
  const [old, now] = [namedOf(before), namedOf(after)];
  // The gateway may change while addresses are in use: Kiln implements that change.
  const findings = [
    ...newOnes(subnetFindings(now), subnetFindings(old)),
    ...subnetUpdateFindings(old, now, { v4: 0, v6: 0 }, world.settings),
    ...leavesOvn(world, old, now),
  ];
  if (findings.length === 0 && complete && isOvn(now)) findings.push(...newOnes(conflictsOf(world, now), conflictsOf(world, old)));
  const objections = findings.map(invalid);
  if (objections.length === 0 && complete && isOvn(now))
    objections.push(...newOnes(inUse(world, after), inUse(world, before)).map(invalid));
  return { objections, warnings: warningsOf(now, observed) };
}

/** A Subnet whose switch does not exist yet may change to another provider: no running network is removed. */
function leavesOvn(world: World, old: NamedSubnet, now: NamedSubnet): readonly Finding[] {
  if (!isOvn(old) || isOvn(now) || !isRunning(world, now.name)) return [];
  return [subnetProviderChanged(now.name, effectiveProvider(now.spec))];
}

/** Addresses in use that the new CIDR excludes. */
function inUse(world: World, subnet: Subnet): readonly Pick<Finding, 'code' | 'field' | 'message'>[] {
  const finding = networkInUse(subnet.metadata.name, networksRequestedBy(world, subnet));
  return finding === undefined ? [] : [finding];
}

function namedOf({ metadata: { name }, spec }: Subnet): NamedSubnet {
  return { name, spec };
}

function isOvn({ spec }: NamedSubnet): boolean {
  return isOvnProvider(effectiveProvider(spec));
}

function warningsOf({ name, spec }: NamedSubnet, { world, complete }: Observed): readonly string[] {
  const hostBits = hostBitsFinding({ name, spec });
  const found = [
    ...(hostBits === undefined ? [] : [hostBits]),
    ...allowedHostBits({ name, spec }),
    ...servicesOverlap({ name, spec }, world.settings),
    ...(complete ? networkMissing(world, name, spec.provider ?? '') : []),
    ...(complete ? linksOverlapped(world, { name, spec }) : []),
  ];
  return [
    ...unsupportedSubnetFields(spec).map((field) => unsupportedSentence('subnets', name, field)),
    ...found.map(({ message }) => message),
  ];
}

/** Links of its Vpc that overlap with the Subnet's network: the Vpc's condition reports them as well. */
function linksOverlapped(world: World, subnet: NamedSubnet): readonly Finding[] {
  const vpc = effectiveVpc(subnet.spec, world.settings);
  const spec = world.ask(vpcSpec, vpc);
  if (
    (spec?.vpcPeerings ?? []).length === 0 ||
    spec === undefined ||
    !isOvn(subnet) ||
    ((subnet.spec.vlan ?? '') !== '' && subnet.spec.logicalGateway !== true)
  )
    return [];
  const cidrs = splitList(subnet.spec.cidrBlock ?? '').flatMap((text) => parseCidr(text) ?? []);
  const mine = (asked: { readonly subnet: string; readonly cidrs: readonly Cidr[] }): readonly Finding[] =>
    peeringOverlaps(world, vpc, spec, world.ask(vpcFindings, vpc), asked);
  return newOnes(mine({ subnet: subnet.name, cidrs }), mine({ subnet: subnet.name, cidrs: [] }));
}

function conflictsOf(world: World, subnet: NamedSubnet): readonly Finding[] {
  return subnetConflicts(subnet, surroundingsOf(world, subnet));
}

/** What the rules compare a Subnet with: the networks in effect of the implemented Subnets of its Vpc, and the nodes. */
function surroundingsOf(world: World, { name, spec }: NamedSubnet): SubnetSurroundings {
  const vpc = effectiveVpc(spec, world.settings);
  const overlay = (spec.vlan ?? '') === '';
  return {
    settings: world.settings,
    subnets: [
      ...[...world.subnetVpcs.in(vpc)].flatMap((other) => (other === name ? [] : implementedSubnet(world, other, vpc))),
      ...world.ask(orphanedInUse, vpc).flatMap((left) => (left.subnet === name ? [] : orphanedNetwork(world, left, vpc))),
    ],
    vpcNames: new Set(world.vpcs.has(name) ? [name] : []),
    nodeAddresses: overlay
      ? [...world.nodes.keys()].flatMap((node) => (world.ask(nodeView, node)?.internalIps ?? []).map((address) => ({ node, address })))
      : [],
  };
}

function orphanedNetwork(world: World, { subnet, cidrs }: NetworkInUse, vpc: string): readonly NamedSubnet[] {
  const name = world.ask(subnetBasics, subnet)?.vpc === vpc ? subnet : vanished(subnet);
  return [{ name, spec: { vpc, cidrBlock: cidrs.map(formatCidr).join(',') } }];
}

function implementedSubnet(world: World, name: string, vpc: string): readonly NamedSubnet[] {
  const subnet = world.subnets.get(name);
  const { kind } = world.ask(subnetAcceptance, name);
  if (subnet === undefined || world.ask(subnetBasics, name)?.isOvn !== true || kind === 'invalid') return [];
  const asked = world.ask(requestedNetworks, name);
  const networks = kind === 'frozen' && asked.carries ? world.ask(routerPortNetworks, name) : asked;
  return [{ name, spec: { ...subnet.spec, vpc, cidrBlock: cidrsOf(networks) } }];
}
