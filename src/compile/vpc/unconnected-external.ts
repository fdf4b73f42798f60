/** Next hops that lie in the network of an external Subnet in which the router of the Vpc has no port. */
import type { VpcSpec } from '../../api/kinds/vpc.ts';
import type { Address } from '../../net/address.ts';
import type { Cidr } from '../../net/cidr.ts';
import { cidrContains, parseCidr } from '../../net/cidr.ts';
import { familiesOf, ofFamily } from '../../net/dual.ts';
import { requestedExternals } from '../../world/external-subnets.ts';
import type { World } from '../../world/world.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { vpcSpec } from './vpc-view.ts';

/** What a next hop in an external Subnet waits for, while the router has no port there. Undefined for one that is in none. */
export function unconnectedExternal(
  world: World,
  name: string,
  address: Address,
): { readonly problem: string; readonly rule: string } | undefined {
  const spec = world.ask(vpcSpec, name);
  const subnet =
    spec && externalsOf(world, spec).find((one) => networksOfSubnet(world, one).some((network) => cidrContains(network, address)));
  if (subnet === undefined) return missingExternal(world, name);
  const where = `lies in the network of external Subnet ${subnet}, in which the router has no port`;
  if (world.ask(requestedExternals, name).includes(subnet))
    return { problem: where, rule: 'OVN ignores the route until it has one; condition External of the Vpc says what that waits for' };
  const [isDefault, isListed] = [subnet === world.settings.externalSubnet, spec?.extraExternalSubnets?.includes(subnet)];
  const missing = [
    ...(spec?.enableExternal === true ? [] : ['set spec.enableExternal']),
    ...(isListed === true || (isDefault && (spec?.extraExternalSubnets ?? []).length === 0)
      ? []
      : ['list it in spec.extraExternalSubnets']),
  ];
  return { problem: where, rule: `OVN ignores the route until it has one: ${missing.join(' and ')}` };
}

/** One that does not exist may have the next hop. */
function missingExternal(world: World, name: string): ReturnType<typeof unconnectedExternal> {
  const missing = world.ask(requestedExternals, name).find((subnet) => world.ask(subnetView, subnet) === undefined);
  if (missing === undefined) return undefined;
  const problem = `lies in no network of the Vpc, and external Subnet ${missing}, which it requests, does not exist`;
  return { problem, rule: 'OVN ignores the route until the router has a port in a network with the next hop' };
}

function externalsOf(world: World, { extraExternalSubnets = [] }: VpcSpec): readonly string[] {
  return [...new Set([world.settings.externalSubnet, ...(extraExternalSubnets ?? [])])];
}

/** The networks of a Subnet; none for a missing one. */
export function networksOfSubnet(world: World, subnet: string): readonly Cidr[] {
  const view = world.ask(subnetView, subnet);
  return view === undefined ? [] : familiesOf(view).flatMap((family) => parseCidr(ofFamily(view, family)?.cidr ?? '') ?? []);
}
