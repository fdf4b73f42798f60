/**
 * Whether a Subnet is carried out, and whether it can take new holders.
 */
import { isTerminating } from '../api/meta.ts';
import type { Query, World } from '../world/world.ts';
import { defineQuery } from '../world/world.ts';
import { subnetConflict } from './subnet-conflicts.ts';
import { subnetFindings } from './subnet-findings.ts';
import { subnetClaimant, subnetView, switchId } from './subnet-view.ts';
import { isOurs, vpcView } from './vpc-view.ts';

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

/** Whether its switch is in the database as ours. */
export function isRunning(world: World, name: string): boolean {
  const subnet = world.subnets.get(name);
  return subnet !== undefined && isOurs(world, switchId(name), subnetClaimant(subnet));
}

function refusalOf(world: World, name: string): Refusal | undefined {
  const view = world.ask(subnetView, name);
  if (view === undefined) return { reason: 'NotFound', message: `Subnet ${name} does not exist` };
  const [finding] = world.ask(subnetFindings, name);
  if (finding !== undefined) return { reason: 'ValidateLogicalSwitchFailed', message: finding.message };
  const conflict = world.ask(subnetConflict, name);
  if (conflict !== undefined) return { reason: 'ValidateLogicalSwitchFailed', message: conflict };
  if (!view.isOvn) return undefined;
  const vpc = world.ask(vpcView, view.vpc);
  if (vpc === undefined) return { reason: 'VpcMissing', message: `Vpc ${view.vpc} does not exist; kubectl get vpcs` };
  if (vpc.terminating && !isRunning(world, name)) {
    return { reason: 'VpcTerminating', message: `Vpc ${view.vpc} is being deleted and takes no new Subnet; kubectl describe vpc ${view.vpc}` };
  }
  return undefined;
}

export type SubnetReadiness = { readonly ready: true } | ({ readonly ready: false } & Refusal);

const READY: SubnetReadiness = { ready: true };

/**
 * Whether a Subnet takes new holders: it exists, is carried out, does not terminate, and its switch is observed as ours.
 * Who already holds an address in it keeps it, ready or not.
 */
export const subnetReady: Query<SubnetReadiness> = defineQuery('subnet-ready', (world, name) => {
  const acceptance = world.ask(subnetAcceptance, name);
  if (acceptance.kind !== 'accepted') return { ready: false, reason: acceptance.reason, message: acceptance.message };
  const subnet = world.subnets.get(name);
  if (subnet === undefined || isTerminating(subnet)) {
    return { ready: false, reason: 'SubnetTerminating', message: `Subnet ${name} is being deleted and takes no new holder; kubectl describe subnet ${name}` };
  }
  if (world.ask(subnetView, name)?.isOvn === true && !isRunning(world, name)) {
    return { ready: false, reason: 'SubnetPending', message: `Subnet ${name} has no switch in OVN yet` };
  }
  return READY;
});
