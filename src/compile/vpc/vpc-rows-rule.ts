/**
 * The common part of all rules for rows of a Vpc: they emit rows only if the Vpc has some (`emittedVpc`), and leave out invalid items of
 * its spec while the others take effect.
 */
import { wrongFields } from '../../api/validation/finding.ts';
import type { VpcSpec } from '../../api/kinds/vpc.ts';
import { keysOf } from '../../engine/domain.ts';
import type { World } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import type { Output } from '../output.ts';
import { emittedVpc, vpcFindings } from './vpc-state.ts';
import type { VpcView } from './vpc-view.ts';

export interface EmittedVpc {
  readonly world: World;
  readonly name: string;
  readonly view: VpcView;
  readonly spec: VpcSpec;
  /** Whether there is a finding about an item of a list of the spec, such as `spec.staticRoutes[2]`. */
  readonly isFaulty: (item: string) => boolean;
}

export function vpcRowsRule(rule: string, rows: (vpc: EmittedVpc) => readonly Output[]): Rule {
  return {
    name: rule,
    over: (world) => keysOf(world.vpcs),
    run: (world, name) => {
      const emitted = emittedVpc(world, name);
      if (emitted === undefined) return [];
      const wrong = wrongFields(world.ask(vpcFindings, name));
      return rows({ world, name, ...emitted, isFaulty: (item) => wrong.has(item) });
    },
  };
}
