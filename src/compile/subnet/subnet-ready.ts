/**
 * Whether a Subnet can take new holders.
 */
import type { Query } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Refusal } from './subnet-acceptance.ts';
import { subnetAcceptance } from './subnet-acceptance.ts';
import { isRunning, subnetBasics } from './subnet-basics.ts';

export type SubnetReadiness = { readonly ready: true } | ({ readonly ready: false } & Refusal);

const READY: SubnetReadiness = { ready: true };

export function subnetTerminating(name: string): Refusal {
  return {
    reason: 'SubnetTerminating',
    message: `Subnet ${name} is being deleted and takes no new holder; kubectl describe subnet ${name}`,
  };
}

/**
 * Whether a Subnet takes new holders: it exists, is carried out, does not terminate, and its switch is observed as ours.
 * Who already holds an address in it keeps it, ready or not.
 */
export const subnetReady: Query<SubnetReadiness> = defineQuery('subnet-ready', (world, name) => {
  const acceptance = world.ask(subnetAcceptance, name);
  if (acceptance.kind !== 'accepted') return { ready: false, reason: acceptance.reason, message: acceptance.message };
  const basics = world.ask(subnetBasics, name);
  if (basics === undefined || basics.terminating) {
    return { ready: false, ...subnetTerminating(name) };
  }
  if (basics.isOvn && !isRunning(world, name)) {
    return { ready: false, reason: 'SubnetPending', message: `Subnet ${name} has no switch in OVN yet` };
  }
  return READY;
});
