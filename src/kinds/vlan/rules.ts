import type { Rule } from '../../compile/rule.ts';
import { deletionPatch } from '../../compile/deletion.ts';
import type { ConditionOutput, RowOwner } from '../../compile/output.ts';
import { keysOf } from '../../engine/domain.ts';
import { tagWaitedFor, vlanState } from './rules/vlan-state.ts';

/** Status and finalizer of a Vlan. Its tag is in the localnet ports of its Subnets, which are rows of the Subnets. */
const vlan: Rule = {
  name: 'vlan',
  over: (world) => keysOf(world.vlans),
  run: (world, name) => {
    const object = world.vlans.get(name);
    const state = world.ask(vlanState, name);
    if (object === undefined || state === undefined) return [];
    const { uid, creationTimestamp: created, deletionTimestamp } = object.metadata;
    const owner: RowOwner = { kind: 'vlan', namespace: '', name, uid, created };
    const patch = deletionPatch(world, 'vlans', name, owner, deletionTimestamp !== undefined);
    const accepted: ConditionOutput =
      state.problem === undefined
        ? { type: 'Accepted', status: 'True', reason: 'Accepted', message: '' }
        : { type: 'Accepted', status: 'False', ...state.problem, event: 'Warning' };
    const status = { conflict: state.conflict, subnets: [...world.subnets.bucket('vlan', name)].toSorted() };
    const { providerNetwork, tag, waiting } = state;
    // Both say so: it may be the newer one that is right.
    const conflict: readonly ConditionOutput[] =
      waiting.length === 0
        ? []
        : [
            {
              ...{ type: 'VlanConflict', status: 'True', reason: 'VlanConflict', event: 'Warning', eventOnce: true },
              message: tagWaitedFor(name, providerNetwork, tag, waiting),
            },
          ];
    return [
      {
        ...patch,
        conditions: [...(patch.conditions ?? []), accepted, ...conflict],
        ...(waiting.length === 0 && { withoutConditions: [...(patch.withoutConditions ?? []), 'VlanConflict'] }),
        status,
      },
    ];
  },
};

export const rules: readonly Rule[] = [vlan];
