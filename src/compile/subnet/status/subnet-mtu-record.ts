/**
 * Annotation `kiln.io/mtu` of a Subnet: the MTU in effect, while that is not the default, or not the requested one. It outlives the switch,
 * so that a change that was refused under running pods is not made by the loss of the database.
 */
import { kilnAnnotation } from '../../../api/well-known.ts';
import { keysOf } from '../../../engine/domain.ts';
import { subnetIntent } from '../../../world/intent.ts';
import type { Rule } from '../../rule.ts';
import { mtuInEffect } from '../validity/mtu-under-pods.ts';
import { emittedSubnet } from '../validity/subnet-state.ts';

export const subnetMtuRecord: Rule = {
  name: 'subnet-mtu-record',
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const view = emittedSubnet(world, name);
    if (view?.isOvn !== true) return [];
    const mtu = mtuInEffect(world, name);
    const text = mtu === 0 && view.mtu === 0 ? null : String(mtu);
    if (text === null && world.ask(subnetIntent, name)?.metadata.annotations?.[kilnAnnotation.mtu] === undefined) return [];
    return [{ kind: 'patch', resource: 'subnets', key: name, uid: view.uid, annotations: { [kilnAnnotation.mtu]: text } }];
  },
};
