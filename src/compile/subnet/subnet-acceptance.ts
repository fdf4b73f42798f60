/**
 * Whether a Subnet is carried out as its spec asks.
 */
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { isRunning, subnetBasics } from './subnet-basics.ts';
import { subnetConflict } from './subnet-conflicts.ts';
import { subnetFindings } from './subnet-findings.ts';
import { vpcView } from '../vpc/vpc-view.ts';

export interface Refusal {
  /** Reason of a condition: one word in CamelCase. */
  readonly reason: string;
  readonly message: string;
}

/**
 * What becomes of a Subnet's rows:
 * - `accepted`: rules state them from the spec (also while it terminates and somebody still holds an address);
 * - `frozen`: the spec cannot be carried out, but a network is running: its rows stay as they are observed;
 * - `refused`: the same with no network running: no rows.
 */
export type SubnetAcceptance = { readonly kind: 'accepted' } | ({ readonly kind: 'frozen' | 'refused' } & Refusal);

const ACCEPTED: SubnetAcceptance = { kind: 'accepted' };

export const subnetAcceptance: Query<SubnetAcceptance> = defineQuery('subnet-acceptance', (world, name) => {
  const refusal = refusalOf(world, name);
  if (refusal === undefined) return ACCEPTED;
  return { kind: isRunning(world, name) ? 'frozen' : 'refused', ...refusal };
});

function refusalOf(world: World, name: string): Refusal | undefined {
  const view = world.ask(subnetBasics, name);
  if (view === undefined) return { reason: 'NotFound', message: `Subnet ${name} does not exist` };
  const [finding] = world.ask(subnetFindings, name);
  if (finding !== undefined) return { reason: 'ValidateLogicalSwitchFailed', message: finding.message };
  const conflict = world.ask(subnetConflict, name);
  if (conflict !== undefined) return { reason: 'ValidateLogicalSwitchFailed', message: conflict };
  const moved = movedTo(world, name, view.vpc);
  if (moved !== undefined) return { reason: 'ValidateLogicalSwitchFailed', message: moved };
  if (!view.isOvn) return undefined;
  const vpc = world.ask(vpcView, view.vpc);
  if (vpc === undefined) return { reason: 'VpcMissing', message: `Vpc ${view.vpc} does not exist; kubectl get vpcs` };
  if (vpc.terminating && !isRunning(world, name)) {
    return {
      reason: 'VpcTerminating',
      message: `Vpc ${view.vpc} is being deleted and takes no new Subnet; kubectl describe vpc ${view.vpc}`,
    };
  }
  return undefined;
}

/** A Subnet stays in the Vpc that its router port is in. */
function movedTo(world: World, name: string, vpc: string): string | undefined {
  const subnet = world.subnets.get(name);
  const said = subnet === undefined ? vpc : world.subnetVpcs.said(subnet);
  if (said === vpc) return undefined;
  return `Subnet ${name}: spec.vpc "${said}" cannot be carried out: the Subnet is in Vpc ${vpc}, and a Subnet does not move; set it back to ${vpc}, or delete the Subnet and make it in ${said}`;
}
