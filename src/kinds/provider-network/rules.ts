import type { Rule } from '../../compile/compiler.ts';
import { deletionPatch } from '../../compile/deletion.ts';
import type { RowOwner } from '../../compile/output.ts';
import { keysOf } from '../../world/domain.ts';

/** Status and finalizer of a ProviderNetwork. What it is on nodes is the node agent's. */
const providerNetwork: Rule = {
  name: 'provider-network',
  over: (world) => keysOf(world.providerNetworks),
  run: (world, name) => {
    const object = world.providerNetworks.get(name);
    if (object === undefined) return [];
    const { uid, creationTimestamp: created, deletionTimestamp } = object.metadata;
    const owner: RowOwner = { kind: 'providernetwork', namespace: '', name, uid, created };
    const patch = deletionPatch(world, 'provider-networks', name, owner, deletionTimestamp !== undefined);
    return [{ ...patch, status: { vlans: [...world.vlans.bucket('provider', name)].toSorted() } }];
  },
};

export const rules: readonly Rule[] = [providerNetwork];
