/** The Logical_Router of a Vpc; none for a Vpc that mirrors a foreign router. */
import { requestedExternals } from '../../world/external-subnets.ts';
import type { Query } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import { subnetSpec } from '../subnet/validity/spec-in-effect.ts';
import { vpcRowsRule } from './vpc-rows-rule.ts';
import { vpcOwner, routerId } from './vpc-view.ts';

const RULE = 'vpc-router';

export const vpcRouter: Rule = vpcRowsRule(RULE, ({ world, name, view, spec }) => {
  const learnsFromRequests =
    spec.enableExternal === true ||
    world.ask(requestedExternals, name).length > 0 ||
    (spec.vpcPeerings ?? []).length > 0 ||
    world.ask(hasInterconnectedSubnet, name);
  const options = {
    mac_binding_age_threshold: '300',
    dynamic_neigh_routers: 'true',
    ...(!learnsFromRequests && { always_learn_from_arp_request: 'false' }),
  };
  return [{ kind: 'row', id: routerId(view.router), owner: vpcOwner(view), rule: RULE, columns: { name: view.router, options } }];
});

/** Whether an underlay Subnet of the Vpc is connected to the overlay. */
const hasInterconnectedSubnet: Query<boolean> = defineQuery('vpc-has-interconnected-subnet', (world, vpc) =>
  [...world.subnetVpcs.in(vpc)].some((name) => {
    const spec = world.ask(subnetSpec, name);
    return spec?.u2oInterconnection === true && (spec.vlan ?? '') !== '';
  }),
);
