/**
 * Peerings with a link network that overlaps a Subnet or another peering of the Vpc: the router has that network at two ports, and sends
 * its traffic through one of them.
 */
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf, wrongFields } from '../../api/validation/finding.ts';
import type { VpcSpec } from '../../api/kinds/vpc.ts';
import type { Cidr } from '../../net/cidr.ts';
import { formatCidr, parseCidr, parseInterfaceAddress } from '../../net/cidr.ts';
import { familiesOf, ofFamily, splitList } from '../../net/dual.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Claim } from '../subnet/validity/overlapping-claims.ts';
import { yieldingClaims } from '../subnet/validity/overlapping-claims.ts';
import { subnetAcceptance } from '../subnet/validity/subnet-acceptance.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { vpcFindings } from './vpc-state.ts';
import { vpcSpec } from './vpc-view.ts';

interface LinkClaim extends Claim {
  readonly field: string;
  readonly value: string;
}

/** Findings for peerings that are valid otherwise. */
export const overlappingPeerings: Query<readonly Finding[]> = defineQuery('vpc-overlapping-peerings', (world, name) => {
  const spec = world.ask(vpcSpec, name);
  return spec === undefined ? [] : peeringOverlaps(world, name, spec, world.ask(vpcFindings, name));
});

/**
 * The same for a spec that is not in effect yet.
 * @param findings of the spec by itself
 * @param requested a Subnet that requests these networks
 */
export function peeringOverlaps(
  world: World,
  name: string,
  spec: VpcSpec,
  findings: readonly Finding[],
  requested?: { readonly subnet: string; readonly cidrs: readonly Cidr[] },
): readonly Finding[] {
  const links = linksOf(spec, findings);
  if (links.length === 0) return [];
  const others = [...world.subnetVpcs.in(name)]
    .filter((subnet) => subnet !== requested?.subnet)
    .flatMap((subnet) => networksOf(world, subnet));
  const own = requested === undefined ? [] : claimsOf(requested.subnet, requested.cidrs);
  const before = yieldingClaims([...others, ...own, ...links]);
  return links.flatMap((link) => {
    const other = before.get(link);
    if (other === undefined) return [];
    const problem = `overlaps ${formatCidr(other.cidr)} of ${other.owner}`;
    const rule =
      'the router sends traffic for it through one of the two ports: give the link a network that nothing else in the Vpc has, such as 169.254.0.0/30';
    return [findingOf({ kind: 'Vpc', name }, { code: 'PeeringOverlaps', field: link.field, value: link.value, problem, rule })];
  });
}

function linksOf({ vpcPeerings = [] }: VpcSpec, findings: readonly Finding[]): readonly LinkClaim[] {
  if (vpcPeerings.length === 0) return [];
  const wrong = wrongFields(findings);
  return vpcPeerings.flatMap(({ remoteVpc = '', localConnectIP = '' }, i) => {
    const item = `spec.vpcPeerings[${i}]`;
    if (wrong.has(item)) return [];
    const owner = `${item}, the link to Vpc ${remoteVpc}`;
    const rank = `link ${String(i).padStart(9, '0')}`;
    return splitList(localConnectIP).flatMap((text) => {
      const cidr = parseInterfaceAddress(text)?.cidr;
      const field = `${item}.localConnectIP`;
      return cidr === undefined ? [] : [{ owner, kind: 'requested' as const, cidr, networks: [''], rank, field, value: localConnectIP }];
    });
  });
}

/** The networks of a Subnet in effect. */
function networksOf(world: World, name: string): readonly Claim[] {
  const view = world.ask(subnetView, name);
  if (view === undefined || !view.isOvn || !view.routed || world.ask(subnetAcceptance, name).kind === 'invalid') return [];
  return claimsOf(
    name,
    familiesOf(view).flatMap((family) => parseCidr(ofFamily(view, family)?.cidr ?? '') ?? []),
  );
}

function claimsOf(subnet: string, cidrs: readonly Cidr[]): readonly Claim[] {
  return cidrs.map((cidr) => ({ owner: `Subnet ${subnet}`, kind: 'inEffect' as const, cidr, networks: [''], rank: `Subnet ${subnet}` }));
}
