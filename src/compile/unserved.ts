/**
 * Objects whose kind Kiln does not carry out yet: an Event on each says so, because silence about a NetworkPolicy that nobody
 * enforces is unsafe.
 */
import { keysOf } from '../world/domain.ts';
import { traitsOf } from '../world/resources.ts';
import type { Rule } from './compiler.ts';

const REASON = 'NotCarriedOut';

export const unserved: Rule = {
  name: 'unserved',
  over: (world) => keysOf(world.unserved),
  run: (world, id) => {
    const object = world.unserved.get(id);
    if (object === undefined) return [];
    const { resource, key, uid, feature } = object;
    const message = `${traitsOf(resource).kind} ${key} is not carried out: this version of Kiln does not do ${feature}. Nothing in OVN follows from it`;
    return [{ kind: 'notice', resource, key, uid, type: 'Warning', reason: REASON, message }];
  },
};
