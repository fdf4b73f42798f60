/**
 * Each object that can be in use has Kiln's finalizer before it is deleted: without it, a deletion would remove it at once. Read from
 * objects alone, without a rule.
 */
import type { ObjectMeta } from '../../../src/api/kubernetes/meta.ts';
import { FINALIZER, kilnAnnotation } from '../../../src/api/well-known.ts';
import type { World } from '../../../src/world/world.ts';
import type { Finding } from './check.ts';

type NamedObjects = Iterable<readonly [name: string, object: { readonly metadata: ObjectMeta }]>;

export function missingFinalizers(world: World): readonly Finding[] {
  // Invalid Vips and EIPs have no finalizer; one that holds an address has it in an annotation.
  const withAddress = (objects: NamedObjects): NamedObjects =>
    [...objects].filter(([, { metadata }]) => metadata.annotations?.[kilnAnnotation.given]?.includes(metadata.uid) === true);
  const kinds: readonly (readonly [kind: string, objects: NamedObjects])[] = [
    ['Vpc', world.vpcs.entries()],
    ['Subnet', world.subnets.entries()],
    ['IPPool', world.ipPools.entries()],
    ['Vip', withAddress(world.vips.entries())],
    ['OvnEip', withAddress(world.ovnEips.entries())],
    ['IptablesEIP', withAddress(world.iptablesEips.entries())],
  ];
  return kinds.flatMap(([kind, objects]) =>
    [...objects].flatMap(([name, { metadata }]) =>
      metadata.deletionTimestamp !== undefined || metadata.finalizers?.includes(FINALIZER) === true
        ? []
        : [{ kind: `finalizer ${kind}`, message: `${kind} ${name} has no finalizer: a deletion would remove it at once, even in use` }],
    ),
  );
}
