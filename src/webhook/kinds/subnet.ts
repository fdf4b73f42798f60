/**
 * Validates the creation and change of a Subnet. A Vpc that does not exist yet is no error, with or without the webhook: manifests come in
 * any order.
 */
import type { Finding } from '../../api/validation/finding.ts';
import { apiServerAddresses } from '../../compile/service/service-view.ts';
import { isOvnProvider } from '../../api/names.ts';
import type { SubnetSurroundings } from '../../api/validation/subnet-conflicts.ts';
import {
  subnetConflicts,
  subnetMtuChanged,
  subnetProviderChanged,
  subnetUpdateFindings,
  removedSubnetText,
} from '../../api/validation/subnet-conflicts.ts';
import type { NamedSubnet } from '../../api/defaults/subnet-defaults.ts';
import { effectiveProvider, effectiveVpc, subnetCidrs } from '../../api/defaults/subnet-defaults.ts';
import { acceptsNoSubnet } from '../../kinds/subnet/dependencies/vpc-subnets.ts';
import { allowedHostBits, hostBitsFinding } from '../../api/validation/subnet-host-bits.ts';
import { servicesOverlap } from '../../api/validation/subnet-services.ts';
import { subnetFindings } from '../../api/validation/subnet-validation.ts';
import { kilnAnnotation } from '../../api/well-known.ts';
import type { Subnet } from '../../api/kinds/subnet.ts';
import { nodeView } from '../../compile/node/node-view.ts';
import { subnetAcceptance, vpcMissing, vpcTerminating } from '../../compile/subnet/validity/subnet-acceptance.ts';
import { changeUnderPods, mayChangeUnderPods } from '../../compile/subnet/validity/change-under-pods.ts';
import { externalRouted } from '../../compile/subnet/validity/external-routed.ts';
import { externalVlanExchanged } from '../../compile/subnet/validity/external-vlan.ts';
import { podsInSubnet, usersText } from '../../compile/subnet/validity/gateway-users.ts';
import { keptNetworks } from '../../compile/subnet/validity/accepted-spec.ts';
import { subnetBasics } from '../../compile/subnet/validity/spec-in-effect.ts';
import { isRunning } from '../../compile/subnet/validity/subnet-basics.ts';
import { routerPortDropped } from '../../compile/subnet/validity/subnet-conflicts.ts';
import { requestedNetworks, cidrsOf, networkInUse, networksRequestedBy } from '../../compile/subnet/validity/subnet-networks.ts';
import type { NetworkInUse } from '../../compile/subnet/validity/orphaned-in-use.ts';
import { orphanedInUse } from '../../compile/subnet/validity/orphaned-in-use.ts';
import { selectedOutsideVpcBy } from '../../compile/subnet/validity/subnet-namespaces.ts';
import { networkMissing } from '../../compile/subnet/validity/subnet-provider.ts';
import { unimplementedSubnetFields } from '../../compile/subnet/subnet-spec.ts';
import { unimplementedFieldSentence } from '../../compile/unimplemented-fields.ts';
import { peeringOverlaps } from '../../compile/vpc/peering-overlaps.ts';
import { vpcFindings } from '../../compile/vpc/vpc-state.ts';
import { vpcSpec, vpcView } from '../../compile/vpc/vpc-view.ts';
import type { Cidr } from '../../net/cidr.ts';
import { cidrCovers, formatCidr, parseCidr } from '../../net/cidr.ts';
import type { Dual } from '../../net/dual.ts';
import { ofFamily, splitList } from '../../net/dual.ts';
import type { World } from '../../world/world.ts';
import type { Denial, Observed, AdmissionResult } from '../protocol/admission-result.ts';
import { forbidden, invalid, newFindings } from '../protocol/admission-result.ts';

