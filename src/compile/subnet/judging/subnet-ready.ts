/**
 * Whether a Subnet can take new holders.
 */
import type { Reason } from '../../../api/reasons.ts';
import { blockersOf } from '../../../blockers/blockers.ts';
import type { Query } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import type { Refusal } from './subnet-acceptance.ts';
import { subnetAcceptance } from './subnet-acceptance.ts';
import { isRunning, subnetBasics } from './subnet-basics.ts';
import { commandText } from '../../../text/command-text.ts';

export type SubnetReadiness = { readonly ready: true } | ({ readonly ready: false } & Refusal);

const READY: SubnetReadiness = { ready: true };

export function subnetTerminating(name: string): Refusal {
  return {
    reason: 'SubnetTerminating',
    message: `Subnet ${name} is being deleted and takes no new holder; ${commandText`kubectl describe subnet ${name}`}`,
  };
}

/** What those are told who wait for a Subnet that is not ready: one that is going is not worth waiting for. */
export function reasonToWait({ reason }: Refusal): Reason {
  return reason === 'SubnetTerminating' ? reason : 'WaitingForSubnet';
}

/**
 * A Subnet is being deleted and takes no new holder. The join Subnet, which the cluster stands on, takes them while it has others: its
 * deletion cannot be carried out then. Without any it goes at once, and who comes is in the one that is made again.
 */
export const takesNobody: Query<boolean> = defineQuery('subnet-takes-nobody', (world, name) => {
  const basics = world.ask(subnetBasics, name);
  return basics?.terminating === true && !(basics.isJoin && blockersOf(world, 'subnets', name).count > 0);
});

/**
 * Whether a Subnet takes new holders: it exists, is carried out, is not on its way out, and its switch is observed as ours.
 * Who already holds an address in it keeps it, ready or not.
 */
export const subnetReady: Query<SubnetReadiness> = defineQuery('subnet-ready', (world, name) => {
  const acceptance = world.ask(subnetAcceptance, name);
  if (acceptance.kind !== 'accepted') return { ready: false, reason: acceptance.reason, message: acceptance.message };
  if (world.ask(takesNobody, name)) return { ready: false, ...subnetTerminating(name) };
  if (world.ask(subnetBasics, name)?.isOvn === true && !isRunning(world, name)) {
    return { ready: false, reason: 'SubnetPending', message: `Subnet ${name} has no switch in OVN yet` };
  }
  return READY;
});
