/**
 * The way of a custom Vpc to the outside: routes that lead by way of its external Subnets. Kiln makes none (Kube-OVN 1.12 did): without one the
 * router reaches the hosts of these networks alone, and no answer to what comes from beyond leaves it.
 */
import type { Finding } from '../../api/validation/finding.ts';
import { findingOf } from '../../api/validation/finding.ts';
import { identityOf } from '../../nb/row-id.ts';
import { staticRouteId } from '../../nb/tables.ts';
import type { Address, Family } from '../../net/address.ts';
import { parseAddress } from '../../net/address.ts';
import { cidrContains } from '../../net/cidr.ts';
import { familiesOf, ofFamily } from '../../net/dual.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { connectedExternals } from '../nat/external-status.ts';
import { translations } from '../nat/translation.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { networksOfSubnet } from './unconnected-external.ts';
import { ecmpPeers, hasEcmpSubnet } from './bfd-sessions.ts';
import { nextHopsOf } from './vpc-next-hops.ts';
import { vpcView } from './vpc-view.ts';

/**
 * The finding for a Vpc with ports in external Subnets and without a route by way of one, each family by itself. None for the default Vpc: there a policy sends
 * outside what a rule translates.
 */
export const noWayOutside: Query<readonly Finding[]> = defineQuery('vpc-no-way-outside', (world, name) => {
  const view = world.ask(vpcView, name);
  if (view === undefined || view.isDefault || view.terminating) return [];
  const connected = world.ask(connectedExternals, name);
  const gateways = connected.flatMap((subnet) => gatewaysOf(world, subnet));
  const networks = connected.flatMap((subnet) => networksOfSubnet(world, subnet));
  const hops = [
    ...nextHopsOf(world, name).map(({ address }) => address),
    ...defaultNextHops(world, view.router),
    ...(world.ask(hasEcmpSubnet, name) ? world.ask(ecmpPeers, name).flatMap(({ peer }) => parseAddress(peer) ?? []) : []),
  ].filter((hop) => networks.some((network) => cidrContains(network, hop)));
  // An external Subnet without a gateway leads nowhere else.
  const without = gateways.filter(({ family }) => !hops.some((hop) => hop.family === family));
  // A Vpc may use one family of two alone outside: the other one is missing where it is translated.
  const translated = without.filter(({ family }) => world.ask(translatesFamily, `${name} ${family}`));
  const lacking = translated.length > 0 || hops.length > 0 ? translated : without.slice(0, 1);
  if (lacking.length === 0) return [];
  const families = [...new Set(lacking.map(({ family }) => family))];
  const [route, though] =
    hops.length === 0
      ? ['route', '']
      : [`IPv${families.join(' or IPv')} route`, `, though its NAT rules translate IPv${families.join(' and IPv')}`];
  const problem = `has its port in Subnet ${connected.join(', ')}, and no ${route} of the Vpc leads by way of it${though}: by that port the router reaches the hosts of this network alone`;
  const routes = families.map((family) => {
    const nextHop = lacking.find((one) => one.family === family)?.gateway ?? '';
    return `{cidr: ${family === 4 ? '0.0.0.0/0' : '::/0'}, nextHopIP: ${nextHop}, policy: policyDst}`;
  });
  const rule = `to reach hosts beyond it add to spec.staticRoutes ${routes.join(' and ')}`;
  return [findingOf({ kind: 'Vpc', name }, { code: 'NoRouteOutside', field: 'spec.enableExternal', value: 'true', problem, rule })];
});

/** Whether the router of a Vpc translates addresses of a family. @param key Vpc and family, separated by a space */
const translatesFamily: Query<boolean> = defineQuery(
  'vpc-translates-family',
  (world, key) => world.derived(translations).bucket('vpc-family', key).size > 0,
);

function gatewaysOf(world: World, subnet: string): readonly { readonly family: Family; readonly gateway: string }[] {
  const view = world.ask(subnetView, subnet);
  if (view === undefined) return [];
  return familiesOf(view).flatMap((family) => {
    const gateway = ofFamily(view, family)?.gateway ?? '';
    return gateway === '' ? [] : [{ family, gateway }];
  });
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
