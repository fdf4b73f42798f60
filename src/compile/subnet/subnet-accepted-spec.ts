/** Keeps the accepted spec of a Subnet in an annotation, with the defaults that are filled in at the same time. */
import { withSubnetDefaults } from '../../api/defaults/subnet-defaults.ts';
import { kilnAnnotation } from '../../api/well-known.ts';
import { acceptedSpecText } from '../../api/validation/subnet-accepted-spec.ts';
import { keysOf } from '../../engine/domain.ts';
import { subnetIntent } from '../../world/intent.ts';
import type { Rule } from '../rule.ts';
import { subnetAcceptance } from './validity/subnet-acceptance.ts';

export const subnetAcceptedSpec: Rule = {
  name: 'subnet-accepted-spec',
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const subnet = world.ask(subnetIntent, name);
    if (subnet === undefined || world.ask(subnetAcceptance, name).kind !== 'accepted') return [];
    const { uid } = subnet.metadata;
    const text = acceptedSpecText(uid, withSubnetDefaults({ name, spec: subnet.spec }, world.settings, subnet.applied)) ?? null;
    return [{ kind: 'patch', resource: 'subnets', key: name, uid, annotations: { [kilnAnnotation.acceptedSpec]: text } }];
  },
};
