/**
 * The way of a custom Vpc to the outside: routes that lead by way of its external Subnets. Kiln makes none (Kube-OVN 1.12 did): without one the
 * router reaches the hosts of these networks alone, and no answer to what comes from beyond leaves it.
 */
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf } from '../../api/validation/finding.ts';
import { identityOf } from '../../nb/row-id.ts';
import { staticRouteId } from '../../nb/tables.ts';
import type { Address } from '../../net/address.ts';
import { parseAddress } from '../../net/address.ts';
import { cidrContains } from '../../net/cidr.ts';
import { familiesOf, ofFamily } from '../../net/dual.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { connectedExternals } from '../nat/external-status.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { networksOfSubnet } from './unconnected-external.ts';
import { ecmpPeers, hasEcmpSubnet } from './bfd-sessions.ts';
import { nextHopsOf } from './vpc-next-hops.ts';
import { vpcView } from './vpc-view.ts';

/**
 * The finding for a Vpc with ports in external Subnets and without a route by way of one. None for the default Vpc: there a policy sends
 * outside what a rule translates.
 */
export const noWayOutside: Query<readonly Finding[]> = defineQuery('vpc-no-way-outside', (world, name) => {
  const view = world.ask(vpcView, name);
  if (view === undefined || view.isDefault || view.terminating) return [];
  const connected = world.ask(connectedExternals, name);
  const gateways = connected.flatMap((subnet) => gatewaysOf(world, subnet));
  // An external Subnet without a gateway leads nowhere else.
  if (gateways.length === 0) return [];
  const networks = connected.flatMap((subnet) => networksOfSubnet(world, subnet));
  const isOutside = (address: Address): boolean => networks.some((network) => cidrContains(network, address));
  if (nextHopsOf(world, name).some(({ address }) => isOutside(address))) return [];
  if (world.ask(hasEcmpSubnet, name) && world.ask(ecmpPeers, name).length > 0) return [];
  if (defaultNextHops(world, view.router).some(isOutside)) return [];
  const problem = `has its port in Subnet ${connected.join(', ')}, and no route of the Vpc leads by way of it: by that port the router reaches the hosts of this network alone`;
  const [first = ''] = gateways;
  const prefix = first.includes(':') ? '::/0' : '0.0.0.0/0';
  const rule = `to reach hosts beyond it add to spec.staticRoutes {cidr: ${prefix}, nextHopIP: ${first}, policy: policyDst}`;
  return [findingOf({ kind: 'Vpc', name }, { code: 'NoRouteOutside', field: 'spec.enableExternal', value: 'true', problem, rule })];
});

function gatewaysOf(world: World, subnet: string): readonly string[] {
  const view = world.ask(subnetView, subnet);
  return view === undefined
    ? []
    : familiesOf(view)
        .flatMap((family) => ofFamily(view, family)?.gateway ?? [])
        .filter((text) => text !== '');
}

/** Those of default routes of any owner, such as one that a person made with ovn-nbctl. */
function defaultNextHops(world: World, router: string): readonly Address[] {
  return ['0.0.0.0/0', '::/0'].flatMap((prefix) =>
    [...world.rows.ecmpRoutes(staticRouteId(router, '', 'dst-ip', prefix, ''))].flatMap((id) => {
      const identity = identityOf(id);
      return parseAddress(identity.slice(identity.lastIndexOf('|') + 1)) ?? [];
    }),
  );
}
