/**
 * What becomes of a Vpc's rows: stated while it lives or something is still in it, then no more.
 */
import { blockersOf } from '../../blockers/blockers.ts';
import type { Finding } from '../../api/validation/finding.ts';
import { vpcFindings as judge, vpcNamedAsSubnet } from '../../api/validation/vpc-validation.ts';
import type { VpcSpec } from '../../api/kinds/vpc.ts';
import { subnetIntent } from '../../world/intent.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { isOurs, claimantOfVpc, routerId, vpcSpec, vpcView } from './vpc-view.ts';
import type { VpcView } from './vpc-view.ts';

const NONE: readonly Finding[] = [];

/** What is wrong with a Vpc on its own. Only what is wrong is left undone. */
export const vpcFindings: Query<readonly Finding[]> = defineQuery('vpc-findings', (world, name) => {
  const spec = world.ask(vpcSpec, name);
  return spec === undefined ? NONE : judge({ name, spec });
});

/** Why the Vpc has no rows at all: an older Subnet has its name. Once it runs it keeps what it has. */
export const vpcRefusal: Query<Finding | undefined> = defineQuery('vpc-refusal', (world, name) => {
  const view = world.ask(vpcView, name);
  const subnet = world.ask(subnetIntent, name);
  if (view === undefined || subnet === undefined || isOurs(world, routerId(view.router), claimantOfVpc(view))) return undefined;
  return view.created <= subnet.metadata.creationTimestamp ? undefined : vpcNamedAsSubnet(name);
});

/** It terminates and nothing is in it. */
export const vpcReleased: Query<boolean> = defineQuery('vpc-released', (world, name) => {
  const view = world.ask(vpcView, name);
  return view === undefined || (view.terminating && blockersOf(world, 'vpcs', name).count === 0);
});

/** The view and spec of a Vpc whose rows Kiln is to state, else undefined. */
export function emittedVpc(world: World, name: string): { readonly view: VpcView; readonly spec: VpcSpec } | undefined {
  const view = world.ask(vpcView, name);
  const spec = world.ask(vpcSpec, name);
  if (view === undefined || spec === undefined || view.external) return undefined;
  return world.ask(vpcReleased, name) || world.ask(vpcRefusal, name) !== undefined ? undefined : { view, spec };
}
