/** Rules between a Subnet and other objects, over plain data of the caller; and rules for changes of a Subnet. */

import { parseAddress } from '../../net/address.ts';
import { cidrContains, cidrsOverlap, formatCidr } from '../../net/cidr.ts';
import type { Cidr } from '../../net/cidr.ts';
import { ofFamily } from '../../net/dual.ts';
import type { Dual } from '../../net/dual.ts';
import { Findings, findingOf } from './finding.ts';
import type { Finding } from './finding.ts';
import { effectiveVpc, isMacOnly, subnetCidrs, withSubnetDefaults } from '../defaults/subnet-defaults.ts';
import type { NamedSubnet, SubnetSettings } from '../defaults/subnet-defaults.ts';
import { labelKey } from '../well-known.ts';
import { commandText } from '../../text/command-text.ts';

/** The other objects with which a Subnet is compared. Unknown parts may be absent. */
export interface SubnetSurroundings {
  readonly settings: SubnetSettings;
  /** All Subnets; the Subnet itself may be among them. */
  readonly subnets?: Iterable<NamedSubnet>;
  readonly vpcNames?: ReadonlySet<string>;
  /** The Vpc that the Subnet names, if it exists. */
  readonly vpc?: {
    readonly name: string;
    readonly namespaces: readonly string[];
    /** Those that the Subnet's annotation `kiln.io/admit-namespaces` names. */
    readonly admitted?: readonly string[];
  };
  /** Addresses of the API server and internal addresses of nodes: pods of a Subnet with these addresses could not reach them. */
  readonly apiServerAddresses?: readonly string[];
  readonly nodeAddresses?: readonly { readonly node: string; readonly address: string }[];
}

/** The network of `b` with which one of `a` overlaps. */
const overlapOf = (a: Dual<Cidr>, b: Dual<Cidr>): Cidr | undefined => {
  for (const own of [a.v4, a.v6]) {
    const other = own && ofFamily(b, own.family);
    if (own && other && cidrsOverlap(own, other)) return other;
  }
  return undefined;
};

const holder = (cidrs: Dual<Cidr>, text: string): Cidr | undefined => {
  const address = parseAddress(text);
  const cidr = address && ofFamily(cidrs, address.family);
  return address && cidr && cidrContains(cidr, address) ? cidr : undefined;
};

/** The first of these addresses that is in the networks. */
export const heldAddress = (cidrs: Dual<Cidr>, addresses: readonly string[]): string | undefined =>
  addresses.find((address) => holder(cidrs, address) !== undefined);

/** The Subnet has the name of a Vpc. */
export const subnetNamedAsVpc = (name: string): Finding =>
  findingOf(
    { kind: 'Subnet', name },
    {
      code: 'SubnetNamedAsVpc',
      field: 'metadata.name',
      value: name,
      problem: 'is also the name of a Vpc',
      rule: 'a Subnet and a Vpc need different names, because ports between them are named after both',
    },
  );

/** @param other the overlapping network of the other Subnet */
export const subnetOverlap = ({ name, spec }: NamedSubnet, vpc: string, other: Cidr, holder: string): Finding =>
  findingOf(
    { kind: 'Subnet', name },
    {
      code: 'SubnetCidrOverlap',
      field: 'spec.cidrBlock',
      value: spec.cidrBlock ?? '',
      problem: `overlaps ${formatCidr(other)} of Subnet ${holder}`,
      rule: `networks of one Vpc (${vpc || 'none'}) and Vlan must be apart`,
    },
  );

/** Names an overlapping Subnet that was removed by force while its addresses are in use. */
export const removedSubnetText = (name: string): string =>
  `${name}, which is gone and has addresses in use (${commandText`kubectl get ips -l ${labelKey.subnet}=${name}`})`;

/** @param address an internal address of the node, which pods of the Subnet could not reach */
export const subnetHoldsNode = ({ name, spec }: NamedSubnet, node: string, address: string): Finding =>
  findingOf(
    { kind: 'Subnet', name },
    {
      code: 'SubnetHoldsNode',
      field: 'spec.cidrBlock',
      value: spec.cidrBlock ?? '',
      problem: `holds ${address}, the address of node ${node}`,
      rule: 'an overlay Subnet of the default Vpc must leave nodes reachable',
    },
  );

/** @param address an address of the API server, which pods of the Subnet could not reach */
export const subnetHoldsApiServer = ({ name, spec }: NamedSubnet, address: string): Finding =>
  findingOf(
    { kind: 'Subnet', name },
    {
      code: 'SubnetHoldsApiServer',
      field: 'spec.cidrBlock',
      value: spec.cidrBlock ?? '',
      problem: `holds ${address}, an address of the API server (Service default/kubernetes)`,
      rule: 'a Subnet of the default Vpc must leave it reachable',
    },
  );

