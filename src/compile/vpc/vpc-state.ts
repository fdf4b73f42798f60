/** Whether rules emit the rows of a Vpc: as long as it exists, or has blockers. */
import { blockersOf } from '../../blockers/blockers.ts';
import type { Finding } from '../../api/validation/finding.ts';
import { vpcFindings as specFindings, vpcNamedAsSubnet } from '../../api/validation/vpc-validation.ts';
import type { VpcSpec } from '../../api/kinds/vpc.ts';
import { subnetIntent } from '../../world/intent.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { isOurs, vpcOwner, routerId, vpcSpec, vpcView } from './vpc-view.ts';
import type { VpcView } from './vpc-view.ts';

const NONE: readonly Finding[] = [];

/** Findings of a Vpc's spec by itself. The rest of the spec takes effect. */
export const vpcFindings: Query<readonly Finding[]> = defineQuery('vpc-findings', (world, name) => {
  const spec = world.ask(vpcSpec, name);
  return spec === undefined ? NONE : specFindings({ name, spec });
});

/** Why the Vpc has no rows: an older Subnet has its name. A Vpc with a router keeps it. */
export const vpcNameConflict: Query<Finding | undefined> = defineQuery('vpc-name-conflict', (world, name) => {
  const view = world.ask(vpcView, name);
  const subnet = world.ask(subnetIntent, name);
  if (view === undefined || subnet === undefined || isOurs(world, routerId(view.router), vpcOwner(view))) return undefined;
  return view.created <= subnet.metadata.creationTimestamp ? undefined : vpcNamedAsSubnet(name);
});

/** The Vpc does not exist, or is being deleted and has no blockers. */
export const vpcReleased: Query<boolean> = defineQuery('vpc-released', (world, name) => {
  const view = world.ask(vpcView, name);
  return view === undefined || (view.terminating && blockersOf(world, 'vpcs', name).count === 0);
});

/** View and spec of a Vpc with emitted rows, else undefined. */
export function emittedVpc(world: World, name: string): { readonly view: VpcView; readonly spec: VpcSpec } | undefined {
  const view = world.ask(vpcView, name);
  const spec = world.ask(vpcSpec, name);
  if (view === undefined || spec === undefined || view.external) return undefined;
  return world.ask(vpcReleased, name) || world.ask(vpcNameConflict, name) !== undefined ? undefined : { view, spec };
}
