/**
 * Deletion of a Vpc: with blockers it stays with all its rows. Also the defaults of its spec, and the report on fields that are not
 * implemented.
 */
import { vpcDefaults } from '../../api/defaults/vpc-defaults.ts';
import { annotationKey } from '../../api/well-known.ts';
import { keysOf } from '../../engine/domain.ts';
import { vpcIntent } from '../../world/intent.ts';
import type { Query } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import { deletionPatch } from '../deletion.ts';
import type { Json, Output } from '../output.ts';
import { unimplementedFieldOutputs } from '../unimplemented-fields.ts';
import { vpcNameConflict } from './vpc-state.ts';
import { vpcOwner, vpcSpec, vpcView } from './vpc-view.ts';

export const vpcLifecycle: Rule = {
  name: 'vpc-lifecycle',
  over: (world) => keysOf(world.vpcs),
  run: (world, name) => {
    const view = world.ask(vpcView, name);
    return view === undefined ? [] : [deletionPatch(world, 'vpcs', name, vpcOwner(view), view.terminating)];
  },
};

export const vpcSpecDefaults: Rule = {
  name: 'vpc-spec',
  over: (world) => keysOf(world.vpcs),
  run: (world, name) => {
    const view = world.ask(vpcView, name);
    const spec = world.ask(vpcSpec, name);
    if (view === undefined || spec === undefined || view.terminating || view.external) return [];
    const defaults = vpcDefaults(spec);
    const outputs: Output[] = [
      ...unimplementedFieldOutputs(
        'vpcs',
        name,
        view.uid,
        world.ask(asksLoadBalancer, name) ? [VPC_LB] : [],
        () => world.ask(vpcNameConflict, name) === undefined,
      ),
    ];
    if (Object.keys(defaults).length > 0)
      outputs.push({
        kind: 'patch',
        resource: 'vpcs',
        key: name,
        uid: view.uid,
        spec: defaults as unknown as Readonly<Record<string, Json>>,
      });
    return outputs;
  },
};

const VPC_LB = `metadata.annotations[${annotationKey.vpcLb}]`;

/** Whether its annotation requests a load balancer workload for the Vpc. */
const asksLoadBalancer: Query<boolean> = defineQuery(
  'vpc-asks-load-balancer',
  (world, name) => world.ask(vpcIntent, name)?.metadata.annotations?.[annotationKey.vpcLb]?.toLowerCase() === 'on',
);