/** @param index of the namespace in the Subnet's list */
export const subnetNamespaceNotOfVpc = (name: string, vpc: string, index: number, namespace: string): Finding =>
  findingOf(
    { kind: 'Subnet', name },
    {
      code: 'SubnetNamespaceNotOfVpc',
      field: `spec.namespaces[${index}]`,
      value: namespace,
      problem: `is not a namespace of Vpc ${vpc}`,
      rule: `the Vpc lists the namespaces that its Subnets may serve, and new pods of others wait unless another Subnet claims them; add it to spec.namespaces there: ${commandText`kubectl edit vpc ${vpc}`}`,
    },
  );

/** The same of namespaces that a label selects. @param namespaces as text */
export const subnetSelectsOutsideVpc = (name: string, vpc: string, namespaces: string): Finding =>
  findingOf(
    { kind: 'Subnet', name },
    {
      code: 'SubnetNamespaceNotOfVpc',
      field: 'spec.namespaceSelectors',
      value: namespaces,
      problem: `is selected, and is not of Vpc ${vpc}`,
      rule: `the Vpc lists the namespaces that its Subnets may serve, and new pods of others wait unless another Subnet claims them; narrow the selector, change labels, or add to spec.namespaces there: ${commandText`kubectl edit vpc ${vpc}`}`,
    },
  );

/** @param from the present Vpc */
export const subnetVpcChanged = (name: string, from: string, to: string): Finding =>
  findingOf(
    { kind: 'Subnet', name },
    {
      code: 'SubnetVpcChanged',
      field: 'spec.vpc',
      value: to,
      problem: `would move the Subnet out of Vpc ${from || 'none'}`,
      rule: `the Subnet is in Vpc ${from || 'none'}, and a Subnet does not move; set it back to ${from || 'none'}, or make another Subnet in ${to || 'none'}`,
    },
  );

/** The provider cannot change while OVN implements the network. */
export const subnetProviderChanged = (name: string, provider: string): Finding =>
  findingOf(
    { kind: 'Subnet', name },
    {
      code: 'SubnetProviderChanged',
      field: 'spec.provider',
      value: provider,
      problem: 'would take the network out of OVN while it runs',
      rule: 'a Subnet that runs in OVN stays with its provider (ovn, or one that ends in .ovn); set it back, or make another Subnet',
    },
  );

/**
 * Pods with routes to the router port would lose it.
 * @param users as text
 * @param allow the command that allows it
 */
export const subnetRouterPortDropped = (name: string, vlan: string, users: string, allow: string): Finding =>
  findingOf(
    { kind: 'Subnet', name },
    {
      code: 'SubnetGatewayInUse',
      field: 'spec.vlan',
      value: vlan,
      problem: `would take the gateway out of OVN, and cut off what has routes through it: ${users}`,
      rule: `set spec.logicalGateway to true, or put spec.vlan back, or delete all of these, or ${allow} and make them again`,
    },
  );

/**
 * The physical network of EIPs would be lost, and the router of the Subnet's Vpc would answer for the physical gateway.
 * @param users as text
 */
export const subnetExternalRouted = (name: string, field: 'spec.vlan' | 'spec.logicalGateway', value: string, users: string): Finding =>
  findingOf(
    { kind: 'Subnet', name },
    {
      code: 'SubnetGatewayInUse',
      field,
      value,
      problem: `would give the address of the physical gateway to a router of OVN, and cut off the EIPs that reach the outside by it: ${users}`,
      rule: `put it back, or delete all of these first`,
    },
  );

/**
 * EIPs would be on another physical network, where no router knows them.
 * @param vlans the present one and the requested one
 * @param users as text
 * @param allow the command that allows it
 */
export const subnetVlanExchanged = (
  name: string,
  { from, to }: { readonly from: string; readonly to: string },
  users: string,
  allow: string,
): Finding =>
  findingOf(
    { kind: 'Subnet', name },
    {
      code: 'SubnetVlanInUse',
      field: 'spec.vlan',
      value: to,
      problem: `would put the Subnet on another physical network than Vlan ${from}, and cut off the EIPs that reach the outside by that: ${users}`,
      rule: `put it back to ${from}, or delete all of these first, or ${allow}`,
    },
  );

/** Interfaces of running pods keep their MTU: large packets between them and new ones would be lost. Parameters as above. */
export const subnetMtuChanged = (name: string, mtu: number, users: string, allow: string): Finding =>
  findingOf(
    { kind: 'Subnet', name },
    {
      code: 'SubnetMtuInUse',
      field: 'spec.mtu',
      value: String(mtu),
      problem: `would be the MTU of new pods alone, and large packets between them and running ones would be lost: ${users}`,
      rule: `put it back, or delete all of these first, or ${allow} and make them again`,
    },
  );