export function validateSubnetCreate(subnet: Subnet, observed: Observed): AdmissionResult {
  const { world, complete } = observed;
  const named = namedOf(subnet);
  const denials: Denial[] = subnetFindings(named).map(invalid);
  const warnings = [...warningsOf(named, observed), ...(complete ? selectedOutside(world, subnet) : [])];
  if (complete && isOvn(named)) {
    if (denials.length === 0) denials.push(...conflictsOf(world, subnet).map(invalid));
    const vpc = effectiveVpc(named.spec, world.settings);
    const view = world.ask(vpcView, vpc);
    if (view === undefined) warnings.push(vpcMissing(named.name, vpc).message);
    else if (world.ask(acceptsNoSubnet, vpc)) denials.push(forbidden(vpcTerminating(named.name, vpc), 'spec.vpc'));
  }
  return { denials, warnings };
}

export function validateSubnetUpdate(before: Subnet, after: Subnet, observed: Observed): AdmissionResult {
  const { world, complete } = observed;
  const [old, now] = [namedOf(before), namedOf(after)];
  const findings = [
    ...newFindings(subnetFindings(now), subnetFindings(old)),
    ...subnetUpdateFindings(old, now, world.settings),
    ...leavesOvn(world, old, now),
    ...outsideLost(world, before, after, complete),
    ...newFindings(withoutRouterPort(world, after, complete), withoutRouterPort(world, before, complete)),
  ];
  if (findings.length === 0 && complete && isOvn(now)) findings.push(...newFindings(conflictsOf(world, after), conflictsOf(world, before)));
  const denials = findings.map(invalid);
  if (denials.length === 0 && complete && isOvn(now))
    denials.push(...newFindings(inUse(world, after), inUse(world, before)).map(invalid), ...mtuChanged(world, before, after));
  const ofPods = complete ? [...maskWarnings(world, before, after), ...selectedOutside(world, after)] : [];
  return { denials, warnings: [...warningsOf(now, observed), ...ofPods] };
}

/**
 * Warns, if an administrator allows a narrower CIDR, that running pods keep the old mask: they look for the addresses outside of the new
 * CIDR on their own switch, and could not reach another Subnet with them.
 */
function maskWarnings(world: World, before: Subnet, after: Subnet): readonly string[] {
  if (!mayChangeUnderPods(after)) return [];
  const [old, now] = [before, after].map(({ spec }) => subnetCidrs(spec)) as [Dual<Cidr>, Dual<Cidr>];
  const left = ([4, 6] as const).flatMap((family) => {
    const [from, to] = [ofFamily(old, family), ofFamily(now, family)];
    return from !== undefined && to !== undefined && to.prefix > from.prefix && cidrCovers(from, to) ? [formatCidr(from)] : [];
  });
  const { name } = after.metadata;
  const users = left.length === 0 ? undefined : podsInSubnet(world, name);
  if (users === undefined || users.count === 0) return [];
  return [
    `Subnet ${name}: spec.cidrBlock: running pods keep the mask of ${left.join(',')} until they are made again (${usersText(users)}): make no ` +
      'other Subnet of the addresses that leave before that',
  ];
}

/** A broad selector in a Vpc with a list of namespaces: new pods of the others would wait. */
function selectedOutside(world: World, subnet: Subnet): readonly string[] {
  const { name, spec } = namedOf(subnet);
  if (!isOvn({ name, spec })) return [];
  const about = { name, vpc: effectiveVpc(spec, world.settings), admitted: admittedOf(subnet) };
  return selectedOutsideVpcBy(world, about, spec).map(({ message }) => message);
}

function admittedOf({ metadata: { annotations = {} } }: Subnet): readonly string[] {
  return splitList(annotations[kilnAnnotation.admitNamespaces] ?? '');
}

/** A Subnet whose switch does not exist yet may change to another provider: no running network is removed. */
function leavesOvn(world: World, old: NamedSubnet, now: NamedSubnet): readonly Finding[] {
  if (!isOvn(old) || isOvn(now) || !isRunning(world, now.name)) return [];
  return [subnetProviderChanged(now.name, effectiveProvider(now.spec))];
}

/** The physical gateway of EIPs is replaced by a router of OVN, or their physical network by another one. */
function outsideLost(world: World, before: Subnet, after: Subnet, complete: boolean): readonly Finding[] {
  const { name } = after.metadata;
  if (!complete || !isRunning(world, name)) return [];
  const finding = externalRouted(world, name, before.spec, after.spec) ?? externalVlanExchanged(world, before.spec, after);
  return finding === undefined ? [] : [finding];
}

