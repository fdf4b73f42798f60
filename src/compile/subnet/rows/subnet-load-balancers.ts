/** The load balancers of the Vpc, as members of a Subnet's switch; none for the join Subnet. */
import { keysOf } from '../../../engine/domain.ts';
import type { Rule } from '../../rule.ts';
import { emittedSubnet } from '../validity/subnet-state.ts';
import { subnetSpec, switchId } from '../validity/subnet-view.ts';
import { loadBalancerId, loadBalancersOf } from '../../vpc/vpc-load-balancers.ts';

export const subnetLoadBalancers: Rule = {
  name: 'subnet-load-balancers',
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const view = emittedSubnet(world, name);
    if (view === undefined || !view.isOvn || view.isJoin) return [];
    const enabled = world.ask(subnetSpec, name)?.enableLb ?? world.settings.enableLb;
    if (!enabled) return [];
    return loadBalancersOf(world, view.vpc).map((lb) => ({
      kind: 'member',
      row: switchId(name),
      column: 'load_balancer',
      member: { ref: loadBalancerId(lb.name) },
    }));
  },
};