/** The rules between objects that the Subnet breaks. */
export const subnetConflicts = (subnet: NamedSubnet, around: SubnetSurroundings): readonly Finding[] => {
  const { name, spec } = subnet;
  const findings = new Findings({ kind: 'Subnet', name });
  if (around.vpcNames?.has(name) === true) findings.include(subnetNamedAsVpc(name));
  const vpc = effectiveVpc(spec, around.settings);
  const cidrs = subnetCidrs(spec);
  otherSubnets(findings, subnet, vpc, cidrs, around);
  if (vpc === around.settings.defaultVpc) reachability(findings, subnet, cidrs, around);
  namespaces(findings, subnet, vpc, around);
  return findings.list;
};

const otherSubnets = (
  findings: Findings,
  { name, spec }: NamedSubnet,
  vpc: string,
  cidrs: Dual<Cidr>,
  { subnets = [], settings }: SubnetSurroundings,
): void => {
  for (const other of subnets) {
    if (other.name === name) continue;
    if (effectiveVpc(other.spec, settings) === vpc && areInOneNetwork(spec, other.spec)) {
      const overlap = overlapOf(cidrs, subnetCidrs(other.spec));
      if (overlap !== undefined) findings.include(subnetOverlap({ name, spec }, vpc, overlap, other.name));
    }
    const table = spec.policyRoutingTableID ?? 0;
    if (
      (spec.externalEgressGateway ?? '') !== '' &&
      (other.spec.externalEgressGateway ?? '') !== '' &&
      (other.spec.policyRoutingTableID ?? 0) === table
    )
      findings.add({
        code: 'SubnetRoutingTableTaken',
        field: 'spec.policyRoutingTableID',
        value: String(table),
        problem: `is used by Subnet ${other.name}`,
        rule: 'each Subnet with an external egress gateway needs a routing table of its own',
      });
  }
};

/** One Vlan, or ports in one router. */
function areInOneNetwork(a: NamedSubnet['spec'], b: NamedSubnet['spec']): boolean {
  return (a.vlan ?? '') === (b.vlan ?? '') || (hasRouterPort(a) && hasRouterPort(b));
}

function hasRouterPort({ vlan = '', logicalGateway, u2oInterconnection }: NamedSubnet['spec']): boolean {
  return vlan === '' || logicalGateway === true || u2oInterconnection === true;
}

const reachability = (findings: Findings, subnet: NamedSubnet, cidrs: Dual<Cidr>, around: SubnetSurroundings): void => {
  const { spec } = subnet;
  const apiServer = heldAddress(cidrs, around.apiServerAddresses ?? []);
  if (apiServer !== undefined) findings.include(subnetHoldsApiServer(subnet, apiServer));
  const isOverlay = (spec.vlan ?? '') === '' || spec.logicalGateway === true;
  if (!isOverlay) return;
  for (const { node, address } of around.nodeAddresses ?? []) {
    if (holder(cidrs, address) === undefined) continue;
    findings.include(subnetHoldsNode(subnet, node, address));
    return;
  }
};

const namespaces = (findings: Findings, { name, spec }: NamedSubnet, vpc: string, around: SubnetSurroundings): void => {
  if (around.vpc === undefined || vpc === around.settings.defaultVpc || around.vpc.name !== vpc) return;
  for (const finding of namespacesNotOfVpc(name, vpc, spec.namespaces, around.vpc)) findings.include(finding);
};

/** Namespaces of a Subnet that are none of its Vpc's. A Vpc that lists none is for all. */
export const namespacesNotOfVpc = (
  name: string,
  vpc: string,
  listed: readonly string[] = [],
  { namespaces, admitted = [] }: Pick<NonNullable<SubnetSurroundings['vpc']>, 'namespaces' | 'admitted'>,
): readonly Finding[] => {
  if (namespaces.length === 0) return [];
  const allowed = new Set([...namespaces, ...admitted]);
  return listed.flatMap((namespace, index) => (allowed.has(namespace) ? [] : [subnetNamespaceNotOfVpc(name, vpc, index, namespace)]));
};

/** The rules that a change breaks, whether the Subnet is in use or not. */
export const subnetUpdateFindings = (before: NamedSubnet, after: NamedSubnet, settings: SubnetSettings): readonly Finding[] => {
  const findings = new Findings({ kind: 'Subnet', name: after.name });
  const [old, now] = [withSubnetDefaults(before, settings), withSubnetDefaults(after, settings)];
  if ((old.vlan ?? '') !== '' && isMacOnly(old) !== isMacOnly(now))
    findings.add({
      code: 'SubnetCidrComesOrGoes',
      field: 'spec.cidrBlock',
      value: now.cidrBlock ?? '',
      problem: isMacOnly(now) ? 'takes away the network' : 'gives a network to a Subnet that had none',
      rule: 'an underlay Subnet is with or without addresses for good: make another Subnet',
    });
  if ((old.vpc ?? '') !== (now.vpc ?? '')) findings.include(subnetVpcChanged(after.name, old.vpc ?? '', now.vpc ?? ''));
  return findings.list;
};