function withoutRouterPort(world: World, subnet: Subnet, complete: boolean): readonly Finding[] {
  const finding = complete ? routerPortDropped(world, subnet) : undefined;
  return finding === undefined ? [] : [finding];
}

/** Addresses in use that the new CIDR excludes, and what has routes through the present gateway. */
function inUse(world: World, subnet: Subnet): readonly Pick<Finding, 'code' | 'field' | 'message'>[] {
  const finding = networkInUse(subnet.metadata.name, networksRequestedBy(world, subnet));
  return finding === undefined ? [] : [finding];
}

/**
 * The node agent reads the MTU in the spec for new pods, whatever the rules do: only admission can deny a change. Pods of networks outside
 * of OVN have the MTU of another plugin.
 */
function mtuChanged(world: World, before: Subnet, after: Subnet): readonly Denial[] {
  const { name } = after.metadata;
  const mtu = after.spec.mtu ?? 0;
  if ((before.spec.mtu ?? 0) === mtu || mayChangeUnderPods(after)) return [];
  const users = podsInSubnet(world, name);
  return users.count === 0 ? [] : [invalid(subnetMtuChanged(name, mtu, usersText(users), changeUnderPods(name)))];
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
    ...unimplementedSubnetFields(spec).map((field) => unimplementedFieldSentence('subnets', name, field)),
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
  return newFindings(mine({ subnet: subnet.name, cidrs }), mine({ subnet: subnet.name, cidrs: [] }));
}

function conflictsOf(world: World, subnet: Subnet): readonly Finding[] {
  const named = namedOf(subnet);
  return subnetConflicts(named, surroundingsOf(world, named, admittedOf(subnet)));
}

/** What the rules compare a Subnet with: the networks in effect of the implemented Subnets of its Vpc, and the nodes. */
function surroundingsOf(world: World, { name, spec }: NamedSubnet, admitted: readonly string[]): SubnetSurroundings {
  const vpc = effectiveVpc(spec, world.settings);
  const overlay = (spec.vlan ?? '') === '';
  return {
    settings: world.settings,
    subnets: [
      ...[...world.subnetVpcs.in(vpc)].flatMap((other) => (other === name ? [] : implementedSubnet(world, other, vpc))),
      ...world.ask(orphanedInUse, vpc).flatMap((left) => (left.subnet === name ? [] : orphanedNetwork(world, left, vpc))),
    ],
    vpc: { name: vpc, namespaces: world.ask(vpcSpec, vpc)?.namespaces ?? [], admitted },
    apiServerAddresses: world.ask(apiServerAddresses, ''),
    vpcNames: new Set(world.vpcs.has(name) ? [name] : []),
    nodeAddresses: overlay
      ? [...world.nodes.keys()].flatMap((node) => (world.ask(nodeView, node)?.internalIps ?? []).map((address) => ({ node, address })))
      : [],
  };
}

function orphanedNetwork(world: World, { subnet, cidrs }: NetworkInUse, vpc: string): readonly NamedSubnet[] {
  const name = world.ask(subnetBasics, subnet)?.vpc === vpc ? subnet : removedSubnetText(subnet);
  return [{ name, spec: { vpc, cidrBlock: cidrs.map(formatCidr).join(',') } }];
}

function implementedSubnet(world: World, name: string, vpc: string): readonly NamedSubnet[] {
  const subnet = world.subnets.get(name);
  const { kind } = world.ask(subnetAcceptance, name);
  if (subnet === undefined || world.ask(subnetBasics, name)?.isOvn !== true || kind === 'invalid') return [];
  const [kept, asked] = [kind === 'frozen' ? world.ask(keptNetworks, name) : {}, world.ask(requestedNetworks, name)];
  return [{ name, spec: { ...subnet.spec, vpc, cidrBlock: cidrsOf(kept) || cidrsOf(asked) } }];
}
