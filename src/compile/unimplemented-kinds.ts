/**
 * Objects of kinds that Kiln does not implement get a condition, or an Event if their kind has no conditions. A NetworkPolicy that is
 * silently not enforced would be unsafe.
 */
import { keysOf } from '../engine/domain.ts';
import { traitsOf } from '../world/resources.ts';
import type { Rule } from './rule.ts';
import type { UnimplementedObject } from '../world/world.ts';
import type { ConditionOutput, PatchOutput } from './output.ts';

const REASON = 'NotCarriedOut';

export const unimplemented: Rule = {
  name: 'unimplemented',
  over: (world) => keysOf(world.unimplemented),
  run: (world, id) => {
    const object = world.unimplemented.get(id);
    if (object === undefined) return [];
    const { resource, key, uid, feature, broken, terminating } = object;
    const { kind, conditions: place } = traitsOf(resource);
    const message = `${kind} ${key} is not implemented: this version of Kiln does not implement ${feature}. It has no effect in OVN`;
    if (place === 'none') {
      return [{ kind: 'report', resource, key, uid, type: 'Warning', reason: REASON, message }];
    }
    const ready: ConditionOutput = { type: 'Ready', status: 'False', reason: REASON, message, event: 'Warning' };
    const conditions = [ready, ...(broken === undefined ? [] : [validated(broken)])];
    return [{ kind: 'patch', resource, key, uid, conditions, ...(terminating === true && released(object)) }];
  },
};

/** Kube-OVN's controller put a finalizer on it, which no other program would remove. */
function released({ resource, key }: UnimplementedObject): Pick<PatchOutput, 'finalizer' | 'event'> {
  const subject = `${traitsOf(resource).kind} ${key}`;
  const message = `${subject} is deleted. Its configuration that Kube-OVN made on nodes remains, and so do its leftover rows in OVN: this version of Kiln does not implement the kind; kiln status`;
  return { finalizer: false, event: { type: 'Warning', reason: REASON, message } };
}

function validated(broken: readonly string[]): ConditionOutput {
  if (broken.length === 0) return { type: 'Validated', status: 'True', reason: 'Accepted', message: '' };
  return { type: 'Validated', status: 'False', reason: 'Invalid', message: broken.join('; '), event: 'Warning' };
}
