/**
 * What can be in use has Kiln's finalizer as long as nobody asks it to go: without it, it would be gone at once when somebody does. Read from
 * objects alone, by no rule.
 */
import type { ObjectMeta } from '../../../src/api/kubernetes/meta.ts';
import { FINALIZER, kilnAnnotation } from '../../../src/api/well-known.ts';
import type { World } from '../../../src/world/world.ts';
import type { Finding } from './judge.ts';

type Holdable = Iterable<readonly [name: string, object: { readonly metadata: ObjectMeta }]>;

export function withoutFinalizer(world: World): readonly Finding[] {
  // Vips and EIPs that are refused have none: those that hold something say what they were given.
  const given = (objects: Holdable): Holdable =>
    [...objects].filter(([, { metadata }]) => metadata.annotations?.[kilnAnnotation.given]?.includes(metadata.uid) === true);
  const kinds: readonly (readonly [kind: string, objects: Holdable])[] = [
    ['Vpc', world.vpcs.entries()],
    ['Subnet', world.subnets.entries()],
    ['IPPool', world.ipPools.entries()],
    ['Vip', given(world.vips.entries())],
    ['OvnEip', given(world.ovnEips.entries())],
    ['IptablesEIP', given(world.iptablesEips.entries())],
  ];
  return kinds.flatMap(([kind, objects]) =>
    [...objects].flatMap(([name, { metadata }]) =>
      metadata.deletionTimestamp !== undefined || metadata.finalizers?.includes(FINALIZER) === true
        ? []
        : [{ kind: `finalizer ${kind}`, message: `${kind} ${name} has no finalizer, and would be gone at once, whoever uses it` }],
    ),
  );
}
