/** The spec of a Subnet as it was last accepted, and the networks that it keeps while a later spec is refused. */
import type { SubnetSpec } from '../../../api/kinds/subnet.ts';
import { isLeftOut, subnetFindings } from '../../../api/validation/subnet-validation.ts';
import { acceptedSpecIn } from '../../../api/validation/subnet-accepted-spec.ts';
import { subnetIntent } from '../../../world/intent.ts';
import type { Query } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import type { SubnetNetworks } from './subnet-networks.ts';
import { networksRequestedBy, routerPortNetworks } from './subnet-networks.ts';

/**
 * From the annotation. Any client that may edit the Subnet may have written that: it counts if it is valid, and of the Vpc that the Subnet
 * is in.
 */
export const acceptedSpec: Query<SubnetSpec | undefined> = defineQuery('subnet-accepted-spec', (world, name) => {
  const subnet = world.ask(subnetIntent, name);
  const { uid, annotations = {} } = subnet?.metadata ?? { uid: '' };
  const spec = acceptedSpecIn(annotations, uid);
  if (subnet === undefined || spec === undefined || world.subnetVpcs.requested({ ...subnet, spec }) !== world.vpcOf(subnet))
    return undefined;
  return subnetFindings({ name, spec }).every(isLeftOut) ? spec : undefined;
});

/** The networks in effect while the present spec is refused: of the accepted spec, or, if that is unknown, of the router port. */
export const keptNetworks: Query<SubnetNetworks> = defineQuery('subnet-kept-networks', (world, name) => {
  const [subnet, spec] = [world.ask(subnetIntent, name), world.ask(acceptedSpec, name)];
  return subnet === undefined || spec === undefined ? world.ask(routerPortNetworks, name) : networksRequestedBy(world, { ...subnet, spec });
});
