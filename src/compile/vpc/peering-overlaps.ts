/**
 * Links to other Vpcs whose own network is that of a Subnet or of another link as well: the router has it at two ports, and sends what goes
 * there by one of them.
 */
import type { Finding } from '../../api/finding.ts';
import { findingOf, wrongFields } from '../../api/finding.ts';
import { formatCidr, parseCidr, parseInterfaceAddress } from '../../net/cidr.ts';
import { familiesOf, ofFamily, splitList } from '../../net/dual.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Claim } from '../subnet/overlapping-claims.ts';
import { givingWay } from '../subnet/overlapping-claims.ts';
import { subnetAcceptance } from '../subnet/subnet-acceptance.ts';
import { subnetView } from '../subnet/subnet-view.ts';
import { vpcFindings } from './vpc-state.ts';
import { vpcSpec } from './vpc-view.ts';

interface LinkClaim extends Claim {
  readonly field: string;
  readonly value: string;
}

/** Of links that are in order otherwise. */
export const overlappingPeerings: Query<readonly Finding[]> = defineQuery('vpc-overlapping-peerings', (world, name) => {
  const links = linksOf(world, name);
  if (links.length === 0) return [];
  const before = givingWay([...subnetsOf(world, name), ...links]);
  return links.flatMap((link) => {
    const other = before.get(link);
    if (other === undefined) return [];
    const problem = `overlaps ${formatCidr(other.cidr)} of ${other.holder}`;
    const rule =
      'the router sends what goes there by one of the two ports: give the link a network that nothing else in the Vpc has, such as 169.254.0.0/30';
    return [findingOf({ kind: 'Vpc', name }, { code: 'PeeringOverlaps', field: link.field, value: link.value, problem, rule })];
  });
});

function linksOf(world: World, name: string): readonly LinkClaim[] {
  const peerings = world.ask(vpcSpec, name)?.vpcPeerings ?? [];
  if (peerings.length === 0) return [];
  const wrong = wrongFields(world.ask(vpcFindings, name));
  return peerings.flatMap(({ remoteVpc = '', localConnectIP = '' }, i) => {
    const item = `spec.vpcPeerings[${i}]`;
    if (wrong.has(item)) return [];
    const holder = `${item}, the link to Vpc ${remoteVpc}`;
    const rank = `link ${String(i).padStart(9, '0')}`;
    return splitList(localConnectIP).flatMap((text) => {
      const cidr = parseInterfaceAddress(text)?.cidr;
      const field = `${item}.localConnectIP`;
      return cidr === undefined ? [] : [{ holder, node: false, cidr, vlan: '', rank, field, value: localConnectIP }];
    });
  });
}

function subnetsOf(world: World, vpc: string): readonly Claim[] {
  return [...world.subnetVpcs.in(vpc)].flatMap((name) => {
    const view = world.ask(subnetView, name);
    if (view === undefined || !view.isOvn || !view.routed || world.ask(subnetAcceptance, name).kind === 'refused') return [];
    return familiesOf(view)
      .flatMap((family) => parseCidr(ofFamily(view, family)?.cidr ?? '') ?? [])
      .map((cidr) => ({ holder: `Subnet ${name}`, node: true, cidr, vlan: '', rank: `Subnet ${name}` }));
  });
}
