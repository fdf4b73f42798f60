/** Rules between a Subnet and other objects, over plain data of the caller; and rules for changes of a Subnet. */

import { formatAddress, parseAddress } from '../../net/address.ts';
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
  readonly vpc?: { readonly name: string; readonly namespaces: readonly string[] };
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
export const vanished = (name: string): string =>
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
    if (effectiveVpc(other.spec, settings) === vpc && (other.spec.vlan ?? '') === (spec.vlan ?? '')) {
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

const reachability = (findings: Findings, subnet: NamedSubnet, cidrs: Dual<Cidr>, around: SubnetSurroundings): void => {
  const { spec } = subnet;
  const value = spec.cidrBlock ?? '';
  for (const address of around.apiServerAddresses ?? [])
    if (holder(cidrs, address) !== undefined)
      findings.add({
        code: 'SubnetHoldsApiServer',
        field: 'spec.cidrBlock',
        value,
        problem: `holds ${address}, an address of the API server`,
        rule: 'a Subnet of the default Vpc must leave it reachable',
      });
  const isOverlay = (spec.vlan ?? '') === '' || spec.logicalGateway === true;
  if (!isOverlay) return;
  for (const { node, address } of around.nodeAddresses ?? []) {
    if (holder(cidrs, address) === undefined) continue;
    findings.include(subnetHoldsNode(subnet, node, address));
    return;
  }
};

const namespaces = (findings: Findings, { spec }: NamedSubnet, vpc: string, around: SubnetSurroundings): void => {
  if (around.vpc === undefined || vpc === around.settings.defaultVpc || around.vpc.name !== vpc) return;
  const allowed = new Set(around.vpc.namespaces);
  for (const [index, namespace] of (spec.namespaces ?? []).entries())
    if (!allowed.has(namespace))
      findings.add({
        code: 'SubnetNamespaceNotOfVpc',
        field: `spec.namespaces[${index}]`,
        value: namespace,
        problem: `is not a namespace of Vpc ${vpc}`,
        rule: 'the Vpc lists the namespaces that its Subnets may serve; add it to its spec.namespaces',
      });
};

/** The number of observed holders of a Subnet's addresses, by family. */
export interface SubnetUsage {
  readonly v4: number | bigint;
  readonly v6: number | bigint;
}

const gatewayOf = (text: string | undefined, family: 4 | 6): string => {
  for (const item of (text ?? '').split(',')) {
    const address = parseAddress(item.trim());
    if (address?.family === family) return formatAddress(address);
  }
  return '';
};

/** The rules that a change breaks. `usage` is observed, not taken from the object's status. */
export const subnetUpdateFindings = (
  before: NamedSubnet,
  after: NamedSubnet,
  usage: SubnetUsage,
  settings: SubnetSettings,
): readonly Finding[] => {
  const findings = new Findings({ kind: 'Subnet', name: after.name });
  const [old, now] = [withSubnetDefaults(before, settings), withSubnetDefaults(after, settings)];
  for (const family of [4, 6] as const) {
    const used = family === 4 ? usage.v4 : usage.v6;
    const [from, to] = [gatewayOf(old.gateway, family), gatewayOf(now.gateway, family)];
    if (used > 0 && from !== '' && from !== to)
      findings.add({
        code: 'SubnetGatewayInUse',
        field: 'spec.gateway',
        value: now.gateway ?? '',
        problem: `takes away ${from}, the gateway of ${used} addresses in use`,
        rule: 'the gateway of a Subnet can change while no address is in use',
      });
  }
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
